"""The key that signs this installation's checkpoints, and cosigns those of others."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings

from paraph.kernel.errors import DomainError
from paraph.transparency.models import LogKey
from paraph.transparency.notes import LOG, WITNESS, VerifierKey

PURPOSE, CONTEXT = "log-key", b"log key"
_ONLY = 1


class OwnKey(NamedTuple):
    """``log`` and ``witness`` are the public key as verifiers of checkpoints and of cosignatures know it."""

    private: Ed25519PrivateKey
    log: VerifierKey
    witness: VerifierKey


def own_key() -> OwnKey:
    """Return the key, made at the first call. All machines of the installation have the same one, since it lies in the
    database. Raise ``DomainError("configuration", …)`` where it cannot be used."""
    row = LogKey.objects.filter(pk=_ONLY).first() or _first()
    return _opened(row.origin, bytes(row.sealed or b""), settings.PARAPH.log_key)


def _first() -> LogKey:
    sealed = None
    if settings.PARAPH.log_key is None:
        sealed = settings.SECRETS.encrypt(PURPOSE, Ed25519PrivateKey.generate().private_bytes_raw(), CONTEXT)
    origin = f"{urlsplit(settings.PARAPH.public_url).netloc}/transparency"
    return LogKey.objects.get_or_create(pk=_ONLY, defaults={"origin": origin, "sealed": sealed})[0]


@lru_cache(maxsize=4)
def _opened(origin: str, sealed: bytes, file: Path | None) -> OwnKey:
    private = _from_file(file) if file else _from_row(sealed)
    public = private.public_key().public_bytes_raw()
    return OwnKey(private, VerifierKey(origin, LOG, public), VerifierKey(origin, WITNESS, public))


def _from_row(sealed: bytes) -> Ed25519PrivateKey:
    try:
        return Ed25519PrivateKey.from_private_bytes(settings.SECRETS.decrypt(PURPOSE, sealed, CONTEXT))
    except ValueError as error:
        sentence = "The key of the transparency log cannot be opened: PARAPH_LOG_KEY had it, or another secret."
        raise DomainError("configuration", sentence) from error


def _from_file(file: Path) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(file.read_bytes(), None)
    except (OSError, ValueError, TypeError) as error:
        raise DomainError("configuration", f"PARAPH_LOG_KEY: {file} is no PEM file of a private key.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise DomainError("configuration", f"PARAPH_LOG_KEY: the key in {file} is none for Ed25519.")
    return key
