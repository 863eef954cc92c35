"""The secret from which all other keys of the service are derived."""

import os
from pathlib import Path

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

_SHORTEST = 32


def read_master_key(data_dir: Path, from_environment: str) -> bytes:
    """``PARAPH_SECRET_KEY``, or the key file of the data folder, made at the first call (mode 0600).

    Raises ``DomainError("configuration", …)`` when the key is too short or the file cannot be read or made.
    """
    if from_environment:
        if len(from_environment) < _SHORTEST:
            raise DomainError("configuration", f"PARAPH_SECRET_KEY must have at least {_SHORTEST} characters.")
        return from_environment.encode()
    path = data_dir / "secret.key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return _read(path) or _create(path)
    except OSError as error:
        raise DomainError(
            "configuration", f"The secret key {path} cannot be read or made: {error.strerror}."
        ) from error


def _create(path: Path) -> bytes:
    """Writes a new key unless another process has just written one, and returns the key of the file."""
    temporary = path.with_suffix(f".{tokens.random_hex(8)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(tokens.random_hex(32))
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
