"""Revocation lists and status answers of the development authority, judged by OpenSSL."""

import subprocess
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp

from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority, development_authority
from paraph.keys.development import certificate_status, revocation_list, root_file, status_answer
from tests.independent import need


@pytest.fixture
def authority(tmp_path: Path) -> DevelopmentAuthority:
    return development_authority(tmp_path, b"s" * 32)


def openssl(*arguments: str | Path) -> str:
    done = subprocess.run([need("openssl", "openssl"), *arguments], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def test_openssl_accepts_the_list(authority: DevelopmentAuthority, tmp_path: Path) -> None:
    moment = clock.now()
    (tmp_path / "list").write_bytes(revocation_list(authority, moment))
    said = openssl("crl", "-inform", "DER", "-in", tmp_path / "list", "-CAfile", root_file(tmp_path), "-noout", "-text")
    assert "verify OK" in said and "No Revoked Certificates" in said
    parsed = x509.load_der_x509_crl((tmp_path / "list").read_bytes())
    assert parsed.next_update_utc == parsed.last_update_utc + timedelta(days=7)


def test_openssl_accepts_the_answers(authority: DevelopmentAuthority, tmp_path: Path) -> None:
    folder = root_file(tmp_path).parent
    for name in ("sealing", "timestamp"):
        question, answer = tmp_path / "question", tmp_path / "answer"
        issued = ("-issuer", folder / "root.pem", "-cert", folder / f"{name}.pem")
        openssl("ocsp", "-sha256", *issued, "-reqout", question)
        answer.write_bytes(status_answer(authority, question.read_bytes(), clock.now()))
        said = openssl("ocsp", "-respin", answer, "-no_nonce", "-sha256", *issued, "-CAfile", folder / "root.pem")
        assert "Response verify OK" in said and f"{name}.pem: good" in said, said
        asked = ocsp.load_der_ocsp_request(question.read_bytes()).extensions
        told = ocsp.load_der_ocsp_response(answer.read_bytes()).extensions
        assert asked.get_extension_for_class(x509.OCSPNonce) == told.get_extension_for_class(x509.OCSPNonce)


def test_both_hashes_of_a_request_are_known(authority: DevelopmentAuthority) -> None:
    own, root = (x509.load_der_x509_certificate(der) for der in (authority.sealing_key.certificate, authority.root))
    for algorithm in (SHA1(), SHA256()):
        question = ocsp.OCSPRequestBuilder().add_certificate(own, root, algorithm).build().public_bytes(Encoding.DER)
        answer = ocsp.load_der_ocsp_response(status_answer(authority, question, clock.now()))
        assert answer.certificate_status is ocsp.OCSPCertStatus.GOOD
        assert answer.serial_number == own.serial_number


def test_what_is_not_its_own_is_refused(authority: DevelopmentAuthority, tmp_path: Path) -> None:
    other = development_authority(tmp_path / "other", b"s" * 32)
    stranger, root = (x509.load_der_x509_certificate(der) for der in (other.sealing_key.certificate, authority.root))
    builder = ocsp.OCSPRequestBuilder().add_certificate(stranger, root, SHA256())
    question = builder.build().public_bytes(Encoding.DER)
    for asked, status in (
        (question, ocsp.OCSPResponseStatus.UNAUTHORIZED),
        (b"garbage", ocsp.OCSPResponseStatus.MALFORMED_REQUEST),
        (b"\0" * 9999, ocsp.OCSPResponseStatus.MALFORMED_REQUEST),
    ):
        answer = ocsp.load_der_ocsp_response(status_answer(authority, asked, clock.now()))
        assert answer.response_status is status


def test_a_status_for_long_term_data(authority: DevelopmentAuthority) -> None:
    answer = certificate_status(authority, authority.timestamp_key.certificate, clock.now())
    assert ocsp.load_der_ocsp_response(answer).certificate_status is ocsp.OCSPCertStatus.GOOD
