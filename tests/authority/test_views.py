"""The built-in authority over HTTP, asked and judged by OpenSSL and by our own client."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from django.test import Client

from paraph.flow.sealing.context import development
from paraph.pdf.timestamps.authorities import HttpAuthority
from paraph.pdf.timestamps.timestamp import Timestamping, stamp_time
from tests.independent import openssl

QUERY = "application/timestamp-query"


@pytest.fixture
def client(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(settings.PARAPH, "serve_authority", True)
    return Client()


def test_openssl_asks_and_verifies(client: Client, tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"anything")
    openssl("ts", "-query", "-data", "data", "-sha384", "-cert", "-out", "query", folder=tmp_path)
    response = client.post("/authority/timestamps", (tmp_path / "query").read_bytes(), content_type=QUERY)
    assert response.status_code == 200 and response["Content-Type"] == "application/timestamp-reply"
    (tmp_path / "reply").write_bytes(response.content)
    root = x509.load_der_x509_certificate(client.get("/authority/root.crt").content)
    (tmp_path / "root.pem").write_bytes(root.public_bytes(Encoding.PEM))
    asked = ("ts", "-verify", "-in", "reply", "-queryfile", "query", "-CAfile", "root.pem")
    assert "Verification: OK" in openssl(*asked, folder=tmp_path)


@pytest.mark.django_db(transaction=True)
def test_our_client_asks_it_over_the_network(live_server: Any, client: Client) -> None:
    del client  # turned it on
    url = f"{live_server.url}/authority/timestamps"
    digest = hashlib.sha256(b"a seal").digest()
    stamp, failures = stamp_time(digest, Timestamping([HttpAuthority(url)], [development().root]))
    assert failures == [] and stamp is not None and stamp.chain[-1] == development().root


def test_what_is_no_query_is_rejected(client: Client) -> None:
    for body in (b"\x30", b"garbage", b"0" * 100_000):
        response = client.post("/authority/timestamps", body, content_type=QUERY)
        assert response.status_code == 200 and response.content[:1] == b"\x30" and len(response.content) < 200
        status = client.post("/authority/ocsp", body, content_type="application/ocsp-request")
        assert status.status_code == 200 and status.content == b"\x30\x03\x0a\x01\x01"  # malformedRequest


def test_its_statuses_are_those_of_the_development_authority(client: Client) -> None:
    own, root = (
        x509.load_der_x509_certificate(each) for each in (development().sealing_key.certificate, development().root)
    )
    query = ocsp.OCSPRequestBuilder().add_certificate(own, root, SHA256()).build().public_bytes(Encoding.DER)
    answer = client.post("/authority/ocsp", query, content_type="application/ocsp-request")
    assert answer["Content-Type"] == "application/ocsp-response"
    assert ocsp.load_der_ocsp_response(answer.content).certificate_status is ocsp.OCSPCertStatus.GOOD
    listed = client.get("/authority/revocations.crl")
    assert listed["Content-Type"] == "application/pkix-crl"
    assert x509.load_der_x509_crl(listed.content).is_signature_valid(root.public_key())  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["timestamps", "ocsp", "root.crt", "revocations.crl"])
def test_it_is_off_until_turned_on(path: str) -> None:
    for response in (Client().get(f"/authority/{path}"), Client().post(f"/authority/{path}", b"", content_type=QUERY)):
        assert response.status_code == 404


def test_other_methods_and_types_are_refused(client: Client) -> None:
    assert client.get("/authority/timestamps").status_code == 405
    assert client.post("/authority/root.crt", b"", content_type=QUERY).status_code == 405
    for path in ("timestamps", "ocsp"):
        assert client.post(f"/authority/{path}", b"x", content_type="application/json").status_code == 415
