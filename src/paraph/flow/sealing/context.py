"""What seals are made with: the keys, the timestamp authorities, and the roots that a seal must chain to."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence.statuses import last_authority_chain
from paraph.flow.sealing.certificate_statuses import FetchedStatuses
from paraph.kernel import tokens
from paraph.keys import DevelopmentAuthority, SealingKeys, SigningKey, development_authority, sealing_keys
from paraph.keys.sealing import EnvironmentName
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.statuses import LongTerm
from paraph.pdf.timestamps.configured_authorities import long_term, timestamping
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.typesetting.fonts import keep_fonts_in


@dataclass(frozen=True)
class SealingContext:
    """The keys of an environment are opened at its first seal: sandbox files wait for no key of production, and the
    other way round."""

    timestamping: Timestamping
    long_term: LongTerm | None = None
    """None where the settings ask for no more than a timestamp."""
    _opened: dict[str, SealingKeys] = field(default_factory=dict)

    def keys(self, environment: str) -> SealingKeys:
        """Raises ``DomainError`` when a key or certificate is missing or does not fit, or its store does not answer."""
        if environment not in self._opened:
            of: EnvironmentName = "sandbox" if environment == "sandbox" else "production"
            self._opened[environment] = sealing_keys(settings.PARAPH, of, _folder(), _secret())
        return self._opened[environment]

    def key(self, purpose: Purpose) -> SigningKey:
        """The key of seals for this purpose. Raises as :meth:`keys` does."""
        keys = self.keys(purpose.environment)
        return keys.proofs if purpose.kind == "proof" else keys.documents

    def roots(self, environment: str) -> tuple[bytes, ...]:
        """DER; what the seals of an environment are checked against. Raises as :meth:`keys` does."""
        keys = self.keys(environment)
        tops = [(key.certificate, *key.chain)[-1] for key in (keys.documents, keys.proofs)]
        return tuple(dict.fromkeys([*tops, *self.timestamping.roots]))


@cache
def sealing_context() -> SealingContext:
    """The context of the settings, made once per process. Also keeps the fonts of stamps and proofs in the data folder.

    Raises ``DomainError("configuration", …)`` when an authority or a development key cannot be used.
    """
    keep_fonts_in(settings.DATA_DIR / "fonts")
    own = development()
    lasting = long_term(settings.PARAPH, own, FetchedStatuses())
    if lasting:
        lasting.last_authority_chain = _last_authority_chain
    return SealingContext(timestamping(settings.PARAPH, own), lasting)


def development() -> DevelopmentAuthority:
    """The development authority of the data folder, made at the first start. Raises as above."""
    return development_authority(_folder(), _secret(), settings.PARAPH.development_key)


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "keys"


def _secret() -> bytes:
    return tokens.derive(settings.MASTER_KEY, "private-keys")


def _last_authority_chain() -> tuple[bytes, ...]:
    """What a process that has not sealed yet expects. Without it, its first archive timestamp brings the statuses."""
    try:
        return last_authority_chain()
    except DatabaseError:
        return ()
