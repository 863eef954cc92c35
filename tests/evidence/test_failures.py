"""Why a request is not finalized: noted with every attempt, gone once nothing is wrong."""

import pytest

from paraph.evidence import failures
from paraph.evidence.models import SealingFailure
from paraph.kernel.errors import DomainError
from tests.factories import scene

pytestmark = pytest.mark.django_db


def test_notes_the_latest_cause_and_counts() -> None:
    request = scene().request
    with pytest.raises(OSError, match="full"), failures.noted(request.pk, "seal"):
        raise OSError("disk full\0")
    with pytest.raises(DomainError), failures.noted(request.pk, "publish"):
        raise DomainError("internal_error", "The seal does not validate.")
    failure = SealingFailure.objects.get()
    assert (failure.stage, failure.cause, failure.attempts) == ("publish", "The seal does not validate.", 2)
    failures.clear(request.pk)
    assert not SealingFailure.objects.exists()


def test_what_goes_well_is_not_noted() -> None:
    with failures.noted(scene().request.pk, "seal"):
        pass
    assert not SealingFailure.objects.exists()


def test_a_cause_without_a_sentence_names_its_kind() -> None:
    request = scene().request
    with pytest.raises(KeyError), failures.noted(request.pk, "prove"):
        raise KeyError("x" * 5000)
    cause = SealingFailure.objects.get().cause
    assert cause.startswith("KeyError: ") and len(cause) == 2000
