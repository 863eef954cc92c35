"""Private keys with certificates of a throw-away root, for tests of where keys live."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS, PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from paraph.kernel.errors import DomainError
from paraph.keys.certificates import PublicKey
from paraph.keys.signing_key import PrivateKey
from tests.keys.odd_chains import issued

ROOT_NAME = "Trust Service Root"
Kind = Literal["rsa", "p-256"]
KINDS: list[Kind] = ["rsa", "p-256"]
ALGORITHMS = {"rsa": "RSASSA_PKCS1_V1_5_SHA_256", "p-256": "ECDSA_SHA_256"}


@dataclass(frozen=True)
class Root:
    """A root that issues certificates for seals."""

    key: PrivateKey
    certificate: x509.Certificate

    def pem(self, folder: Path) -> Path:
        path = folder / "root.pem"
        path.write_bytes(self.certificate.public_bytes(Encoding.PEM))
        return path

    def chain(self, folder: Path, public: PublicKey, *, days: float = 365) -> Path:
        """Write a PEM file of the root and, after it, a certificate for the key; return its path."""
        path = folder / "chain.pem"
        own = self.issue(public, days=days)
        path.write_bytes(self.certificate.public_bytes(Encoding.PEM) + own.public_bytes(Encoding.PEM))
        return path

    def issue(self, public: PublicKey, name: str = "Seal of Acme", *, days: float = 365) -> x509.Certificate:
        """Issue a certificate as a trust service provider would."""
        return _certificate(name, public, self.key, days=days)


def make_root() -> Root:
    key = ec.generate_private_key(ec.SECP256R1())
    return Root(key, _certificate(ROOT_NAME, key.public_key(), key, ca=True))


def _certificate(
    name: str, public: PublicKey, issuer_key: PrivateKey, *, ca: bool = False, days: float = 365
) -> x509.Certificate:
    subject, issuer = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, each)]) for each in (name, ROOT_NAME))
    return issued(subject, public, issuer, issuer_key, ca=ca, days=(-1, days))


def make_key(kind: Kind) -> PrivateKey:
    if kind == "rsa":
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return ec.generate_private_key(ec.SECP256R1())


def refusal(code: str, work: Callable[[], object], *secrets: str) -> str:
    """Return the sentence of the refusal that ``work`` must meet; check that it names no secret."""
    with pytest.raises(DomainError) as refused:
        work()
    assert refused.value.code == code and refused.value.message.endswith("."), refused.value
    assert not any(each in refused.value.message for each in secrets)
    return refused.value.message


def is_signature(certificate: bytes, message: bytes, signature: bytes, *, is_pss: bool = False) -> bool:
    """Return whether the certificate's key signed the message, with SHA-256."""
    public = x509.load_der_x509_certificate(certificate).public_key()
    try:
        if isinstance(public, rsa.RSAPublicKey):
            scheme = PSS(MGF1(SHA256()), PSS.DIGEST_LENGTH) if is_pss else PKCS1v15()
            public.verify(signature, message, scheme, SHA256())
        else:
            assert isinstance(public, ec.EllipticCurvePublicKey)
            public.verify(signature, message, ec.ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True
