"""The interface of all signing keys, wherever their private keys live."""

from dataclasses import dataclass
from typing import Protocol

RSA_SHA256 = "RSASSA_PKCS1_V1_5_SHA_256"
RSA_PSS_SHA256 = "RSASSA_PSS_SHA_256"
ECDSA_SHA256 = "ECDSA_SHA_256"


@dataclass(frozen=True)
class KeySignature:
    """A signature, and for a key behind a service the identifier of the call."""

    value: bytes
    """RSA: PKCS#1 v1.5, or PSS with MGF1 of SHA-256 and a salt of 32 bytes; elliptic curve: the DER of
    ``ECDSA-Sig-Value``. All over SHA-256."""
    request_id: str = ""
    """The key service's request identifier; empty for a key on this machine."""


class SigningKey(Protocol):
    """A private key with its certificate, which was checked when the key was opened."""

    @property
    def certificate(self) -> bytes:
        """DER of the key's own certificate."""

    @property
    def chain(self) -> tuple[bytes, ...]:
        """DER of the issuing certificates: the issuer of ``certificate`` first, the root last. It ends before an issuer
        that is missing; a key whose own certificate is the root has none."""

    @property
    def algorithm(self) -> str:
        """``RSASSA_PKCS1_V1_5_SHA_256``, ``RSASSA_PSS_SHA_256`` or ``ECDSA_SHA_256``; the journal's
        ``signing_algorithm``."""

    @property
    def key_id(self) -> str:
        """A stable name of the key, such as ``local:3f…`` or an ARN; the journal's ``kms_key_id``."""

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of ``message``. Raise ``DomainError`` when the key cannot be used."""
