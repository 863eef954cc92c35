"""Sealed documents and proof files: their rows, one each, even where two workers make one at the same time; the facts
of a seal in the journal; and the timestamps beside the files, which never change."""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Min

from paraph.database.rows import insert_once, kept_once
from paraph.evidence.models import NEVER_LOGGED, KeptTimestamp, ProofFile, SealedDocument, SharedContent
from paraph.kernel import clock
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp
from paraph.pdf.timestamps.timestamp import Timestamp
from paraph.signature_requests.models import RequestDocument, SignatureRequest
from paraph.tenants.models import Environment

SealedFile = SealedDocument | ProofFile
KINDS = (SealedDocument, ProofFile)

_AFTER_FAILURE = timedelta(minutes=15)
_LATE = timedelta(hours=1)
_OWN = ("sealed_at", "timestamped_at", "kms_request_id", "timestamp_failures", "level_reasons")


def seal_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Return the metadata of ``signature_request.pades_signed``. Without a timestamp, ``timestamped`` is false, the
    fields of the timestamp are null, and ``timestamp_failures`` says why. ``method`` tells whether the upload is a
    prefix of the sealed file. ``level`` is the PAdES level, and ``level_reasons`` says why it is not the level of the
    settings."""
    stamp = sealed.timestamp
    facts = {
        "signed_pdf_sha256": sealed.sha256.hex(),
        "signing_algorithm": sealed.signing_algorithm,
        "kms_key_id": sealed.kms_key_id,
        "kms_request_id": sealed.kms_request_id,
        "timestamped": stamp is not None,
        "timestamp_authority": stamp.authority if stamp else None,
        "timestamp_policy_oid": stamp.policy_oid if stamp else None,
        "timestamped_at": clock.iso(stamp.time) if stamp else None,
        "method": sealed.method,
        "level": sealed.level,
    }
    optional = {"timestamp_failures": sealed.timestamp_failures, "level_reasons": list(sealed.level_reasons)}
    return facts | {name: value for name, value in optional.items() if value}


def certificate_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Return the metadata of ``signature_request.certificate_issued``: :func:`seal_facts` with the proof's digest."""
    facts = {key: value for key, value in seal_facts(sealed).items() if key not in ("signed_pdf_sha256", "method")}
    return {"certificate_sha256": sealed.sha256.hex(), **facts}


def record_sealed_document(row: RequestDocument, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Insert the row of a sealed document; return False where it is sealed already. ``wanted`` is the level of the
    settings. The caller holds the request's row lock."""
    return insert_once(SealedDocument(request_document=row, **_facts(sealed, object_key, wanted)))


def record_proof_file(request: SignatureRequest, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Insert the row of a proof; return False where the request has one already. Otherwise as
    :func:`record_sealed_document`."""
    log_index = None if request.environment == Environment.PRODUCTION else NEVER_LOGGED
    return insert_once(ProofFile(request=request, log_index=log_index, **_facts(sealed, object_key, wanted)))


def has_proof(request_id: int) -> bool:
    return ProofFile.objects.filter(request=request_id).exists()


def _facts(sealed: SealedPdf, object_key: str, wanted: Level) -> dict[str, Any]:
    """Return the columns of the row. The journal's ``timestamped_at`` is cut to the second, as every ``_at`` of the
    API (rule 1); the row has it as exact as the authority stated it."""
    stamped_at = clock.iso_milliseconds(sealed.timestamp.time) if sealed.timestamp else None
    exact = {"sealed_at": clock.iso_milliseconds(sealed.sealed_at), "timestamped_at": stamped_at}
    facts = {name: fact for name, fact in seal_facts(sealed).items() if name != "signed_pdf_sha256"} | exact
    own = {name: facts.pop(name) for name in _OWN if facts.get(name)}
    return {
        "object_key": object_key,
        "sha256": sealed.sha256,
        "file_size": len(sealed.content),
        "seal": own,
        "shared_id": kept_once(SharedContent, {"facts": facts, "certificates": as_text(sealed.chains)}),
        "timestamp_due_at": first_due(sealed, wanted),
    }


def proof_name(request_id: int) -> str:
    return f"proof-{request_id}.pdf"


def first_due(sealed: SealedPdf, wanted: Level) -> datetime | None:
    """Return when a fresh seal needs a timestamp beside it: at once if it is below the level of the settings, else
    before its newest timestamp ages; None where the settings want no timestamps."""
    newest = sealed.archive or sealed.timestamp
    if wanted == "B-B":
        return None
    return clock.now() if newest is None or sealed.level != wanted else newest.renewal_at


@contextmanager
def claimed(kind: type[SealedFile]) -> Iterator[SealedFile | None]:
    """Yield the file of the kind that has needed a timestamp longest and that no other process has claimed; None where
    there is none. The block runs in a transaction, which holds the claim."""
    with transaction.atomic():
        due = kind.objects.filter(timestamp_due_at__lte=clock.now()).order_by("timestamp_due_at")
        yield due.select_for_update(skip_locked=True, no_key=True).first()


def overdue() -> tuple[int, float]:
    """Return how many sealed files, up to 40,000, have needed a timestamp for an hour or more, whether or not an
    attempt was made, and for how many seconds the first of them has needed one."""
    now, files = clock.now(), 0
    first = now
    for kind in KINDS:
        untried = kind.objects.filter(timestamp_late_since=None)
        for rows, since in ((untried, "timestamp_due_at"), (kind.objects.all(), "timestamp_late_since")):
            late = rows.filter(**{f"{since}__lte": now - _LATE}).order_by(since).values_list(since, flat=True)
            files += late[:10_000].count()
            first = min(first, late.first() or now)
    return files, (now - first).total_seconds()


def records_of(object_key: str) -> list[DetachedTimestamp]:
    """Return the timestamps beside a file, oldest first."""
    rows = KeptTimestamp.objects.filter(object_key=object_key).select_related("shared").order_by("position")
    return [DetachedTimestamp(bytes(row.token), LongTermData(**as_bytes(row.shared.content))) for row in rows]


def key_chain(file: SealedFile) -> list[tuple[bytes, ...]]:
    """Return a list with one chain (DER): that of the key that sealed the file."""
    return [as_bytes(file.shared.content["certificates"])["seal"]]


def keep(file: SealedFile, earlier: Sequence[DetachedTimestamp], record: DetachedTimestamp, stamp: Timestamp) -> None:
    """Store a timestamp over the claimed file and its ``earlier`` timestamps."""
    KeptTimestamp.objects.create(
        object_key=file.object_key,
        position=len(earlier) + 1,
        token=record.token,
        shared_id=kept_once(SharedContent, as_text(vars(record.statuses))),
    )
    _schedule(file, stamp.renewal_at, late_since=None)


def postpone(file: SealedFile) -> None:
    """Schedule another try for the claimed file, after one that got no timestamp."""
    _schedule(file, clock.now() + _AFTER_FAILURE, late_since=file.timestamp_late_since or file.timestamp_due_at)


def _schedule(file: SealedFile, moment: datetime, late_since: datetime | None) -> None:
    type(file).objects.filter(pk=file.pk).update(timestamp_due_at=moment, timestamp_late_since=late_since)


def as_text(lists: Mapping[str, Iterable[bytes]]) -> dict[str, list[str]]:
    """Return lists of DER as they are kept, in base64."""
    return {name: [base64.b64encode(item).decode() for item in items] for name, items in lists.items()}


def as_bytes(lists: Mapping[str, Iterable[str]]) -> dict[str, tuple[bytes, ...]]:
    """Reverse :func:`as_text`."""
    return {name: tuple(map(base64.b64decode, items)) for name, items in lists.items()}


@transaction.atomic
def forget_unused() -> int:
    """Delete shared content that nothing refers to any more; return how many rows. Rows that others have locked are
    left to the next run, and rows that a seal came to use since the first look stay: a second look finds them."""
    unused = SharedContent.objects.exclude(pk__in=list(_used())).select_for_update(skip_locked=True)
    gone = set(unused.values_list("pk", flat=True)).difference(_used())
    return SharedContent.objects.filter(pk__in=gone).delete()[0]


def _used() -> Iterator[int]:
    """Yield the ids that the tables refer to, each by one look into an index: a join may read whole tables."""
    for model in (SealedDocument, ProofFile, KeptTimestamp):
        number = 0
        while number := model.objects.filter(shared__gt=number).aggregate(next=Min("shared"))["next"] or 0:
            yield number
