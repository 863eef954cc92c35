"""``/verify`` of a running service, asked as the documents say."""

import http.client
import json
import subprocess
from contextlib import closing
from urllib.parse import urlsplit

import pytest

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


@pytest.mark.parametrize(("address", "verdicts", "megabytes", "status"), [(2, 10, 40, 429), (3, 0, 60, 413)])
def test_who_is_refused_while_sending_gets_the_answer(
    shared_service: Service, address: int, verdicts: int, megabytes: int, status: int
) -> None:
    """By a client that sends everything before it reads."""

    def sent(size: int) -> tuple[int, bytes]:
        head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
        body = head + bytes(size) + b"\r\n--x--\r\n"
        headers = {"Content-Type": "multipart/form-data; boundary=x", "Accept": "application/json"}
        host, source = urlsplit(shared_service.base_url).netloc, (f"127.0.1.{address}", 0)
        with closing(http.client.HTTPConnection(host, timeout=60, source_address=source)) as client:
            client.request("POST", "/verify", body, headers)
            answer = client.getresponse()
            return answer.status, answer.read()

    assert [sent(9)[0] for _ in range(verdicts)] == [200] * verdicts
    told = sent(megabytes << 20)
    assert (told[0], json.loads(told[1])["error"]["code"]) == (status, {429: "too_often", 413: "too_large"}[status])
