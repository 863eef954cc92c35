"""What every signing key offers, wherever its private half lives."""

from dataclasses import dataclass
from typing import Protocol

RSA_SHA256 = "RSASSA_PKCS1_V1_5_SHA_256"
ECDSA_SHA256 = "ECDSA_SHA_256"


@dataclass(frozen=True)
class KeySignature:
    """A signature, and the name of the call that made it where the key lives behind a service."""

    value: bytes
    """RSA: PKCS#1 v1.5; elliptic curve: the DER of ``ECDSA-Sig-Value``. Both over SHA-256."""
    request_id: str = ""
    """The key service's request identifier; empty for a key on this machine."""


class SigningKey(Protocol):
    """A private key with its certificate, checked when it was opened."""

    @property
    def certificate(self) -> bytes:
        """DER of the key's own certificate."""

    @property
    def chain(self) -> tuple[bytes, ...]:
        """DER of the certificates above it: its issuer first, the root last."""

    @property
    def algorithm(self) -> str:
        """``RSASSA_PKCS1_V1_5_SHA_256`` or ``ECDSA_SHA_256``; the journal's ``signing_algorithm``."""

    @property
    def key_id(self) -> str:
        """A stable name of the key, such as ``local:3f…`` or an ARN; the journal's ``kms_key_id``."""

    def sign(self, message: bytes) -> KeySignature:
        """Signs SHA-256 of ``message``. Raises ``DomainError`` when the key cannot be used."""
