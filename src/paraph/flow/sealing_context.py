"""What seals are made with: the key, the timestamp authorities, and the roots that a seal must chain to."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence.statuses import last_authority_chain
from paraph.flow.certificate_statuses import FetchedStatuses
from paraph.kernel import tokens
from paraph.keys import DevelopmentAuthority, SigningKey, development_authority, sealing_key
from paraph.pdf.authorities import long_term, timestamping
from paraph.pdf.fonts import keep_fonts_in
from paraph.pdf.statuses import LongTerm
from paraph.pdf.timestamp import Timestamping


@dataclass(frozen=True)
class SealingContext:
    """``roots``: DER; what a seal of this service is checked against."""

    key: SigningKey
    timestamping: Timestamping
    roots: tuple[bytes, ...]
    long_term: LongTerm | None = None
    """None where the settings ask for no more than a timestamp."""


@cache
def sealing_context() -> SealingContext:
    """The context of the settings, made once per process. Also keeps the fonts of stamps and proofs in the data folder.

    Raises ``DomainError("configuration", …)`` when a key or certificate is missing or does not fit.
    """
    keep_fonts_in(settings.DATA_DIR / "fonts")
    own = development()
    key = sealing_key(settings.PARAPH, _folder(), _secret())
    authorities = timestamping(settings.PARAPH, own)
    root = key.chain[-1] if key.chain else key.certificate
    lasting = long_term(settings.PARAPH, own, FetchedStatuses())
    if lasting:
        lasting.recall = _last_authority_chain
    return SealingContext(key, authorities, (root, *authorities.roots), lasting)


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
