"""Noting why a request is not finalized yet, until it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error as DatabaseError
from django.db.models import F

from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import ReadersUnavailable, SealError

_MAX_CAUSE_LENGTH = 2000
_MAX_SENTENCE_LENGTH = 500
_FILE = "file"
_KINDS = {"internal_error": "stored", "configuration": "settings", "unavailable": "key"}  # by code of DomainError
_SENTENCES = {
    _FILE: "The file cannot be sealed: %s",
    "stored": "A stored file is not the one that was put there.",
    "settings": "The service is not set up to seal at the moment.",
    "key": "The sealing key of the service does not answer.",
    "machine": "The machine of the service has no time or memory to seal.",
    "outside": "The storage, the database or the network of the service fails.",
}


@contextmanager
def noted(request_id: int, stage: str) -> Iterator[None]:
    """Note an exception of the block with its stage (``seal``, ``prove`` or ``publish``), and raise it again.

    Must be entered outside of transactions, as the note must survive a rollback.
    """
    try:
        yield
    except Exception as error:
        note(request_id, stage, error)
        raise


def note(request_id: int, stage: str, error: Exception) -> None:
    """Record the latest cause, and count the attempt."""
    latest = {"stage": stage, "kind": _kind(error), "cause": cause_of(error), "failed_at": clock.now()}
    SealingFailure.objects.update_or_create(
        request_id=request_id,
        defaults={**latest, "attempts": F("attempts") + 1},
        create_defaults={**latest, "attempts": 1},
    )


def clear(request_id: int) -> None:
    SealingFailure.objects.filter(request=request_id).delete()


def cause_of(error: BaseException) -> str:
    """Return the cause as operators see it. It may name paths and hosts."""
    text = error.message if isinstance(error, DomainError) else str(error)
    kind = "" if isinstance(error, DomainError) else f"{type(error).__name__}: "
    return f"{kind}{text}"[:_MAX_CAUSE_LENGTH].replace("\0", "")


def public_cause(failure: SealingFailure) -> str:
    """Return the cause as clients see it: one sentence without details of the machine."""
    sentence = _SENTENCES.get(failure.kind, "A fault of the service.")
    if failure.kind != _FILE:
        return sentence
    return (sentence % failure.cause.partition(": ")[2])[:_MAX_SENTENCE_LENGTH]


def _kind(error: Exception) -> str:
    if isinstance(error, SealError):
        return _FILE
    if isinstance(error, ReadersUnavailable):
        return "machine"
    if isinstance(error, DomainError):
        return _KINDS.get(error.code, "")
    return "outside" if isinstance(error, OSError | DatabaseError) else ""
