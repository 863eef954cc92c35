"""The development authority: made once, the same ever after, and refused when something about it is wrong."""

import re
import shutil
import stat
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.keys import DevelopmentAuthority, development_authority
from paraph.keys.development import revocation_list, root_file, status_answer
from paraph.pdf.pki.certificate import Identity, load
from tests.independent import openssl

SECRET = b"s" * 32


@pytest.fixture
def authority(tmp_path: Path) -> DevelopmentAuthority:
    return development_authority(tmp_path, SECRET)


def make(folder: Path) -> tuple[str, str]:
    authority = development_authority(folder, SECRET)
    return authority.sealing_key.key_id, authority.timestamp_key.key_id


def test_a_second_call_loads_what_the_first_made(tmp_path: Path) -> None:
    first, second = development_authority(tmp_path, SECRET), development_authority(tmp_path, SECRET)
    assert first.sealing_key.certificate == second.sealing_key.certificate
    assert first.timestamp_key.key_id == second.timestamp_key.key_id != first.sealing_key.key_id
    assert first.sealing_key.key_id.startswith("local:")
    assert x509.load_pem_x509_certificate(root_file(tmp_path).read_bytes()) == x509.load_der_x509_certificate(
        first.root
    )


def test_processes_that_start_at_once_agree(tmp_path: Path) -> None:
    with ProcessPoolExecutor(4) as pool:
        made = set(pool.map(make, [tmp_path] * 8))
    assert len(made) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["development"]


def test_files_are_private_and_keys_encrypted(tmp_path: Path) -> None:
    make(tmp_path)
    for path in (tmp_path / "development").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        if path.suffix == ".key":
            assert b"ENCRYPTED PRIVATE KEY" in path.read_bytes()
    with pytest.raises(DomainError, match="does not open with its passphrase"):
        development_authority(tmp_path, b"another" * 5)


def test_the_seal_is_for_signing_and_the_authority_for_timestamps_alone(authority: DevelopmentAuthority) -> None:
    seal, stamp, root = (
        x509.load_der_x509_certificate(der)
        for der in (authority.sealing_key.certificate, authority.timestamp_key.certificate, authority.root)
    )
    usage = seal.extensions.get_extension_for_class(x509.KeyUsage)
    assert usage.critical and usage.value.digital_signature and usage.value.content_commitment
    purposes = stamp.extensions.get_extension_for_oid(ExtensionOID.EXTENDED_KEY_USAGE)
    assert purposes.critical and list(purposes.value) == [ExtendedKeyUsageOID.TIME_STAMPING]  # type: ignore[call-overload]
    assert "Development" in root.subject.rfc4514_string() and "not for production" in root.subject.rfc4514_string()
    for leaf in (seal, stamp):
        leaf.verify_directly_issued_by(root)
        assert leaf.not_valid_after_utc <= root.not_valid_after_utc
    assert authority.sealing_key.chain == authority.timestamp_key.chain == (authority.root,)


@pytest.mark.parametrize("name", ["root.pem", "sealing.key", "proof.key", "proof.pem", "timestamp.pem"])
def test_what_is_lost_or_damaged_is_named_and_not_made_anew(tmp_path: Path, name: str) -> None:
    make(tmp_path)
    path = tmp_path / "development" / name
    for destroy in (lambda: path.write_bytes(path.read_bytes()[:100]), path.unlink):
        destroy()
        with pytest.raises(DomainError, match=re.escape(name)) as refusal:
            make(tmp_path)
        assert refusal.value.code == "configuration"


def test_a_key_or_certificate_of_another_authority_is_refused(tmp_path: Path) -> None:
    make(tmp_path / "a"), make(tmp_path / "b")
    for name, told in (
        ("sealing.key", "does not match its certificate"),
        ("sealing.pem", r"sealing\.pem was not issued by root\.pem"),
    ):
        shutil.copy(tmp_path / "b" / "development" / name, tmp_path / "a" / "development" / name)
        with pytest.raises(DomainError, match=told):
            make(tmp_path / "a")


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DomainError, match="cannot be made: Not a directory") as refusal:
        make(tmp_path / "file")
    assert refusal.value.code == "configuration"


def test_documents_and_proofs_of_both_environments_have_certificates_of_their_own(
    authority: DevelopmentAuthority,
) -> None:
    for key, name, purposes in (
        (authority.sealing_key, "Paraph Development Seal", False),
        (authority.proof_key, "Paraph Development Proof", True),
        (authority.sandbox_sealing_key, "Paraph Development sandbox Seal", False),
        (authority.sandbox_proof_key, "Paraph Development sandbox Proof", True),
    ):
        own = Identity(key.certificate)
        assert own.name == name and own.is_for_proofs is purposes and own.is_of_development
        assert load(key.certificate).for_documents and key.chain == (authority.root,)
    assert len(set(authority.issued)) == 5


def test_openssl_accepts_the_list(authority: DevelopmentAuthority, tmp_path: Path) -> None:
    moment = clock.now()
    (tmp_path / "list").write_bytes(revocation_list(authority, moment))
    said = openssl("crl", "-inform", "DER", "-in", tmp_path / "list", "-CAfile", root_file(tmp_path), "-noout", "-text")
    assert "verify OK" in said and "No Revoked Certificates" in said
    parsed = x509.load_der_x509_crl((tmp_path / "list").read_bytes())
    assert parsed.next_update_utc == parsed.last_update_utc + timedelta(days=7)


@pytest.mark.parametrize("hash_", ["-sha1", "-sha256"])
def test_openssl_accepts_the_answers(authority: DevelopmentAuthority, tmp_path: Path, hash_: str) -> None:
    folder = root_file(tmp_path).parent
    for name in ("sealing", "timestamp"):
        question, answer = tmp_path / "question", tmp_path / "answer"
        issued = (hash_, "-issuer", folder / "root.pem", "-cert", folder / f"{name}.pem")
        openssl("ocsp", *issued, "-reqout", question)
        answer.write_bytes(status_answer(authority, question.read_bytes(), clock.now()))
        said = openssl("ocsp", "-respin", answer, "-no_nonce", *issued, "-CAfile", folder / "root.pem")
        assert "Response verify OK" in said and f"{name}.pem: good" in said, said
        asked = ocsp.load_der_ocsp_request(question.read_bytes()).extensions
        told = ocsp.load_der_ocsp_response(answer.read_bytes()).extensions
        assert asked.get_extension_for_class(x509.OCSPNonce) == told.get_extension_for_class(x509.OCSPNonce)


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
