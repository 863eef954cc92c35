"""The key that signs this installation's checkpoints, and cosigns those of others."""

from typing import NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings

from paraph.kernel.errors import DomainError
from paraph.transparency.models import LogKey
from paraph.transparency.notes import LOG, WITNESS, VerifierKey

PURPOSE, _ONLY = "log-key", 1


class OwnKey(NamedTuple):
    """``log`` and ``witness`` are the public key as verifiers of checkpoints and of cosignatures know it."""

    private: Ed25519PrivateKey
    log: VerifierKey
    witness: VerifierKey


def own_key() -> OwnKey:
    """Return the key, made at the first call. All machines of the installation have the same one, since it lies in the
    database. Raise ``DomainError("configuration", …)`` where it cannot be used."""
    row, file = LogKey.objects.filter(pk=_ONLY).first() or _first(), settings.PARAPH.log_key
    try:
        if file:
            private = load_pem_private_key(file.read_bytes(), None)
        else:
            secret = settings.SECRETS.decrypt(PURPOSE, bytes(row.private_encrypted or b""))
            private = Ed25519PrivateKey.from_private_bytes(secret)
        if not isinstance(private, Ed25519PrivateKey):
            raise TypeError("it is none for Ed25519")
    except (OSError, ValueError, TypeError) as error:
        place = f"PARAPH_LOG_KEY: {file}" if file else "The key in the database"
        sentence = f"{place} cannot sign the transparency log: {error}. The log has its first key for good."
        raise DomainError("configuration", sentence) from error
    public = private.public_key().public_bytes_raw()
    return OwnKey(private, VerifierKey(row.origin, LOG, public), VerifierKey(row.origin, WITNESS, public))


def _first() -> LogKey:
    encrypted = None
    if settings.PARAPH.log_key is None:
        encrypted = settings.SECRETS.encrypt(PURPOSE, Ed25519PrivateKey.generate().private_bytes_raw())
    origin = f"{urlsplit(settings.PARAPH.public_url).netloc}/transparency"
    return LogKey.objects.get_or_create(pk=_ONLY, defaults={"origin": origin, "private_encrypted": encrypted})[0]
