"""Keys of AWS KMS: moto's, and a server that throttles, refuses, hangs and vanishes."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from paraph.keys import SigningKey, kms_key, open_key
from tests.keys.certified_keys import ALGORITHMS, KINDS, Kind, is_signature, make_key, make_root, refusal
from tests.keys.kms_service import REGION, KmsServer, fault, kms_server, moto_key, moto_kms, silence
from tests.keys.odd_chains import pss


@pytest.fixture
def kms(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with moto_kms(monkeypatch) as client:
        yield client


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[KmsServer]:
    with kms_server(monkeypatch) as service:
        yield service


@pytest.mark.parametrize("kind", KINDS)
def test_it_signs_and_names_itself_by_its_arn(kms: Any, kind: Kind, tmp_path: Path) -> None:
    arn, public = moto_key(kms, kind)
    kms.create_alias(AliasName="alias/seal", TargetKeyId=arn)
    chain = make_root().chain(tmp_path, public)
    for address in (arn, f"awskms:{arn}", f"awskms:{arn.rpartition('/')[2]}", "awskms:alias/seal"):
        key = open_key(address, chain)
        signature = key.sign(b"message")
        assert is_signature(key.certificate, b"message", signature.value)
        assert (key.key_id, key.algorithm, len(key.chain)) == (arn, ALGORITHMS[kind], 1)
        assert signature.request_id


def test_the_region_is_that_of_the_arn(kms: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arn, public = moto_key(kms, "p-256")
    chain = make_root().chain(tmp_path, public)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert open_key(arn, chain).sign(b"message").value
    assert "NotFoundException" in refusal("configuration", lambda: open_key(f"awskms:{arn.rpartition('/')[2]}", chain))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert "region" in refusal("configuration", lambda: open_key("awskms:alias/seal", chain))


def test_a_key_of_another_use_or_curve(kms: Any, tmp_path: Path) -> None:
    chain = make_root().chain(tmp_path, make_key("rsa").public_key())
    arn, _ = moto_key(kms, "p-256", KeySpec="ECC_NIST_P384")
    said = refusal("configuration", lambda: open_key(arn, chain))
    assert "is ECC_NIST_P384 for SIGN_VERIFY; needed is an RSA or ECC_NIST_P256 key" in said
    arn, _ = moto_key(kms, "rsa", KeyUsage="ENCRYPT_DECRYPT")
    assert "is RSA_2048 for ENCRYPT_DECRYPT" in refusal("configuration", lambda: open_key(arn, chain))


def opened(server: KmsServer, folder: Path) -> SigningKey:
    return open_key(server.arn, make_root().chain(folder, server.key.public_key()))


def test_two_permissions_are_enough_and_only_the_digest_travels(server: KmsServer, tmp_path: Path) -> None:
    key = opened(server, tmp_path)
    first, second = key.sign(b"message"), key.sign(b"message")
    assert is_signature(key.certificate, b"message", first.value)
    assert first.request_id != second.request_id and first.request_id.startswith("request-")
    assert [operation for operation, _ in server.calls] == ["GetPublicKey", "Sign", "Sign", "Sign"]
    asked = server.calls[1][1]
    assert (asked["MessageType"], asked["SigningAlgorithm"], asked["KeyId"]) == ("DIGEST", "ECDSA_SHA_256", server.arn)


def test_a_key_for_pss_alone_signs_pss(server: KmsServer, tmp_path: Path) -> None:
    odd = pss()
    _, certificates = odd.write(tmp_path)
    own = load_pem_private_key(odd.key, None)
    assert isinstance(own, rsa.RSAPrivateKey)
    server.key = own
    key = open_key(server.arn, certificates)
    assert key.algorithm == "RSASSA_PSS_SHA_256"
    assert is_signature(key.certificate, b"message", key.sign(b"message").value, is_pss=True)


def test_throttled_calls_are_made_again(server: KmsServer, tmp_path: Path) -> None:
    key = opened(server, tmp_path)
    server.faults += [fault(400, "ThrottlingException", "Rate exceeded"), fault(500, "KMSInternalException")]
    assert is_signature(key.certificate, b"message", key.sign(b"message").value)
    assert len(server.calls) == 2 + 3
    server.faults += [fault(400, "ThrottlingException", "Rate exceeded")] * 3
    said = refusal("unavailable", lambda: key.sign(b"message"))
    assert said == f"The KMS key {server.arn} cannot be asked: ThrottlingException (Rate exceeded)."
    assert key.sign(b"message").value


@pytest.mark.parametrize(
    "code", ["AccessDeniedException", "NotFoundException", "DisabledException", "KMSInvalidStateException"]
)
def test_what_waiting_does_not_cure_is_said_at_once(server: KmsServer, tmp_path: Path, code: str) -> None:
    server.faults.append(fault(400, code, "no kms:GetPublicKey"))
    said = refusal("configuration", lambda: opened(server, tmp_path))
    assert said == f"The KMS key {server.arn} cannot be used: {code} (no kms:GetPublicKey)."
    assert len(server.calls) == 1


def test_a_service_that_hangs_or_vanishes(server: KmsServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = kms_key._CALLS.merge(Config(read_timeout=0.2, retries={"mode": "standard", "total_max_attempts": 1}))
    monkeypatch.setattr(kms_key, "_CALLS", quick)
    key = opened(server, tmp_path)
    server.faults.append(silence(60))
    began = time.monotonic()
    assert "Read timeout" in refusal("unavailable", lambda: key.sign(b"message"))
    assert time.monotonic() - began < 30
    monkeypatch.setenv("AWS_ENDPOINT_URL_KMS", "http://127.0.0.1:1")
    said = refusal("unavailable", lambda: opened(server, tmp_path))
    assert "Could not connect" in said


def test_every_call_is_bounded() -> None:
    """Three attempts of 2 s to connect and 3 s to read, and at most 3 s between them."""
    assert (kms_key._CALLS.connect_timeout, kms_key._CALLS.read_timeout) == (2, 3)
    assert kms_key._CALLS.retries == {"mode": "standard", "total_max_attempts": 3}


def test_without_credentials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    chain = make_root().chain(tmp_path, make_key("p-256").public_key())
    said = refusal("configuration", lambda: open_key(f"arn:aws:kms:{REGION}:111122223333:alias/seal", chain))
    assert "Unable to locate credentials" in said
