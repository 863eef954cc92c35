"""The sealing context of the settings: keys, timestamp authorities, and the roots that a seal must chain to."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence.statuses import last_authority_chain
from paraph.flow.sealing.certificate_statuses import FetchedStatuses
from paraph.keys import DevelopmentAuthority, SealingKeys, SigningKey, development_authority, sealing_keys
from paraph.keys.sealing import EnvironmentName, root_of
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.statuses import LongTerm
from paraph.pdf.timestamps.authorities import long_term, timestamping
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.typesetting.fonts import keep_fonts_in


@dataclass(frozen=True)
class SealingContext:
    """Opens the keys of an environment at its first seal, so that a missing key of one environment does not hold up
    the other. ``long_term`` is None where the settings ask for no more than a timestamp."""

    timestamping: Timestamping
    long_term: LongTerm | None = None
    _opened: dict[str, SealingKeys] = field(default_factory=dict)

    def keys(self, environment: str) -> SealingKeys:
        """Return the keys. Raises ``DomainError`` where one is missing, does not fit, or its store does not answer."""
        if environment not in self._opened:
            name: EnvironmentName = "sandbox" if environment == "sandbox" else "production"
            self._opened[environment] = sealing_keys(settings.PARAPH, name, key_folder(), *key_secrets())
        return self._opened[environment]

    def key(self, purpose: Purpose) -> SigningKey:
        """Return the key that seals for this purpose. Raises as :meth:`keys` does."""
        keys = self.keys(purpose.environment)
        return keys.proofs if purpose.kind == "proof" else keys.documents

    def roots(self, environment: str) -> tuple[bytes, ...]:
        """Return the roots (DER) that seals of an environment are checked against. Raises as :meth:`keys` does."""
        keys = self.keys(environment)
        own = [root for key in (keys.documents, keys.proofs) for root in root_of(key)]
        return tuple(dict.fromkeys([*own, *self.timestamping.roots]))


@cache
def sealing_context() -> SealingContext:
    """Return the context of the settings, one per process. Puts the fonts of stamps and proofs into the data folder.

    Raises ``DomainError("configuration", …)`` when an authority or a development key cannot be used.
    """
    keep_fonts_in(settings.DATA_DIR / "fonts")
    authority = development()
    source = long_term(settings.PARAPH, authority, FetchedStatuses())
    if source:
        source.last_authority_chain = _last_authority_chain
    return SealingContext(timestamping(settings.PARAPH, authority), source)


def development() -> DevelopmentAuthority:
    """Return the development authority of the data folder, made at the first start. Raises ``DomainError`` where its
    keys cannot be used."""
    secret, *others = key_secrets()
    return development_authority(key_folder(), secret, settings.PARAPH.development_key, others)


def key_folder() -> Path:
    """Return where this machine keeps its development keys."""
    return Path(settings.DATA_DIR) / "keys"


def key_secrets() -> list[bytes]:
    """Return what the development keys may be encrypted with, first what new ones are."""
    secrets: list[bytes] = settings.SECRETS.keys("private-keys")
    return secrets


def _last_authority_chain() -> tuple[bytes, ...]:
    """Return the authority that a process expects before its first seal; empty costs that seal an archive timestamp
    with statuses of its own."""
    try:
        return last_authority_chain()
    except DatabaseError:
        return ()
