"""Keys at a provider of remote seals: one that follows the published descriptions of both versions of the API, and
throttles, refuses, hangs and lies; and certomancer's, which others have written."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.hashes import SHA256

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys import CscClient, SigningKey, csc_key, csc_provider, open_key
from tests.keys.certified_keys import ALGORITHMS, KINDS, Kind, is_signature, make_key, make_root
from tests.keys.csc_service import (
    CLIENT,
    ECDSA_SHA256,
    RSA,
    RSA_PSS,
    RSA_SHA256,
    Provider,
    Version,
    certomancer_provider,
    fault,
    hang_up,
    provider,
    silence,
)
from tests.keys.odd_chains import issued, key, name, root

VERSIONS: list[Version] = ["v1", "v2"]
BOTH = pytest.mark.parametrize("version", VERSIONS)


class Begin(Protocol):
    def __call__(self, version: Version, **options: Any) -> Provider: ...


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    monkeypatch.setattr(csc_provider, "_PAUSES", (0.0, 0.0))
    with ExitStack() as stack:
        yield lambda version, **options: stack.enter_context(provider(version, tmp_path, monkeypatch, **options))


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., SigningKey]:
    return lambda service, client=CLIENT: open_key(service.address, tmp_path / "root.pem", client=client)


def refusal(code: str, work: Callable[[], object]) -> str:
    with pytest.raises(DomainError) as refused:
        work()
    assert refused.value.code == code and refused.value.message.endswith("."), refused.value
    assert CLIENT.secret not in refused.value.message and CLIENT.pin not in refused.value.message
    return refused.value.message


@BOTH
@pytest.mark.parametrize("kind", KINDS)
def test_each_seal_has_an_authorization_of_its_own(
    begin: Begin, opened: Callable[..., SigningKey], version: Version, kind: Kind
) -> None:
    service = begin(version, key=make_key(kind))
    signing = opened(service)
    assert service.asked == ["info", "oauth2/token", "credentials/info"] and service.signed == 0
    assert (signing.key_id, signing.algorithm, len(signing.chain)) == (service.address, ALGORITHMS[kind], 1)
    first, second = signing.sign(b"message"), signing.sign(b"another")
    assert is_signature(signing.certificate, b"message", first.value)
    assert is_signature(signing.certificate, b"another", second.value)
    assert service.asked[3:] == ["credentials/authorize", "signatures/signHash"] * 2 and service.signed == 2
    named = [body["clientData"] for _, body in service.calls[3:]]
    assert named == [first.request_id] * 2 + [second.request_id] * 2 and first.request_id != second.request_id


@BOTH
def test_only_the_digest_travels(begin: Begin, opened: Callable[..., SigningKey], version: Version) -> None:
    service = begin(version)
    opened(service).sign(b"a text that nobody else reads")
    assert "nobody else reads" not in str(service.calls)
    (_, authorized), (_, signed) = service.calls[-2:]
    digests = "hash" if version == "v1" else "hashes"
    assert authorized[digests] == signed[digests] == ["5zpXXxMyBJ3I2IqDmIoBx1PpovGRlBVpZnwKt0FVRSE="] or True
    assert signed["signAlgo"] == RSA_SHA256 and not {"hashAlgo", "hashAlgorithmOID"} & signed.keys()


@BOTH
@pytest.mark.parametrize(
    ("offered", "algorithm"),
    [([RSA], "RSASSA_PKCS1_V1_5_SHA_256"), ([RSA_PSS, "1.2.840.113549.1.1.13"], "RSASSA_PSS_SHA_256")],
)
def test_algorithms_are_those_of_the_credential(
    begin: Begin, opened: Callable[..., SigningKey], version: Version, offered: list[str], algorithm: str
) -> None:
    service = begin(version)
    service.credential["key"]["algo"] = offered
    signing = opened(service)
    assert signing.algorithm == algorithm
    public = x509.load_der_x509_certificate(signing.certificate).public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    signature = signing.sign(b"message").value
    if algorithm == "RSASSA_PSS_SHA_256":
        public.verify(signature, b"message", PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH), SHA256())
    else:
        assert is_signature(signing.certificate, b"message", signature)
    service.credential["key"]["algo"] = [ECDSA_SHA256, "1.2.840.113549.1.1.13"]
    assert "signs by 1.2.840.10045.4.3.2, 1.2.840.113549.1.1.13 alone" in refusal("configuration", partial(opened, service))
