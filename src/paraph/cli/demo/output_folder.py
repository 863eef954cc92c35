"""The folder that the demo leaves: the files, the journal, the webhooks and a report."""

import hashlib
import json
from pathlib import Path
from typing import Any

from paraph.cli.demo.walk import DemoResult
from paraph.cli.demo.webhook_receiver import json_lines
from paraph.kernel import clock
from paraph_client import AuditLogEntry


def write(out: Path, result: DemoResult, root_pem: bytes, seconds: dict[str, float], problems: list[str]) -> list[Path]:
    """Writes the files into ``out`` and returns their paths. There is none of the root or the webhooks without any."""
    pdfs = {"uploaded.pdf": result.uploaded, "signed.pdf": result.signed, "proof.pdf": result.proof}
    report = {
        "request_id": result.request_id,
        "verified": not problems,
        "problems": problems,
        "seconds": seconds | {"total": round(sum(seconds.values()), 3)},
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in pdfs.items()},
    }
    known = {"webhooks.jsonl": json_lines(result.webhooks), "root-ca.pem": root_pem}
    files = pdfs | {
        "audit.json": _json([_entry(entry) for entry in result.audit]),
        **{name: content for name, content in known.items() if content},
        "report.json": _json(report),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in files]


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def _entry(entry: AuditLogEntry) -> dict[str, Any]:
    return vars(entry) | {"created_at": clock.iso(entry.created_at)}
