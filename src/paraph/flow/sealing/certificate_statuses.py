"""Fetching the statuses of certificates from the addresses they name, and keeping them until they lapse."""

import time
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence import statuses as rows
from paraph.evidence.models import CertificateStatus
from paraph.kernel import clock
from paraph.outbound.exchange import FetchFailed, NetworkAccess, fetch
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, StatusRequest, StatusUnavailable, holds_until, status_requests

_SEAL_WAIT_SECONDS = 3.0  # not again while the authority has failed recently
_REFRESH_SECONDS = 20.0  # for each status
_CACHED_FOR = timedelta(minutes=1)  # in memory: shorter than the margin that the table keeps


class FetchedStatuses:
    """A :class:`~paraph.pdf.pki.statuses.StatusSource` over memory, the table and the network."""

    def __init__(self) -> None:
        self._cache: dict[Chain, tuple[datetime, LongTermData]] = {}

    def statuses(self, chain: Chain) -> LongTermData:
        """Return the statuses of a chain (DER) from memory, else from the table; fetch missing ones within 3 s.

        Raises :class:`StatusUnavailable` where one is not known.
        """
        now = clock.now()
        read, data = self._cache.get(chain, (None, LongTermData()))
        if read is None or not read <= now < read + _CACHED_FOR:
            data = self._read(chain)
            self._cache[chain] = (now, data)
        return data

    def _read(self, chain: Chain) -> LongTermData:
        end, data = time.monotonic() + _SEAL_WAIT_SECONDS, LongTermData()
        try:
            for certificate, issuer in pairwise(chain):
                data += _status(certificate, issuer, end)
        except DatabaseError as error:
            raise StatusUnavailable("The table of certificate statuses cannot be read") from error
        return data


def refresh_statuses() -> int:
    """Fetch every status that is due; return how many were renewed. Safe to repeat."""
    return sum(_renew(row, time.monotonic() + _REFRESH_SECONDS) for row in rows.due())


def _status(certificate: bytes, issuer: bytes, end: float) -> LongTermData:
    row = rows.known(certificate, issuer)
    if not rows.data_of(row) and row.due_at <= clock.now():
        _renew(row, end)
    data = rows.data_of(row)
    if not data:
        reason = row.last_error or "it is being asked for"
        raise StatusUnavailable(f'The status of "{load(certificate).name}" is not known: {reason}')
    return data


def _renew(row: CertificateStatus, end: float) -> bool:
    """Ask each address that the certificate names, up to the first that proves its status; return whether one did."""
    certificate, issuer = bytes(row.certificate), bytes(row.issuer)
    reasons = []
    for question in status_requests(certificate, issuer):
        try:
            data = _fetch(question, end)
            if _proves_status(data, certificate, issuer):
                rows.heard(row, data, holds_until(data))
                return True
            reasons.append(f"{question.url} gave no answer that proves its status")
        except FetchFailed as error:
            reasons.append(f"{question.url}: {error}")
    rows.failed(row, "; ".join(reasons) or "the certificate names nobody who could be asked")
    return False


def _fetch(question: StatusRequest, end: float) -> LongTermData:
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise FetchFailed("the time was used up")
    route = NetworkAccess(allow_private=settings.PARAPH.private_addresses_allowed, proxy=settings.PARAPH.outbound_proxy)
    answer = fetch(
        question.url, route, seconds=seconds, limit=question.limit, body=question.body, headers=question.headers
    )
    return question.read(answer)


def _proves_status(data: LongTermData, certificate: bytes, issuer: bytes) -> bool:
    """Accept an answer that says "revoked" as well: its users check for that."""
    try:
        return data.proves((certificate, issuer), clock.now())
    except Revoked:
        return True
