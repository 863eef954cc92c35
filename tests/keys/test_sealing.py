"""The operator's own key, from PEM and PKCS#12 files, and what an installation trusts."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings
from paraph.keys import SigningKey, development, development_authority, read_roots, sealing_keys
from paraph.keys.sealing import operator_key, trusted_roots
from tests.keys.certified_keys import make_key, make_root

SECRET = b"s" * 32


def production_key(settings: Settings, folder: Path, secret: bytes) -> SigningKey:
    return sealing_keys(settings, "production", folder, secret).documents


@dataclass
class Files:
    folder: Path
    key: Path
    certificate: Path
    bundle: Path
    root: bytes


@pytest.fixture
def files(tmp_path: Path) -> Files:
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root, own = development.issue_root(root_key), development.issue_sealing(root_key, key.public_key())
    made = Files(tmp_path, tmp_path / "key.pem", tmp_path / "chain.pem", tmp_path / "seal.p12", b"")
    made.root = root.public_bytes(Encoding.DER)
    made.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"open")))
    made.certificate.write_bytes(root.public_bytes(Encoding.PEM) + own.public_bytes(Encoding.PEM))
    made.bundle.write_bytes(serialize_key_and_certificates(b"seal", key, own, [root], BestAvailableEncryption(b"open")))
    return made


def test_without_settings_the_development_key_seals(tmp_path: Path) -> None:
    key = production_key(Settings(development_key="rsa-3072"), tmp_path, SECRET)
    assert key.algorithm == "RSASSA_PKCS1_V1_5_SHA_256"
    assert (tmp_path / "development" / "sealing.key").exists()


def test_pem(files: Files) -> None:
    settings = Settings(sealing_key=str(files.key), sealing_certificate=files.certificate, sealing_passphrase="open")
    key = production_key(settings, files.folder, SECRET)
    assert key.chain == (files.root,)
    assert key.sign(b"message").value
    assert not (files.folder / "development").exists()


def test_pkcs12_carries_its_chain(files: Files) -> None:
    key = production_key(Settings(sealing_key=str(files.bundle), sealing_passphrase="open"), files.folder, SECRET)
    assert key.chain == (files.root,)


def test_wrong_passphrase(files: Files) -> None:
    for path in (files.key, files.bundle):
        settings = Settings(sealing_key=str(path), sealing_certificate=files.certificate, sealing_passphrase="shut")
        with pytest.raises(DomainError, match=f"{path.name} is damaged or does not open with its passphrase"):
            production_key(settings, files.folder, SECRET)


def test_missing_files(files: Files) -> None:
    absent = files.folder / "absent.pem"
    with pytest.raises(DomainError, match=r"absent\.pem cannot be read: No such file"):
        production_key(Settings(sealing_key=str(absent)), files.folder, SECRET)
    settings = Settings(sealing_key=str(files.key), sealing_passphrase="open", sealing_certificate=absent)
    with pytest.raises(DomainError, match=r"The certificates .*absent\.pem cannot be read"):
        production_key(settings, files.folder, SECRET)


def test_a_key_without_certificate_and_a_certificate_without_key(files: Files) -> None:
    with pytest.raises(DomainError, match="PARAPH_SEALING_CERTIFICATE must name"):
        production_key(Settings(sealing_key=str(files.key), sealing_passphrase="open"), files.folder, SECRET)
    with pytest.raises(DomainError, match="PARAPH_SEALING_KEY is not"):
        production_key(Settings(sealing_certificate=files.certificate), files.folder, SECRET)


def test_a_key_of_another_certificate(files: Files) -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    files.key.write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    settings = Settings(sealing_key=str(files.key), sealing_certificate=files.certificate)
    with pytest.raises(DomainError, match="does not match its certificate"):
        production_key(settings, files.folder, SECRET)


def test_the_sandbox_has_a_key_of_its_own_whatever_seals_in_production(files: Files) -> None:
    settings = Settings(sealing_key=str(files.bundle), sealing_passphrase="open")
    sandbox = sealing_keys(settings, "sandbox", files.folder, SECRET)
    production = sealing_keys(settings, "production", files.folder, SECRET)
    own = development_authority(files.folder, SECRET)
    assert (sandbox.documents.certificate, sandbox.proofs.certificate) == (
        own.sandbox_sealing_key.certificate,
        own.sandbox_proof_key.certificate,
    )
    assert production.documents is production.proofs and production.documents.chain == (files.root,)


def test_the_sandbox_takes_the_same_forms(files: Files) -> None:
    settings = Settings(
        sandbox_sealing_key=str(files.key),
        sandbox_sealing_certificate=files.certificate,
        sandbox_sealing_passphrase="open",
    )
    keys = sealing_keys(settings, "sandbox", files.folder, SECRET)
    assert keys.documents is keys.proofs and keys.documents.chain == (files.root,)
    assert production_key(settings, files.folder, SECRET).chain != (files.root,)
    assert files.root in trusted_roots(settings, files.folder)


def test_one_key_for_both_environments_is_refused(files: Files) -> None:
    settings = Settings(sealing_key=str(files.bundle), sandbox_sealing_key=str(files.bundle))
    with pytest.raises(DomainError, match="PARAPH_SANDBOX_SEALING_KEY must be another key than PARAPH_SEALING_KEY"):
        sealing_keys(settings, "sandbox", files.folder, SECRET)
    with pytest.raises(DomainError, match="PARAPH_SANDBOX_SEALING_CERTIFICATE is set but PARAPH_SANDBOX_SEALING_KEY"):
        sealing_keys(Settings(sandbox_sealing_certificate=files.certificate), "sandbox", files.folder, SECRET)


@pytest.mark.parametrize("address", ["pkcs11:object=seal?module-path=/nowhere.so", "awskms:alias/nowhere", "/nowhere"])
def test_the_root_of_a_key_that_is_not_here(address: str, tmp_path: Path) -> None:
    root = make_root()
    chain = root.chain(tmp_path, make_key("p-256").public_key())
    settings = Settings(sealing_key=address, sealing_certificate=chain)
    assert trusted_roots(settings, tmp_path) == [root.certificate.public_bytes(Encoding.DER)]


def test_without_a_certificate_file_the_key_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(DomainError, match="cannot be read"):
        trusted_roots(Settings(sealing_key="/nowhere.p12"), tmp_path)
    assert trusted_roots(Settings(), tmp_path) == []


def test_a_credential_at_a_provider_is_of_one_environment(tmp_path: Path) -> None:
    addresses = [f"csc+https://localhost:1/csc/v2?credential={number}" for number in (1, 2)]
    make_root().pem(tmp_path)
    settings = Settings(
        sealing_key=addresses[0],
        sealing_certificate=tmp_path / "root.pem",
        sandbox_sealing_key=addresses[1],
        sandbox_sealing_certificate=tmp_path / "root.pem",
        csc_client_id="acme",
        csc_pin="123456",
    )
    for environment in ("production", "sandbox"):
        with pytest.raises(DomainError, match="Only one of PARAPH_SEALING_KEY and PARAPH_SANDBOX_SEALING_KEY can be"):
            operator_key(settings, environment)
    alone = settings.model_copy(update={"sandbox_sealing_key": "", "sandbox_sealing_certificate": None})
    assert trusted_roots(alone, tmp_path / "none") == read_roots(tmp_path / "root.pem")  # nobody is asked
    configured = operator_key(alone, "production")
    assert configured and (configured.client.id, configured.client.pin) == ("acme", "123456")
    assert "123456" not in repr(configured)
