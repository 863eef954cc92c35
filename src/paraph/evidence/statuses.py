"""The table of certificate statuses, which all processes share and renew before they lapse."""

import base64
from collections.abc import Iterator
from datetime import datetime, timedelta

from paraph.evidence.models import CertificateStatus, SealedDocument
from paraph.kernel import clock, tokens
from paraph.pdf.pki.revocation import LongTermData

_MAX_ERROR_LENGTH = 500
_FORGOTTEN_AFTER = timedelta(days=60)
_USE_NOTED_EVERY = timedelta(days=1)
_SOONEST, _LATEST, _AFTER_FAILURE = timedelta(minutes=5), timedelta(days=1), timedelta(minutes=10)
_DEFAULT_LIFETIME = timedelta(hours=12)


def last_authority_chain() -> tuple[bytes, ...]:
    """Return the chain (DER) of the authority that timestamped the newest sealed document; empty where there is
    none."""
    newest = SealedDocument.objects.order_by("-pk").values_list("seal__certificates__timestamp", flat=True).first()
    return tuple(base64.b64decode(link) for link in newest or ())


def known(certificate: bytes, issuer: bytes) -> CertificateStatus:
    """Return the row of a certificate (DER), made if missing. Notes, once a day, that the certificate is in use."""
    row, _ = CertificateStatus.objects.get_or_create(
        certificate_sha256=tokens.sha256(certificate), defaults={"certificate": certificate, "issuer": issuer}
    )
    if clock.now() - row.asked_at > _USE_NOTED_EVERY:
        row.asked_at = clock.now()
        row.save(update_fields=["asked_at"])
    return row


def data_of(row: CertificateStatus) -> LongTermData:
    """Return the status of a row; empty where there is none or it has lapsed."""
    if not row.kind or row.holds_until is None or row.holds_until <= clock.now() + _SOONEST:
        return LongTermData()
    content = (bytes(row.content),)
    return LongTermData(crls=content) if row.kind == "crl" else LongTermData(ocsps=content)


def heard(row: CertificateStatus, data: LongTermData, until: datetime | None) -> None:
    """Store an answer, to be renewed half-way to its end and at least once a day."""
    now = clock.now()
    row.kind, row.content = ("crl", data.crls[0]) if data.crls else ("ocsp", data.ocsps[0])
    row.holds_until = until or now + _DEFAULT_LIFETIME
    row.due_at = now + min(max((row.holds_until - now) / 2, _SOONEST), _LATEST)
    row.last_error = ""
    row.save(update_fields=["kind", "content", "holds_until", "due_at", "last_error"])


def failed(row: CertificateStatus, reason: str) -> None:
    """Record a failure: nobody is asked for 10 minutes, and the last answer stays in use until it lapses."""
    row.due_at, row.last_error = clock.now() + _AFTER_FAILURE, reason[:_MAX_ERROR_LENGTH].replace("\0", "")
    row.save(update_fields=["due_at", "last_error"])


def due() -> Iterator[CertificateStatus]:
    """Yield the rows to be renewed, without certificates that were not in use for 60 days."""
    now = clock.now()
    yield from CertificateStatus.objects.filter(due_at__lte=now, asked_at__gt=now - _FORGOTTEN_AFTER).order_by("due_at")
