"""Random values, derived keys, keyed hashes and encryption at rest. All secrets of the service are made here."""

import hashlib
import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NONCE = 12


def random_hex(size: int) -> str:
    """Return ``size`` random bytes as lower-case hexadecimal."""
    return secrets.token_hex(size)


def random_bytes(size: int) -> bytes:
    return secrets.token_bytes(size)


def random_digits(count: int) -> str:
    """Return ``count`` random decimal digits, which may begin with zeros."""
    return f"{secrets.randbelow(10**count):0{count}d}"


def sha256(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


@lru_cache(maxsize=64)
def derive(master: bytes, purpose: str) -> bytes:
    """Return a 32-byte key for one purpose (HKDF-SHA256, RFC 5869). Different purposes give unrelated keys."""
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=f"paraph:{purpose}".encode()).derive(master)


def keyed_hash(key: bytes, *parts: bytes) -> bytes:
    """Return the HMAC-SHA256 of the parts, each preceded by its length so that no two lists collide."""
    mac = _keyed(key).copy()
    for part in parts:
        mac.update(len(part).to_bytes(8, "big") + part)
    return mac.digest()


@lru_cache(maxsize=16)
def _keyed(key: bytes) -> hmac.HMAC:
    """Return an HMAC to be copied, kept for each key: setting it up takes longest, and there are only a few keys."""
    return hmac.new(key, digestmod="sha256")


def same(left: bytes, right: bytes) -> bool:
    """Return whether the two are equal, compared in constant time."""
    return hmac.compare_digest(left, right)


def encrypt(key: bytes, plain: bytes, context: bytes = b"") -> bytes:
    """Encrypt with AES-256-GCM; the nonce comes first. ``context`` must be given again to :func:`decrypt`."""
    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(key).encrypt(nonce, plain, context)


def decrypt(key: bytes, sealed: bytes, context: bytes = b"") -> bytes:
    """Return the plain bytes. Raise ``ValueError`` for another key, another context or changed bytes."""
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE], sealed[_NONCE:], context)
    except InvalidTag as error:
        raise ValueError("the encrypted value does not open with this key") from error


def base64url(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """Decode base64url without padding. Raise ``ValueError`` for any other text."""
    return urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
