"""Why a request is not finalized yet: kept for operators until it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error as DatabaseError
from django.db.models import F

from paraph.database.prepared_statements import prepared_cursor
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.errors import SealError
from paraph.pdf.refusal import ReadersUnavailable

_LONGEST_CAUSE = 2000
_LONGEST_TOLD = 500
_FILE = "file"
_KINDS = {"internal_error": "stored", "configuration": "settings", "unavailable": "key"}  # by the code of the error
_TOLD = {
    _FILE: "The file cannot be sealed: %s",
    "stored": "A stored file is not the one that was put there.",
    "settings": "The service is not set up to seal at the moment.",
    "key": "The sealing key of the service does not answer.",
    "machine": "The machine of the service has no time or memory to seal.",
    "outside": "The storage, the database or the network of the service fails.",
}


@contextmanager
def noted(request_id: int, stage: str) -> Iterator[None]:
    """Notes what goes wrong inside, with the stage (``seal``, ``prove`` or ``publish``), and passes it on.
    Enter it outside of any transaction: the note must outlive the work."""
    try:
        yield
    except Exception as error:
        note(request_id, stage, error)
        raise


def note(request_id: int, stage: str, error: Exception) -> None:
    """The latest cause, and once more that there was one."""
    latest = {"stage": stage, "kind": _kind(error), "cause": cause_of(error), "failed_at": clock.now()}
    SealingFailure.objects.update_or_create(
        request_id=request_id,
        defaults={**latest, "attempts": F("attempts") + 1},
        create_defaults={**latest, "attempts": 1},
    )


def clear(request_id: int) -> None:
    """Nothing is wrong with this request any more."""
    with prepared_cursor() as cursor:
        cursor.execute("DELETE FROM evidence_sealingfailure WHERE request_id = %s", [request_id])


def cause_of(error: BaseException) -> str:
    """What operators are told: it may name paths and hosts."""
    text = error.message if isinstance(error, DomainError) else str(error)
    kind = "" if isinstance(error, DomainError) else f"{type(error).__name__}: "
    return f"{kind}{text}"[:_LONGEST_CAUSE].replace("\0", "")


def told(failure: SealingFailure) -> str:
    """What clients are told, in one sentence: nothing of the machine."""
    sentence = _TOLD.get(failure.kind, "A fault of the service.")
    if failure.kind != _FILE:
        return sentence
    return (sentence % failure.cause.partition(": ")[2])[:_LONGEST_TOLD]


def _kind(error: Exception) -> str:
    if isinstance(error, SealError):
        return _FILE
    if isinstance(error, ReadersUnavailable):
        return "machine"
    if isinstance(error, DomainError):
        return _KINDS.get(error.code, "")
    return "outside" if isinstance(error, OSError | DatabaseError) else ""
