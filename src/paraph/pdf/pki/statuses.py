"""Where a seal finds, beforehand, the statuses of the certificates that it and its timestamp rest on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority
from paraph.keys.revocation import VALIDITY, revocation_list
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation_data import LongTermData, Revoked

Chain = tuple[bytes, ...]
"""DER of certificates: the leaf first, the root last."""

_RENEWED_AFTER = VALIDITY / 7


class StatusUnavailable(ValueError):
    """The statuses of a chain cannot be had now; the message is the reason, without a full stop."""


class StatusSource(Protocol):
    """Somebody who knows the statuses of certificates, quickly: what takes long is found out beforehand."""

    def statuses(self, chain: Chain) -> LongTermData:
        """The statuses of every certificate of the chain below the root, in force now.

        Raises :class:`StatusUnavailable`.
        """


@dataclass(frozen=True)
class CollectedStatuses:
    """Statuses, and a sentence for each chain that has none."""

    data: LongTermData
    missing: tuple[str, ...] = ()


@dataclass
class LongTerm:
    """What makes a seal provable for long: where statuses come from, and whether an archive timestamp follows."""

    sources: Sequence[StatusSource]
    archive: bool = True
    """B-LTA; else B-LT."""
    authority_chain: Chain = ()
    """The chain of the timestamp authority that answered last, or is expected to answer first. Its statuses go into
    the revision of the seal, which is written before its timestamp comes."""
    recall: Callable[[], Chain] | None = None
    """Asked for that chain once, where no authority has answered yet."""

    def expected(self, key_chain: Chain) -> CollectedStatuses:
        """The statuses of the key's chain and of the authority that is expected to answer."""
        if not self.authority_chain and self.recall is not None:
            self.authority_chain, self.recall = self.recall(), None
        return self.of(key_chain, self.authority_chain) if self.authority_chain else self.of(key_chain)

    def of(self, *chains: Chain) -> CollectedStatuses:
        """The statuses of these chains, as far as they can be had. Raises :class:`Revoked` for the first one."""
        data, missing = LongTermData(), list[str]()
        for chain in chains:
            try:
                data += self._of(chain)
            except StatusUnavailable as error:
                missing.append(f"{error}.")
            except Revoked as error:
                if chain is chains[0]:
                    raise
                missing.append(f"{error}.")
        return CollectedStatuses(data, tuple(missing))

    def refuse(self, chain: Chain, moment: datetime) -> None:
        """Raises :class:`Revoked` where it is known that a certificate of the chain was revoked at ``moment``."""
        try:
            self._of(chain).proves(chain, moment)
        except StatusUnavailable:
            return

    def _of(self, chain: Chain) -> LongTermData:
        first, last = load(chain[0]), load(chain[-1])
        if last.issuer != last.subject:
            raise StatusUnavailable(f'The chain of "{first.name}" does not reach its root')
        reasons = []
        for source in self.sources:
            try:
                data = source.statuses(chain)
            except StatusUnavailable as error:
                reasons.append(str(error))
                continue
            if data.proves(chain, clock.now()):
                return LongTermData(certificates=chain) + data
            reasons.append(f'The statuses found for "{first.name}" prove nothing')
        raise StatusUnavailable("; ".join(reasons) or f'Nobody knows the status of "{first.name}"')


class DevelopmentStatuses:
    """The development authority's revocation list, made in this process, a day old at most.

    A list and no status answers: one serves all certificates, and without an address of a responder in the
    certificates some readers do not look at answers.
    """

    def __init__(self, authority: DevelopmentAuthority) -> None:
        self._authority = authority
        self._kept: tuple[datetime, LongTermData] | None = None

    def statuses(self, chain: Chain) -> LongTermData:
        """Raises :class:`StatusUnavailable` for chains of others."""
        if chain[1:] != (self._authority.root,) or chain[0] not in self._authority.issued:
            raise StatusUnavailable(f'"{load(chain[0]).name}" is not the development authority\'s')
        now = clock.now()
        if self._kept is None or not self._kept[0] <= now < self._kept[0] + _RENEWED_AFTER:
            self._kept = (now, LongTermData(crls=(revocation_list(self._authority, now),)))
        return self._kept[1]
