"""Requests that end before they are signed: early (status ``expired``, no new state), or because their time is over."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from django.test import Client
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.flow import ending
from paraph.flow.ending import delete_organization, end_early, end_requests_of_deleted, expire, expire_due
from paraph.flow.sending.invite import invite
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.email import handed_over
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import pending_steps
from paraph.operations.request_state import explain
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import close_organization
from paraph.webhooks.models import Delivery
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off
from tests.tenancy import suspend
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
    in_time, _ = told()
    SignatureRequest.objects.filter(pk=in_time.request.pk).update(expires_at=in_time.request.created_at)
    assert expire(in_time.request.pk)
    assert "metadata" not in json.loads(Delivery.objects.get(request=in_time.request).payload)


def test_nobody_can_sign_any_more_and_the_page_says_since_when(made: Scene) -> None:
    code = made.code()
    request = end_early(OPERATOR, made.request.pk, "Wrong contract")
    page = Client().get(made.url())
    assert page.status_code == 410
    assert request.ended_early_at
    said = page.content.decode()
    assert '<body data-state="withdrawn">' in said and "This request was withdrawn" in said
    assert "withdrew this request on" in said and "The time to sign" not in said
    assert request.ended_early_at.strftime("%Y") in said
    body = {"code": code, "consent": True}
    answer = Client().post(made.url(rest="/signature"), json.dumps(body), "application/json")
    assert answer.json()["error"]["code"] == "expired"


@pytest.mark.parametrize("reason", ["x" * 501, "a\x00b", "two\nlines"])
def test_a_reason_is_a_line(reason: str, made: Scene) -> None:
    with pytest.raises(DomainError, match="at most 500 printable"):
        end_early(OPERATOR, made.request.pk, reason)
    made.request.refresh_from_db()
    assert made.request.status == "pending"


@pytest.mark.django_db(transaction=True)
def test_everybody_who_was_invited_is_told_once_and_nobody_else() -> None:
    made = scene(signers=4, send_email=True)
    Signer.objects.filter(pk=made.signers[1].pk).update(status="notified")
    taken = {"taken_at": clock.now().isoformat(), "acknowledgement": "250 ok"}
    Signer.objects.filter(pk=made.signers[2].pk).update(invitation=taken)  # the mail is out, and not yet journaled
    sign(made)
    CapturedMessage.objects.all().delete()
    end_early(OPERATOR, made.request.pk, "Wrong contract")
    for _ in range(2):  # a job may run twice
        work_off()
    mails = {mail.to: mail for mail in CapturedMessage.objects.filter(subject="Acme Ltd withdrew the request")}
    assert set(mails) == {signer.email for signer in made.signers[:3]}
    assert CapturedMessage.objects.count() == 3
    assert all("> Wrong contract" in mail.text for mail in mails.values())
    assert "Signatures given so far won’t count." in mails[made.signers[0].email].text
    assert "You don’t need to do anything." in mails[made.signers[1].email].text


@pytest.mark.django_db(transaction=True)
def test_whoever_is_invited_while_it_is_withdrawn_is_told() -> None:
    made = scene(send_email=True)
    with withdrawing_while_mailing(made.request.pk):
        invite(made.signers[0].pk)
    work_off()
    assert [mail.subject for mail in CapturedMessage.objects.order_by("pk")] == [
        "Acme Ltd asks you to sign",
        "Acme Ltd withdrew the request",
    ]


@contextmanager
def withdrawing_while_mailing(request_id: int) -> Iterator[None]:
    """The request is withdrawn between the moment that its invitation was due and that in which it is noted."""

    @contextmanager
    def send(*mail: Any, **more: Any) -> Iterator[str]:
        end_early(OPERATOR, request_id, "")
        with handed_over(*mail, **more) as acknowledgement:
            yield acknowledgement

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("paraph.flow.messages.sent_once.handed_over", send)
        yield


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sends_mails", [True, False])
def test_nobody_is_told_of_a_deleted_organization_or_by_a_request_that_mails_nobody(sends_mails: bool) -> None:
    made = scene(send_email=sends_mails)
    Signer.objects.update(status="notified")
    if sends_mails:
        delete_organization(made.request.organization_id, OPERATOR)
    else:
        end_early(OPERATOR, made.request.pk, "")
    work_off()
    assert not CapturedMessage.objects.exists() and SignatureRequest.objects.get().status == "expired"


def test_mails_about_a_withdrawal_whose_jobs_are_lost_are_asked_for_again() -> None:
    made = scene(send_email=True)
    Signer.objects.update(status="notified")
    end_early(OPERATOR, made.request.pk, "")
    ProcrastinateJob.objects.all().delete()
    [step] = pending_steps(SignatureRequest.objects.get())
    assert (step.task, step.words) == ("tell_signer_of_end", "the mail to Ada Lovelace about the withdrawal")
    Signer.objects.update(end_told_at=clock.now())
    assert pending_steps(SignatureRequest.objects.get()) == []


def test_who_has_signed_reads_that_it_does_not_count() -> None:
    made = scene(signers=2)
    sign(made)
    end_early(OPERATOR, made.request.pk, "")
    said = Client().get(made.url()).content.decode()
    assert 'data-state="already_signed"' in said
    assert "withdrew this request. Signatures given so far won’t count." in said


def test_what_is_over_cannot_be_ended(made: Scene) -> None:
    sign(made)
    work_off()
    with pytest.raises(DomainError, match="is completed and cannot be ended") as refused:
        end_early(OPERATOR, made.request.pk, "Too late")
    assert refused.value.code == "conflict"
    with pytest.raises(DomainError, match="no signature request 999999"):
        end_early(OPERATOR, 999999, "x")


def test_requests_of_deleted_organizations_end_and_others_go_on() -> None:
    gone, suspended, others = scene(), scene(), scene()
    close_organization(gone.request.organization_id, OPERATOR)
    suspend(suspended.request.organization_id)
    assert (end_requests_of_deleted(), end_requests_of_deleted()) == (1, 0)
    for made, status in ((gone, "expired"), (suspended, "pending"), (others, "pending")):
        made.request.refresh_from_db()
        assert made.request.status == status
    assert Client().get(gone.url()).status_code == 404
    for made in (suspended, others):
        body = {"code": made.code(), "consent": True}
        assert Client().get(made.url()).status_code == 200
        assert Client().post(made.url(rest="/signature"), body, "application/json").status_code == 200


@pytest.fixture
def due(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Five requests that ended in the same moment, of which two are read at a time."""
    monkeypatch.setattr(ending, "_EXPIRED_AT_ONCE", 2)
    made = [scene().request.pk for _ in range(5)]
    SignatureRequest.objects.filter(pk__in=made).update(expires_at=clock.now())
    return made


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
