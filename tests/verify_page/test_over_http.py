"""``/verify`` of a running service, asked as the documents say."""

import json
import subprocess

from tests.cli.service import Service
from tests.independent import need
from tests.pdf.verification.test_evidence_check_seals import ISSUED_BEFORE


def test_curl_gets_the_verdict(shared_service: Service) -> None:
    files = [f"-Ffile=@{ISSUED_BEFORE / name}.pdf" for name in ("proof", "signed")]
    address = f"{shared_service.base_url}/verify"
    command = [
        need("curl", "curl"),
        "-s",
        "--interface",
        "127.0.1.1",
        "-H",
        "Accept: application/json",
        *files,
        address,
    ]
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert found["indication"] == "INDETERMINATE" and list(found["sealed"]) == ["proof.pdf", "signed.pdf"]
