"""Expiring very many requests: a batch at a time, each once, and no longer than the worker lives."""

from itertools import count

import pytest

from paraph.flow import ending
from paraph.flow.ending import expire_due
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from tests.factories import scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def due(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Five requests that ended in the same moment, of which two are read at a time."""
    monkeypatch.setattr(ending, "_EXPIRED_AT_ONCE", 2)
    made = [scene().request.pk for _ in range(5)]
    SignatureRequest.objects.filter(pk__in=made).update(expires_at=clock.now())
    return made


def test_every_batch_goes_on_where_the_last_one_ended(due: list[int]) -> None:
    assert expire_due() == 5


def test_those_that_fail_keep_no_later_batch_waiting(due: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def fail(request_id: int) -> bool:
        tried.append(request_id)
        raise RuntimeError("something about all of them")

    monkeypatch.setattr(ending, "expire", fail)
    with pytest.raises(RuntimeError):
        expire_due()
    assert tried == due


def test_a_worker_that_is_to_end_leaves_the_rest(due: list[int]) -> None:
    looks = count()
    assert expire_due(lambda: next(looks) >= 3) == 3
    assert expire_due() == 2
