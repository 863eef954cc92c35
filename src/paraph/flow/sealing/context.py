"""What sealing needs: from the settings, keys, timestamp authorities, and the roots that a seal must chain to; and the
statuses of certificates, fetched from the addresses that these name, and kept in a table that all processes share and
renew before they lapse."""

import base64
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError

from paraph.evidence.models import CertificateStatus, SealedDocument
from paraph.kernel import clock, tokens
from paraph.keys import DevelopmentAuthority, SealingKeys, SigningKey, development_authority, sealing_keys
from paraph.keys.sealing import EnvironmentName, root_of
from paraph.outbound.exchange import FetchFailed, NetworkAccess, fetch
from paraph.pdf.pki.certificate import load
from paraph.pdf.pki.purpose import Purpose
from paraph.pdf.pki.revocation import LongTermData, Revoked
from paraph.pdf.pki.statuses import Chain, LongTerm, StatusRequest, StatusUnavailable, holds_until, status_requests
from paraph.pdf.timestamps.authorities import long_term, timestamping
from paraph.pdf.timestamps.timestamp import Timestamping
from paraph.pdf.typesetting.fonts import keep_fonts_in

_MAX_ERROR_LENGTH = 500
_FORGOTTEN_AFTER = timedelta(days=60)
_USE_NOTED_EVERY = timedelta(days=1)
_SOONEST, _LATEST, _AFTER_FAILURE = timedelta(minutes=5), timedelta(days=1), timedelta(minutes=10)
_DEFAULT_LIFETIME = timedelta(hours=12)
_SEAL_WAIT_SECONDS = 3.0  # not again while the authority has failed recently
_REFRESH_SECONDS = 20.0  # for each status
_CACHED_FOR = timedelta(minutes=1)  # in memory: shorter than the margin that the table keeps


class FetchedStatuses:
    """A :class:`~paraph.pdf.pki.statuses.StatusSource` over memory, the table and the network."""

    def __init__(self) -> None:
        self._cache: dict[Chain, tuple[datetime, LongTermData]] = {}

    def statuses(self, chain: Chain) -> LongTermData:
        """Return the statuses of a chain (DER) from memory, else from the table; fetch missing ones within 3 s. Raise
        :class:`StatusUnavailable` where one is not known."""
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
    """Fetch every status that is due, except of certificates that were not in use for 60 days; return how many were
    renewed. Safe to repeat."""
    now = clock.now()
    due = CertificateStatus.objects.filter(due_at__lte=now, asked_at__gt=now - _FORGOTTEN_AFTER).order_by("due_at")
    return sum(_renew(row, time.monotonic() + _REFRESH_SECONDS) for row in due)


def _status(certificate: bytes, issuer: bytes, end: float) -> LongTermData:
    row = _known(certificate, issuer)
    if not _data_of(row) and row.due_at <= clock.now():
        _renew(row, end)
    data = _data_of(row)
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
                _heard(row, data)
                return True
            reasons.append(f"{question.url} gave no answer that proves its status")
        except FetchFailed as error:
            reasons.append(f"{question.url}: {error}")
    reason = "; ".join(reasons) or "the certificate names nobody who could be asked"
    row.last_error = reason[:_MAX_ERROR_LENGTH].replace("\0", "")
    row.due_at = clock.now() + _AFTER_FAILURE  # the last answer stays in use until it lapses
    row.save(update_fields=["due_at", "last_error"])
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


def _known(certificate: bytes, issuer: bytes) -> CertificateStatus:
    """Return the row of a certificate (DER), made if missing. Note, once a day, that the certificate is in use."""
    row, _ = CertificateStatus.objects.get_or_create(
        certificate_sha256=tokens.sha256(certificate), defaults={"certificate": certificate, "issuer": issuer}
    )
    if clock.now() - row.asked_at > _USE_NOTED_EVERY:
        row.asked_at = clock.now()
        row.save(update_fields=["asked_at"])
    return row


def _data_of(row: CertificateStatus) -> LongTermData:
    """Return the status of a row; empty where there is none or it has lapsed."""
    if not row.kind or row.holds_until is None or row.holds_until <= clock.now() + _SOONEST:
        return LongTermData()
    content = (bytes(row.content),)
    return LongTermData(crls=content) if row.kind == "crl" else LongTermData(ocsps=content)


def _heard(row: CertificateStatus, data: LongTermData) -> None:
    """Store an answer, to be renewed half-way to its end and at least once a day."""
    now = clock.now()
    row.kind, row.content = ("crl", data.crls[0]) if data.crls else ("ocsp", data.ocsps[0])
    row.holds_until = holds_until(data) or now + _DEFAULT_LIFETIME
    row.due_at = now + min(max((row.holds_until - now) / 2, _SOONEST), _LATEST)
    row.last_error = ""
    row.save(update_fields=["kind", "content", "holds_until", "due_at", "last_error"])


def last_authority_chain() -> tuple[bytes, ...]:
    """Return the chain (DER) of the authority that timestamped the newest sealed document, which a process expects
    before its first seal; empty where there is none or the database is away, which costs that seal an archive timestamp
    with statuses of its own."""
    chains = SealedDocument.objects.order_by("-pk").values_list("shared__content__certificates__timestamp", flat=True)
    try:
        return tuple(base64.b64decode(link) for link in chains.first() or ())
    except DatabaseError:
        return ()


@dataclass(frozen=True)
class SealingContext:
    """The context that opens the keys of an environment at its first seal, so that a missing key of one environment
    does not hold up the other. ``long_term`` is None where the settings ask for no more than a timestamp."""

    timestamping: Timestamping
    long_term: LongTerm | None = None
    _opened: dict[str, SealingKeys] = field(default_factory=dict)

    def keys(self, environment: str) -> SealingKeys:
        """Return the keys. Raise ``DomainError`` where one is missing, does not fit, or its store does not answer."""
        if environment not in self._opened:
            name: EnvironmentName = "sandbox" if environment == "sandbox" else "production"
            self._opened[environment] = sealing_keys(settings.PARAPH, name, key_folder(), *key_secrets())
        return self._opened[environment]

    def key(self, purpose: Purpose) -> SigningKey:
        """Return the key that seals for this purpose. Raise as :meth:`keys` does."""
        keys = self.keys(purpose.environment)
        return keys.proofs if purpose.kind == "proof" else keys.documents

    def roots(self, environment: str) -> tuple[bytes, ...]:
        """Return the roots (DER) that seals of an environment are checked against. Raise as :meth:`keys` does."""
        keys = self.keys(environment)
        own = [root for key in (keys.documents, keys.proofs) for root in root_of(key)]
        return tuple(dict.fromkeys([*own, *self.timestamping.roots]))


@cache
def sealing_context() -> SealingContext:
    """Return the context of the settings, one per process. Put the fonts of stamps and proofs into the data folder.
    Raise ``DomainError("configuration", …)`` when an authority or a development key cannot be used."""
    keep_fonts_in(settings.DATA_DIR / "fonts")
    authority = development()
    source = long_term(settings.PARAPH, authority, FetchedStatuses())
    if source:
        source.last_authority_chain = last_authority_chain
    return SealingContext(timestamping(settings.PARAPH, authority), source)


def development() -> DevelopmentAuthority:
    """Return the development authority of the data folder, made at the first start. Raise ``DomainError`` where its
    keys cannot be used."""
    secret, *others = key_secrets()
    return development_authority(key_folder(), secret, settings.PARAPH.development_key, others)


def key_folder() -> Path:
    """Return where this machine keeps its development keys."""
    return Path(settings.DATA_DIR) / "keys"


def key_secrets() -> list[bytes]:
    """Return the secrets that development keys may be encrypted with, first the one for new keys."""
    secrets: list[bytes] = settings.SECRETS.keys("private-keys")
    return secrets
