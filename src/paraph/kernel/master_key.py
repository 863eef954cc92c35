"""The secret from which all other keys of the service are derived."""

import os
from collections.abc import Sequence
from pathlib import Path

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

_SHORTEST = 32
_EARLIER = "secret.previous"
_FINGERPRINT = 16


def read_master_key(data_dir: Path, from_environment: str) -> bytes:
    """``PARAPH_SECRET_KEY``, or the key file of the data folder, made at the first call (mode 0600).

    Raise ``DomainError("configuration", …)`` when the key is too short or the file cannot be read or made.
    """
    if from_environment:
        if len(from_environment) < _SHORTEST:
            raise DomainError("configuration", f"PARAPH_SECRET_KEY must have at least {_SHORTEST} characters.")
        return from_environment.encode()
    path = data_dir / "secret.key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return _read(path) or _create(path, tokens.random_hex(32).encode())
    except OSError as error:
        raise DomainError(
            "configuration", f"The secret key {path} cannot be read or made: {error.strerror}."
        ) from error


def existing_master_key(data_dir: Path, from_environment: str) -> bytes:
    """Return the key that :func:`read_master_key` would return, or ``b""`` where it would make one."""
    path = data_dir / "secret.key"
    return read_master_key(data_dir, from_environment) if from_environment or path.exists() else b""


def earlier_master_keys(data_dir: Path, from_environment: Sequence[str]) -> list[bytes]:
    """``PARAPH_SECRET_KEY_PREVIOUS``, and the lines of ``secret.previous`` in the data folder.

    Raise ``DomainError("configuration", …)`` when one is too short or the file cannot be read.
    """
    try:
        found = [secret.encode() for secret in from_environment] + _read(data_dir / _EARLIER).split()
    except OSError as error:
        raise DomainError("configuration", f"{data_dir / _EARLIER} cannot be read: {error.strerror}.") from error
    if any(len(secret) < _SHORTEST for secret in found):
        sentence = f"Each of PARAPH_SECRET_KEY_PREVIOUS and {_EARLIER} must have at least {_SHORTEST} characters."
        raise DomainError("configuration", sentence)
    return found


def fingerprint(master: bytes) -> bytes:
    """Return what tells secrets apart. Nothing of the secret can be found out from it: it is derived for this purpose
    alone."""
    return tokens.derive(master, "fingerprint")[:_FINGERPRINT]


def write_master_key(data_dir: Path, key: bytes) -> None:
    """Put this key in the data folder. Raise ``DomainError("configuration", …)`` where there is another."""
    found = _read(data_dir / "secret.key") or _create(data_dir / "secret.key", key)
    if not tokens.same(found, key):
        raise DomainError("configuration", f"{data_dir / 'secret.key'} is another secret: move it away first.")


def write_earlier_master_keys(data_dir: Path, keys: Sequence[bytes]) -> None:
    """Put these keys in the data folder beside ``secret.key``."""
    handle = os.open(data_dir / _EARLIER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(b"\n".join(keys))
        file.flush()
        os.fsync(file.fileno())


def _create(path: Path, key: bytes) -> bytes:
    """Write the key unless another process has just written one, and return the key of the file."""
    temporary = path.with_suffix(f".{tokens.random_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(key)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    return path.read_bytes().strip() if path.exists() else b""
