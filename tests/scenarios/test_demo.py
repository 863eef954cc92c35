"""``examples/demo.py``: what ``make demo`` runs."""

import json
import shlex
import subprocess
from pathlib import Path

import pikepdf
import pytest

from tests.cli import forked
from tests.cli.service import Service, clean_environment

FILES = {"uploaded.pdf", "signed.pdf", "proof.pdf", "audit.json", "webhooks.jsonl", "roots.pem", "report.json"}

_DEPLOYMENT = {
    "DATABASE_URL": "postgresql://paraph@127.0.0.1:1/production",
    "PARAPH_HOST": "0.0.0.0",
    "PARAPH_BASE_URL": "https://sign.example.com",
    "PARAPH_STORAGE_URL": "s3://production",
    "PARAPH_SMTP_URL": "smtp://127.0.0.1:1",
    "PARAPH_UPLOAD_LIMIT_MB": "none",
}


def _demo(out: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the demo as in a deployment, whose database, storage, gateways and address it has to leave alone."""
    environment = clean_environment(out.with_name("data")) | _DEPLOYMENT
    return forked.run("examples.demo", "--out", str(out), *arguments, environment=environment)


@pytest.mark.thorough
def test_it_leaves_its_files_and_everything_verified(tmp_path: Path) -> None:
    done = _demo(tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["verified"] is True
    assert report["problems"] == []
    assert set(report["sha256"]) == {"uploaded.pdf", "signed.pdf", "proof.pdf"}
    assert all(name in done.stdout for name in FILES)
    webhooks = [json.loads(line) for line in (tmp_path / "out" / "webhooks.jsonl").read_text().splitlines()]
    heard = sorted(each["event"] for each in webhooks)
    assert heard == ["request.completed", *["signer.otp_sent"] * 2, *["signer.signed"] * 2]
    for each in webhooks:
        assert json.loads(each["body"])["event"] == each["event"]
        assert each["signature"].startswith("sha256=") and each["delivery"]
    asked, _, verdict = done.stdout.partition("paraph verify ")[2].partition("\n")
    assert verdict.endswith("\nEverything matches.\n") and "NOT OK" not in verdict
    again = forked.run("paraph", "verify", *shlex.split(asked), environment=clean_environment(tmp_path / "data"))
    assert (again.returncode, again.stdout) == (0, verdict), again.stderr


def test_a_pdf_without_tags_is_signed_on_its_last_page_by_a_service_that_runs_already(
    service: Service, tmp_path: Path
) -> None:
    pdf = pikepdf.new()
    for _ in range(2):
        pdf.add_blank_page(page_size=(300, 200))
    pdf.save(tmp_path / "own.pdf")
    there = ["--url", service.base_url, "--key", service.new_key()]
    done = _demo(tmp_path / "out", *there, "--pdf", str(tmp_path / "own.pdf"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "signed.pdf").read_bytes().startswith((tmp_path / "own.pdf").read_bytes())
