"""Why a request is not finalized yet: kept for operators until it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db.models import F

from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.rows.prepared import prepared_cursor

_LONGEST_CAUSE = 2000


@contextmanager
def noted(request_id: int, stage: str) -> Iterator[None]:
    """Notes what goes wrong inside, with the stage (``seal``, ``prove`` or ``publish``), and passes it on.
    Enter it outside of any transaction: the note must outlive the work."""
    try:
        yield
    except Exception as error:
        _note(request_id, stage, _cause(error))
        raise


def clear(request_id: int) -> None:
    """Nothing is wrong with this request any more."""
    with prepared_cursor() as cursor:
        cursor.execute("DELETE FROM evidence_sealingfailure WHERE request_id = %s", [request_id])


def _note(request_id: int, stage: str, cause: str) -> None:
    latest = {"stage": stage, "cause": cause, "failed_at": clock.now()}
    SealingFailure.objects.update_or_create(
        request_id=request_id,
        defaults={**latest, "attempts": F("attempts") + 1},
        create_defaults={**latest, "attempts": 1},
    )


def _cause(error: Exception) -> str:
    text = error.message if isinstance(error, DomainError) else str(error)
    kind = "" if isinstance(error, DomainError) else f"{type(error).__name__}: "
    return f"{kind}{text}"[:_LONGEST_CAUSE].replace("\0", "")
