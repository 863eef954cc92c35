"""Creations and uploads with an Idempotency-Key beside those without one: milliseconds and their ratio.

    python -m benchmarks.keyed [--calls 500]

A PostgreSQL of its own, set as the service sets it: each commit waits for the disk. The smallest creation has one
document, one signer and one stamp by coordinates, and sends no mail; the file has three pages. With and without a key
they are made in turns by one caller through the whole API, rate limit included; the median counts. Ends with 1 where a
key costs more than a tenth.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from benchmarks.turns import in_turns
from paraph.postgres import Server

_MOST = 1.1
_WARM = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=500)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paraph-bench-") as folder:
        os.environ |= {
            "PARAPH_DATA_DIR": folder,
            "PARAPH_RATE_LIMIT_FACTOR": "1000000",
            "PARAPH_SANDBOX_STORAGE_MB": "1000000",
            "PARAPH_LOG_LEVEL": "WARNING",
            "DJANGO_SETTINGS_MODULE": "paraph.config.settings",
        }
        server = Server(Path(folder))
        server.start()
        try:
            ratios = _measure(arguments.calls)
        finally:
            server.stop()
    sys.exit(f"the worst ratio is {max(ratios):.2f}" if max(ratios) > _MOST else 0)


def _measure(calls: int) -> list[float]:
    import django

    django.setup()
    from django.db import connections

    from benchmarks.filling import new_crowd
    from paraph.database.migrations import migrate

    migrate()
    _crowd, key = new_crowd("bench", 1, 0)
    ratios = []
    print(f"{'':12}{'with a key, ms':>16}{'without, ms':>13}{'ratio':>8}")
    for title, call in _calls(key).items():
        keyed, bare = in_turns([partial(_with_new_key, call), partial(call, "")], calls, _WARM)
        ratios.append(keyed / bare)
        print(f"{title:12}{keyed:16.2f}{bare:13.2f}{ratios[-1]:8.2f}", flush=True)
    connections.close_all()
    return ratios


def _with_new_key(call: Callable[[str], Any]) -> None:
    call(str(uuid4()))


def _calls(api_key: str) -> dict[str, Callable[[str], Any]]:
    """What is called, with an Idempotency-Key or, where that is empty, without."""
    from django.core.files.uploadedfile import SimpleUploadedFile
    from django.test import Client
    from django.test.client import MULTIPART_CONTENT

    from tests.contract import contract

    client, pdf = Client(), contract()

    def post(path: str, body: Any, key: str, content_type: str) -> Any:
        headers = {"X-Api-Key": api_key} | ({"Idempotency-Key": key} if key else {})
        response: Any = client.post(f"/api/v1/{path}", body, content_type, headers=headers)
        if response.status_code != 201:
            sys.exit(response.content.decode()[:300])
        return response.json()

    def upload(key: str) -> Any:
        file = SimpleUploadedFile("contract.pdf", pdf, "application/pdf")
        return post("documents", {"file": file}, key, MULTIPART_CONTENT)

    stamp = {"type": "coordinates", "value": {"page_number": 1, "x": 100, "y": 100}}
    request = {
        "mode": "parallel",
        "validity_days": 1,
        "signers": [{"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"}],
        "documents": [{"id": upload("")["id"], "signers": [{"signer_ref": "a", "stamps": [stamp]}]}],
    }

    def create(key: str) -> Any:
        return post("signature_requests", {"signature_request": request}, key, "application/json")

    return {"creation": create, "upload": upload}


if __name__ == "__main__":
    main()
