"""The secret from which all other keys derive: read or made, several of them while it is being rotated."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError

SHORTEST = 32  # characters of a secret, or of a storage key
EARLIER_FILE = "secret.previous"


def read_master_key(data_dir: Path, from_environment: str) -> bytes:
    """Return ``PARAPH_SECRET_KEY``, or the key file of the data folder, made at the first call (mode 0600). Raise
    ``DomainError("configuration", …)`` when the key is too short or the file cannot be read or made."""
    if from_environment:
        if len(from_environment) < SHORTEST:
            raise DomainError("configuration", f"PARAPH_SECRET_KEY must have at least {SHORTEST} characters.")
        return from_environment.encode()
    path = data_dir / "secret.key"
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        return _read(path) or _create(path, tokens.random_hex(32).encode())
    except OSError as error:
        raise DomainError("configuration", f"The secret {path} cannot be read or made: {error.strerror}.") from error


def existing_master_key(data_dir: Path, from_environment: str) -> bytes:
    """Return the key that :func:`read_master_key` would return, or ``b""`` where it would make one."""
    path = data_dir / "secret.key"
    return read_master_key(data_dir, from_environment) if from_environment or path.exists() else b""


def earlier_master_keys(data_dir: Path, from_environment: Sequence[str]) -> list[bytes]:
    """Return ``PARAPH_SECRET_KEY_PREVIOUS``, and the lines of ``secret.previous`` in the data folder. Raise
    ``DomainError("configuration", …)`` when a key is too short or the file cannot be read."""
    try:
        found = [secret.encode() for secret in from_environment] + _read(data_dir / EARLIER_FILE).split()
    except OSError as error:
        raise DomainError("configuration", f"{data_dir / EARLIER_FILE} cannot be read: {error.strerror}.") from error
    if any(len(secret) < SHORTEST for secret in found):
        sentence = f"Each of PARAPH_SECRET_KEY_PREVIOUS and {EARLIER_FILE} must have at least {SHORTEST} characters."
        raise DomainError("configuration", sentence)
    return found


def fingerprint(master: bytes) -> bytes:
    """Return 16 bytes that tell secrets apart. Nothing of a secret can be found out from them: they are derived for
    this purpose alone."""
    return tokens.derive(master, "fingerprint")[:16]


def write_master_key(data_dir: Path, key: bytes) -> None:
    """Put this key in the data folder. Raise ``DomainError("configuration", …)`` where there is another."""
    found = _read(data_dir / "secret.key") or _create(data_dir / "secret.key", key)
    if not tokens.same(found, key):
        raise DomainError("configuration", f"{data_dir / 'secret.key'} is another secret: move it away first.")


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner may read, and wait until it is on the disk."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _create(path: Path, key: bytes) -> bytes:
    """Write the key unless another process has just written one, and return the key of the file."""
    temporary = path.with_suffix(f".{tokens.random_hex(8)}")
    write_private(temporary, key)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
    return _read(path)


def _read(path: Path) -> bytes:
    return path.read_bytes().strip() if path.exists() else b""


FingerprintInUse = Callable[[], bytes | None]


class Secrets:
    """``newest`` is meant to be in use; ``earlier`` secrets are still accepted. ``fingerprint_in_use`` says which one
    is in use, and is called only if there are several. New values are made with the secret in use, so that machines
    that do not know the newest one yet can read them."""

    def __init__(
        self, newest: bytes, earlier: Sequence[bytes] = (), fingerprint_in_use: FingerprintInUse = lambda: None
    ) -> None:
        self.newest = newest
        self._by_fingerprint = {fingerprint(secret): secret for secret in (newest, *earlier)}
        self._fingerprint_in_use = fingerprint_in_use

    @property
    def several(self) -> bool:
        """Whether this process accepts more than one secret."""
        return len(self._by_fingerprint) > 1

    @property
    def in_use(self) -> bytes:
        """The secret that new values are made with."""
        if not self.several:
            return self.newest
        return self._by_fingerprint.get(self._fingerprint_in_use() or b"", self.newest)

    @property
    def all(self) -> list[bytes]:
        """Every secret, first the one in use."""
        in_use = self.in_use
        return [in_use, *(secret for secret in self._by_fingerprint.values() if secret != in_use)]

    def known(self, mark: bytes) -> bytes | None:
        return self._by_fingerprint.get(mark)

    def key(self, purpose: str) -> bytes:
        """Return the key that new values are made with, for one purpose."""
        return tokens.derive(self.in_use, purpose)

    def keys(self, purpose: str) -> list[bytes]:
        """Return the keys that values may have been made with, first the one in use."""
        return [tokens.derive(secret, purpose) for secret in self.all]

    def encrypt(self, purpose: str, plain: bytes, context: bytes = b"") -> bytes:
        """Encrypt as :func:`paraph.kernel.tokens.encrypt`, by the secret in use."""
        return tokens.encrypt(self.key(purpose), plain, context)

    def decrypt(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes:
        """Return the plain bytes, whichever secret they were encrypted with. Raise ``ValueError`` where none opens
        them."""
        *others, last = self.keys(purpose)
        for key in others:
            with suppress(ValueError):
                return tokens.decrypt(key, sealed, context)
        return tokens.decrypt(last, sealed, context)

    def renewed(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes | None:
        """Return the value encrypted with the secret in use; None where it is already. Raise ``ValueError`` where no
        secret opens it."""
        try:
            tokens.decrypt(self.key(purpose), sealed, context)
        except ValueError:
            return self.encrypt(purpose, self.decrypt(purpose, sealed, context), context)
        return None
