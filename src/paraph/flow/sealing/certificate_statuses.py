"""The statuses of certificates that others issued: fetched from where the certificates say, kept until they lapse."""

import time
from datetime import datetime, timedelta
from itertools import pairwise

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence import statuses as rows
from paraph.evidence.models import CertificateStatus
from paraph.kernel import clock
from paraph.outbound.exchange import NetworkAccess
from paraph.outbound.fetch import FetchFailed, fetch
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.revocation_data import LongTermData, Revoked
from paraph.pdf.pki.status_questions import StatusQuestion, holds_until, status_questions
from paraph.pdf.pki.statuses import Chain, StatusUnavailable

_SEAL_WAITS = 3.0  # seconds, once; a seal waits for no authority that failed a moment ago
_REFRESH_TAKES = 20.0
_KEPT = timedelta(minutes=1)  # in the memory of a process: less than the margin that the table keeps


class FetchedStatuses:
    """A :class:`~paraph.pdf.pki.statuses.StatusSource`."""

    def __init__(self) -> None:
        self._kept: dict[Chain, tuple[datetime, LongTermData]] = {}

    def statuses(self, chain: Chain) -> LongTermData:
        """From memory, then from the table; what is not there is fetched at once, in a few seconds or not at all.

        Raises :class:`StatusUnavailable`.
        """
        now = clock.now()
        read, data = self._kept.get(chain, (None, LongTermData()))
        if read is None or not read <= now < read + _KEPT:
            data = self._read(chain)
            self._kept[chain] = (now, data)
        return data

    def _read(self, chain: Chain) -> LongTermData:
        end, data = time.monotonic() + _SEAL_WAITS, LongTermData()
        try:
            for certificate, issuer in pairwise(chain):
                data += _status(certificate, issuer, end)
        except DatabaseError as error:
            raise StatusUnavailable("The table of certificate statuses cannot be read") from error
        return data


def refresh_statuses() -> int:
    """Asks again for every status that is due; returns how many were renewed. Safe to repeat."""
    return sum(_renewed(row, time.monotonic() + _REFRESH_TAKES) for row in rows.due())


def _status(certificate: bytes, issuer: bytes, end: float) -> LongTermData:
    row = rows.known(certificate, issuer)
    if not rows.data_of(row) and row.due_at <= clock.now():
        _renewed(row, end)
    data = rows.data_of(row)
    if not data:
        reason = row.last_error or "it is being asked for"
        raise StatusUnavailable(f'The status of "{load(certificate).name}" is not known: {reason}')
    return data


def _renewed(row: CertificateStatus, end: float) -> bool:
    """Whether one of the ways that the certificate names gave a genuine answer."""
    certificate, issuer = bytes(row.certificate), bytes(row.issuer)
    reasons = []
    for question in status_questions(certificate, issuer):
        try:
            data = _asked(question, end)
            if _is_genuine(data, certificate, issuer):
                rows.heard(row, data, holds_until(data))
                return True
            reasons.append(f"{question.url} gave no valid answer")
        except FetchFailed as error:
            reasons.append(f"{question.url}: {error}")
    rows.failed(row, "; ".join(reasons) or "the certificate names nobody who could be asked")
    return False


def _asked(question: StatusQuestion, end: float) -> LongTermData:
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise FetchFailed("the time was used up")
    route = NetworkAccess(allow_private=settings.PARAPH.private_addresses_allowed, proxy=settings.PARAPH.outbound_proxy)
    answer = fetch(
        question.url, route, seconds=seconds, limit=question.limit, body=question.body, headers=question.headers
    )
    return question.read(answer)


def _is_genuine(data: LongTermData, certificate: bytes, issuer: bytes) -> bool:
    """Also when it says that the certificate was revoked: whoever uses it will see."""
    try:
        return data.proves((certificate, issuer), clock.now())
    except Revoked:
        return True
