"""The secrets of the service: the one in use, others while it is being rotated, and the keys that derive from them."""

from collections.abc import Callable, Sequence

from paraph.kernel import tokens
from paraph.kernel.master_key import fingerprint

FingerprintInUse = Callable[[], bytes | None]


class Secrets:
    """``newest`` is to be in use, ``earlier`` ones are still accepted.

    Which one is in use, ``fingerprint_in_use`` says; it is not asked where there is no choice. New values are made
    with that one, so that machines which do not know the newest yet can read them.
    """

    def __init__(
        self, newest: bytes, earlier: Sequence[bytes] = (), fingerprint_in_use: FingerprintInUse = lambda: None
    ) -> None:
        self.newest = newest
        self._by_fingerprint = {fingerprint(secret): secret for secret in (newest, *earlier)}
        self._fingerprint_in_use = fingerprint_in_use
        self._derived: dict[tuple[bytes, str], bytes] = {}

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
        return self.derived(self.in_use, purpose)

    def keys(self, purpose: str) -> list[bytes]:
        """Return the keys that values may have been made with, first the one in use."""
        return [self.derived(secret, purpose) for secret in self.all]

    def derived(self, secret: bytes, purpose: str) -> bytes:
        """:func:`paraph.kernel.tokens.derive`, done once."""
        found = self._derived.get((secret, purpose))
        if found is None:
            found = self._derived[secret, purpose] = tokens.derive(secret, purpose)
        return found

    def encrypt(self, purpose: str, plain: bytes, context: bytes = b"") -> bytes:
        """Encrypt as :func:`paraph.kernel.tokens.encrypt`, by the secret in use."""
        return self.encrypt_by(self.in_use, purpose, plain, context)

    def encrypt_by(self, secret: bytes, purpose: str, plain: bytes, context: bytes = b"") -> bytes:
        """Encrypt with the key of another secret than the one in use."""
        return tokens.encrypt(self.derived(secret, purpose), plain, context)

    def decrypt(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes:
        """Return the plain bytes, whichever secret they were encrypted with. Raise ``ValueError`` where none opens
        them."""
        *others, last = self.keys(purpose)
        for key in others:
            try:
                return tokens.decrypt(key, sealed, context)
            except ValueError:
                continue
        return tokens.decrypt(last, sealed, context)

    def renewed(self, purpose: str, sealed: bytes, context: bytes = b"") -> bytes | None:
        """Return the value encrypted with the secret in use; None where it is already. Raise ``ValueError`` where no
        secret opens it."""
        try:
            tokens.decrypt(self.key(purpose), sealed, context)
        except ValueError:
            return self.encrypt(purpose, self.decrypt(purpose, sealed, context), context)
        return None
