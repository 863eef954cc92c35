"""Encrypting the development keys anew, file by file, for another secret."""

import os
from collections.abc import Sequence
from pathlib import Path

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.keys.development import key_files, passphrase
from paraph.keys.local_key import encrypted_pem, read_private_key


def not_yet_under(folder: Path, secret: bytes) -> list[Path]:
    """The files of development keys that this secret does not open."""
    return [path for path in key_files(folder) if not _opens(path, secret)]


def encrypt_anew(path: Path, secret: bytes, others: Sequence[bytes]) -> None:
    """Replaces the file as a whole by one that ``secret`` opens. Raises ``DomainError("configuration", …)`` where none
    of the ``others`` opens it."""
    opening = next((other for other in others if _opens(path, other)), secret)
    key, _ = read_private_key(path, passphrase(opening))
    draft = path.with_name(f".{path.name}.{os.getpid()}.{tokens.random_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(encrypted_pem(key, passphrase(secret)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise DomainError("configuration", f"{path} cannot be written: {error.strerror}.") from error


def _opens(path: Path, secret: bytes) -> bool:
    try:
        read_private_key(path, passphrase(secret))
    except DomainError:
        return False
    return True
