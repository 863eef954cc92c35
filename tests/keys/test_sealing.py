"""The operator's own key, from PEM and PKCS#12 files and wherever else keys live, and what an installation trusts."""

from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.settings import Settings
from paraph.keys import SigningKey, development, development_authority, open_key, read_roots, sealing_keys
from paraph.keys.sealing import EnvironmentName, operator_key, trusted_roots
from tests.keys.certified_keys import make_key, make_root, refusal
from tests.keys.kinds import PLACES, Place, placed

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


def test_a_key_comes_from_pem_files_or_from_one_of_pkcs12_with_its_chain(files: Files) -> None:
    for named in ({"sealing_key": files.key, "sealing_certificate": files.certificate}, {"sealing_key": files.bundle}):
        settings = Settings.model_validate({name: str(each) for name, each in named.items()} | OPEN)
        key = production_key(settings, files.folder, SECRET)
        assert key.chain == (files.root,) and key.sign(b"message").value
    assert not (files.folder / "development").exists()


OPEN, SHUT = {"sealing_passphrase": "open"}, {"sealing_passphrase": "shut"}
REFUSED: list[tuple[str, dict[str, str]]] = [
    (
        r"key\.pem is damaged or does not open with",
        {"sealing_key": "key.pem", "sealing_certificate": "chain.pem"} | SHUT,
    ),
    (r"seal\.p12 is damaged or does not open with its passphrase", {"sealing_key": "seal.p12"} | SHUT),
    (r"absent\.pem cannot be read: No such file", {"sealing_key": "absent.pem"}),
    (r"The certificates .*absent", {"sealing_key": "key.pem", "sealing_certificate": "absent.pem"} | OPEN),
    ("PARAPH_SEALING_CERTIFICATE must name", {"sealing_key": "key.pem"} | OPEN),
    (
        "PARAPH_SANDBOX_SEALING_CERTIFICATE must name",
        {"sandbox_sealing_key": "key.pem", "sandbox_sealing_passphrase": "open"},
    ),
    ("PARAPH_SEALING_KEY is not", {"sealing_certificate": "chain.pem"}),
    ("SANDBOX_SEALING_KEY must be another key", {"sealing_key": "seal.p12", "sandbox_sealing_key": "seal.p12"}),
    ("SANDBOX_SEALING_CERTIFICATE is set but PARAPH_SANDBOX_SEALING_KEY", {"sandbox_sealing_certificate": "chain.pem"}),
]


@pytest.mark.parametrize(("sentence", "named"), REFUSED)
def test_what_cannot_seal_is_told(files: Files, sentence: str, named: dict[str, str]) -> None:
    named = {name: value if "passphrase" in name else str(files.folder / value) for name, value in named.items()}
    environment: EnvironmentName = "sandbox" if "sandbox" in " ".join(named) else "production"
    with pytest.raises(DomainError, match=sentence):
        sealing_keys(Settings.model_validate(named), environment, files.folder, SECRET)


@pytest.mark.parametrize("place", PLACES)
def test_the_certificate_of_a_key_is_there_its_own_and_valid(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with placed(place, "p-256", tmp_path, monkeypatch) as key:
        opened = key.open()
        said = refusal("configuration", lambda: open_key(key.address, None, key.passphrase, key.client))
        assert said.startswith("PARAPH_SEALING_CERTIFICATE must name")
        if place != "csc":  # there the provider sends the certificate
            (tmp_path / "other").mkdir()
            other = replace(key, chain=make_root().chain(tmp_path / "other", make_key("p-256").public_key()))
            assert "does not match its certificate" in refusal("configuration", other.open)
        later = clock.now() + timedelta(days=365 * 11)
        monkeypatch.setattr(clock, "now", lambda: later)
        for work in (partial(opened.sign, b"message"), key.open):
            assert "expired on" in refusal("configuration", work)


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
    assert trusted_roots(alone, tmp_path / "none") == read_roots(tmp_path / "root.pem")  # no provider is asked
    configured = operator_key(alone, "production")
    assert configured and (configured.client.id, configured.client.pin) == ("acme", "123456")
    assert "123456" not in repr(configured)
