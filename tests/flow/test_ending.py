"""Requests that end before they are signed: early (status ``expired``, no new state), or because their time is over."""

import json
from itertools import count

import pytest
from django.test import Client

from paraph.flow import ending
from paraph.flow.ending import end_early, end_requests_of_deleted, expire, expire_due
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.request_state import explain
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import close_organization
from paraph.webhooks.models import Delivery
from tests.factories import scene, sign
from tests.flow.test_jobs import work_off
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


CALLBACK = "https://callback.example/done"


def test_it_is_expired_and_keeps_its_time() -> None:
    made = scene(signers=2)
    before = made.request.expires_at
    end_early(OPERATOR, made.request.pk, " Wrong contract ")
    made.request.refresh_from_db()
    assert (made.request.status, made.request.expires_at) == ("expired", before)
    [*_, last] = made.entries()
    assert last.event_type == "request.expired"
    assert (last.metadata["ended_early"], last.metadata["reason"]) == (True, "Wrong contract")
    assert "expires_at" in last.metadata
    assert explain(made.request, []).endswith(": Wrong contract")


def test_webhook_and_callback_state_it_beside_the_request() -> None:
    made, _ = told(callback_url=CALLBACK)
    end_early(OPERATOR, made.request.pk, "Wrong contract")
    payloads = [json.loads(text) for text in Delivery.objects.values_list("payload", flat=True)]
    assert len(payloads) == 2
    for payload in payloads:
        assert (payload["event"], payload["signature_request"]["status"]) == ("request.expired", "expired")
        assert payload["metadata"] == {"ended_early": True, "reason": "Wrong contract"}


def test_an_end_in_time_has_no_metadata() -> None:
    made, _ = told()
    SignatureRequest.objects.filter(pk=made.request.pk).update(expires_at=made.request.created_at)
    assert expire(made.request.pk)
    assert "metadata" not in json.loads(Delivery.objects.get().payload)


def test_nobody_can_sign_any_more_and_the_page_says_since_when() -> None:
    made = scene()
    code = made.code()
    request = end_early(OPERATOR, made.request.pk, "Wrong contract")
    page = Client().get(made.url())
    assert page.status_code == 410
    assert request.ended_early_at
    assert request.ended_early_at.strftime("%Y") in page.content.decode()
    body = {"code": code, "consent": True}
    answer = Client().post(made.url(rest="/signature"), json.dumps(body), "application/json")
    assert answer.json()["error"]["code"] == "expired"


@pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\x00b", "two\nlines"])
def test_a_reason_is_a_line(reason: str) -> None:
    made = scene()
    with pytest.raises(DomainError, match="1 to 500 printable"):
        end_early(OPERATOR, made.request.pk, reason)
    made.request.refresh_from_db()
    assert made.request.status == "pending"


def test_what_is_over_cannot_be_ended() -> None:
    made = scene()
    sign(made)
    work_off()
    with pytest.raises(DomainError, match="is completed and cannot be ended") as refused:
        end_early(OPERATOR, made.request.pk, "Too late")
    assert refused.value.code == "conflict"
    with pytest.raises(DomainError, match="no signature request 999999"):
        end_early(OPERATOR, 999999, "x")


def test_requests_of_deleted_organizations_end_and_others_go_on() -> None:
    gone, others = scene(), scene()
    close_organization(gone.request.organization_id, OPERATOR)
    assert (end_requests_of_deleted(), end_requests_of_deleted()) == (1, 0)
    for made, status in ((gone, "expired"), (others, "pending")):
        made.request.refresh_from_db()
        assert made.request.status == status
    assert Client().get(gone.url()).status_code == 404
    assert Client().get(others.url()).status_code == 200


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
