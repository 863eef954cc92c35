"""Requests that end before they are signed: early (status ``expired``, no new state), when their time is over, or when
a signer declines, whose reason is erased with the signer. A signer's question is mailed to the sender."""

import json
from itertools import count
from typing import Any

import pytest
from django.test import Client

from paraph.audit_trail.journal import broken_at
from paraph.flow import ending
from paraph.flow.ending import delete_organization, end_early, end_requests_of_deleted, expire, expire_due
from paraph.flow.messages import emails
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.personal_data.erase import erase_signer, show_person
from paraph.flow.sending.invite import invite
from paraph.flow.signing.decline_or_ask import ask, decline, forward_inquiry
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.messaging.models import CapturedMessage
from paraph.operations.pending_work import pending_steps
from paraph.operations.request_state import explain
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import close_organization
from paraph.tenants.models import Activity, MutedMail, Organization, User
from paraph.webhooks.models import Delivery, Event
from tests.factories import VISITOR, Scene, scene, sign
from tests.flow.test_erase import everything
from tests.flow.test_jobs import work_off
from tests.flow.test_sign import signing
from tests.flow.test_tell_sender import SENDER, sent
from tests.refusing import RefusingServer
from tests.tenancy import suspend
from tests.threads import at_once
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


CALLBACK = "https://callback.example/done"
CONTACT = "contracts@acme.example"


def test_it_is_expired_and_keeps_its_time() -> None:
    made = scene(signers=2)
    before = made.request.expires_at
    end_early(OPERATOR, made.request.pk, " Wrong contract ")
    made.request.refresh_from_db()
    assert (made.request.status, made.request.expires_at) == ("expired", before)
    [*_, last] = made.entries()
    assert last.event_type == "request.expired"
    assert (last.metadata["ended_early"], last.metadata["reason"]) == (True, "Wrong contract")
    assert last.salts is None, "the reason of a sender is no personal value"
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


def test_nobody_can_sign_any_more_and_the_page_says_since_when() -> None:
    made = scene(signers=2)
    sign(made)
    code = made.code(1)
    request = end_early(OPERATOR, made.request.pk, "Wrong contract")
    page = Client().get(made.url(1))
    assert page.status_code == 410
    assert request.ended_early_at
    said = page.content.decode()
    assert '<body data-state="withdrawn">' in said and "This request was withdrawn" in said
    assert "withdrew this request on" in said and "The time to sign" not in said
    assert request.ended_early_at.strftime("%Y") in said
    body = {"code": code, "consent": True}
    answer = Client().post(made.url(1, "/signature"), json.dumps(body), "application/json")
    assert answer.json()["error"]["code"] == "expired"
    said = Client().get(made.url()).content.decode()
    assert 'data-state="already_signed"' in said
    assert "withdrew this request. Signatures given so far won’t count." in said


def test_a_reason_is_a_line_and_what_is_over_cannot_be_ended(made: Scene) -> None:
    for reason in ("x" * 501, "a\x00b", "two\nlines"):
        with pytest.raises(DomainError, match="at most 500 printable"):
            end_early(OPERATOR, made.request.pk, reason)
    assert SignatureRequest.objects.get().status == "pending"
    end_early(OPERATOR, made.request.pk, "x" * 500)
    with pytest.raises(DomainError, match="is expired and cannot be ended") as refused:
        end_early(OPERATOR, made.request.pk, "Too late")
    assert refused.value.code == "conflict"
    with pytest.raises(DomainError, match="no signature request 999999"):
        end_early(OPERATOR, 999999, "x")


@pytest.mark.django_db(transaction=True)
def test_everybody_who_was_invited_is_told_once_and_nobody_else() -> None:
    made = scene(signers=4, send_email=True)
    Signer.objects.filter(pk=made.signers[1].pk).update(status="notified")
    taken = {"taken_at": clock.now().isoformat(), "acknowledgement": "250 ok"}
    Signer.objects.filter(pk=made.signers[2].pk).update(invitation=taken)  # the mail is sent but not yet journaled
    sign(made)
    CapturedMessage.objects.all().delete()
    request = end_early(OPERATOR, made.request.pk, "Wrong contract")
    owed = [f"the mail to {signer.full_name} about the withdrawal" for signer in made.signers[:3]]
    assert [step.words for step in pending_steps(request)] == owed
    for _ in range(2):  # a job may run twice
        work_off()
    assert pending_steps(request) == []
    mails = {mail.to: mail for mail in CapturedMessage.objects.filter(subject="Acme Ltd withdrew the request")}
    assert set(mails) == {signer.email for signer in made.signers[:3]}
    assert CapturedMessage.objects.count() == 3
    assert all("> Wrong contract" in mail.text for mail in mails.values())
    assert "Signatures given so far won’t count." in mails[made.signers[0].email].text
    assert "You don’t need to do anything." in mails[made.signers[1].email].text


@pytest.mark.django_db(transaction=True)
def test_whoever_is_invited_while_it_is_withdrawn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made, write = scene(send_email=True), emails.invitation

    def withdrawn_meanwhile(signer: Signer, url: str) -> Any:
        mail = write(signer, url)
        end_early(OPERATOR, made.request.pk, "")
        return mail

    monkeypatch.setattr(emails, "invitation", withdrawn_meanwhile)
    invite(made.signers[0].pk)
    work_off()
    assert [mail.subject for mail in CapturedMessage.objects.order_by("pk")] == [
        "Acme Ltd asks you to sign",
        "Acme Ltd withdrew the request",
    ]


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
    """Five requests that end at the same moment and are read two at a time."""
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


REASON = "The rent is wrong:\nit says 1200."


def declined(made: Scene, position: int = 0) -> SignatureRequest:
    return decline(made.signer(position), REASON, VISITOR)


def test_the_request_ends_early_and_the_signer_stays_as_they_were() -> None:
    made, _ = told(signers=2, decline_allowed=True)
    request = declined(made)
    request.refresh_from_db()
    assert (request.status, request.ended_reason, request.declined_by_id) == ("expired", REASON, made.signers[0].pk)
    assert request.ended_early_at and Signer.objects.get(pk=made.signers[0].pk).status == "pending"
    [*_, last] = made.entries()
    facts = {"ended_early": True, "declined": True, "signer_id": made.signers[0].pk, "reason": REASON}
    assert last.event_type == "request.expired" and last.created_at == request.ended_early_at
    assert {key: last.metadata[key] for key in facts} == facts and "expires_at" in last.metadata
    assert (last.signer_id, last.ip) == (made.signers[0].pk, VISITOR.ip)
    for row in (Delivery.objects.get(), Event.objects.get(event_type="request.expired")):
        content = json.loads(row.payload)
        assert content["metadata"] == facts and "signer" not in content
    noted = Activity.objects.latest("pk")
    assert (noted.action, noted.actor_kind) == ("signer.declined", "signer") and REASON not in str(noted.after)


@pytest.mark.parametrize("reason", ["", " \r\n ", "é" * 501])
def test_a_reason_has_1_to_500_characters(reason: str) -> None:
    made = scene(decline_allowed=True)
    with pytest.raises(DomainError) as refused:
        decline(made.signers[0], reason, VISITOR)
    assert refused.value.code == "validation_error"
    assert SignatureRequest.objects.get().status == "pending"


def test_who_may_not_sign_may_not_decline() -> None:
    made = scene(signers=2, mode="sequential")

    def refused(position: int) -> str:
        with pytest.raises(DomainError) as refusal:
            declined(made, position)
        return refusal.value.code

    assert refused(0) == refused(1) == "decline_not_allowed"
    SignatureRequest.objects.update(decline_allowed=True)
    assert refused(1) == "not_your_turn"
    sign(made)
    assert refused(0) == "already_signed"
    declined(made, 1)
    assert refused(1) == "expired"


def mails() -> dict[str, CapturedMessage]:
    work_off()
    return {mail.to: mail for mail in CapturedMessage.objects.exclude(subject__contains="signing code")}


@pytest.mark.django_db(transaction=True)
def test_those_concerned_are_told_once() -> None:
    made = sent(signers=4, decline_allowed=True)
    Organization.objects.update(contact_email=CONTACT)
    Signer.objects.filter(pk=made.signers[1].pk).update(status="notified")
    sign(made, 2)
    declined(made)
    told_them = mails()
    others = {made.signers[1].email, made.signers[2].email}
    assert set(told_them) == {CONTACT, SENDER} | others
    contact, member = told_them[CONTACT], told_them[SENDER]
    assert contact.subject == "Ada Lovelace has declined" and "it says 1200." in contact.text
    assert "Ada Lovelace declined to sign “Lease of the pier”" in member.text and "> it says 1200." in member.text
    for address in others:
        assert "Someone has declined" in told_them[address].text
        assert "Lovelace" not in told_them[address].text and "1200" not in told_them[address].text
    assert CapturedMessage.objects.exclude(subject__contains="signing code").count() == 4
    CapturedMessage.objects.all().delete()
    work_off()  # runs each job once more, as after a crash
    assert not CapturedMessage.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decliner", [0, 1])
def test_a_sender_who_signs_and_answers_for_the_organization_is_told_once(decliner: int) -> None:
    made = sent(decline_allowed=True)
    sender = made.signers[1].email
    Organization.objects.update(contact_email=sender.upper())
    User.objects.update(email=sender)
    Signer.objects.update(status="notified")
    declined(made, decliner)
    work_off()
    told_them = CapturedMessage.objects.filter(to__iexact=sender)
    assert [mail.subject for mail in told_them] == ["Ada Lovelace declined: Lease of the pier"][decliner:]
    MutedMail.objects.create(user=User.objects.get(), kind="declined")
    CapturedMessage.objects.all().delete()
    work_off()
    subjects = {mail.subject for mail in CapturedMessage.objects.filter(to__iexact=sender)}
    own = {"Ada Lovelace has declined", "The request has ended: Acme Ltd"}
    assert subjects == ({"Émile Zola has declined"} if decliner else own), "nothing as the sender"


@pytest.mark.django_db(transaction=True)
def test_a_request_that_mails_nobody_tells_its_sender_alone() -> None:
    made = scene(signers=2, decline_allowed=True)
    Organization.objects.update(contact_email=CONTACT)
    Signer.objects.update(status="notified")
    declined(made)
    assert set(mails()) == {CONTACT}


@pytest.mark.django_db(transaction=True)
def test_who_is_erased_meanwhile_is_told_nothing() -> None:
    made = scene(signers=3, send_email=True, decline_allowed=True)
    Signer.objects.update(status="notified")
    declined(made)
    erase_signer(OPERATOR, made.signers[1].pk)
    assert set(mails()) == {made.signers[2].email}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("attempt", range(5))
def test_of_the_last_signature_and_a_decline_only_one_happens(attempt: int) -> None:
    made = scene(signers=2, decline_allowed=True)
    sign(made)
    code = made.code(1)

    def declining() -> Any:
        return declined(made, 1).status

    answers = at_once(signing(made, 1, code), declining)
    request = SignatureRequest.objects.get()
    if request.status == "completed":
        assert answers == ["signed", "already_signed"] and request.declined_by_id is None
        assert "request.expired" not in made.events()
    else:
        assert answers == ["expired", "expired"] and request.declined_by_id == made.signers[1].pk
        assert "request.completed" not in made.events() and made.events().count("signer.signed") == 1
    assert broken_at(made.entries()) is None


def test_the_reason_is_erased_with_the_signer_and_the_chain_stays_whole() -> None:
    made, _ = told(signers=2, decline_allowed=True)
    Organization.objects.update(contact_email=CONTACT)
    declined(made)
    work_off()
    hashes = [bytes(entry.hash) for entry in made.entries()]
    assert "says 1200" in everything()
    shown = [kept for kept in show_person(made.signers[0].email) if "says 1200" in str(kept.facts)]
    assert {kept.place for kept in shown} >= {"journal", "reasons for declining", "events", "webhooks"}
    erase_signer(OPERATOR, made.signers[1].pk)
    assert "says 1200" in everything()  # the reason is not of this signer
    erase_signer(OPERATOR, made.signers[0].pk)
    assert "says 1200" not in everything() and "Lovelace" not in everything()
    assert SignatureRequest.objects.get().ended_reason == "erased"
    assert [bytes(entry.hash) for entry in made.entries()] == hashes and broken_at(made.entries()) is None


def inquiry(text: str = "What is § 4 about?", **facts: Any) -> Inquiry:
    made = scene(**facts)
    Organization.objects.update(contact_email=CONTACT)
    return ask(made.signer(), "question", text)


def test_the_sender_gets_it_once() -> None:
    asked = inquiry()
    Organization.objects.update(contact_email="")
    forward_inquiry(asked.pk)
    assert not CapturedMessage.objects.exists(), "an address that was removed gets nothing"
    Organization.objects.update(contact_email=CONTACT)
    for _ in range(2):
        forward_inquiry(asked.pk)
    mail = CapturedMessage.objects.get()
    assert mail.to == CONTACT and mail.subject == "Ada Lovelace: I have a question"
    assert "Ada Lovelace (ada1@example.com): I have a question" in mail.text
    assert "What is § 4 about?" in mail.text
    assert f"1 document: contract-1.pdf (#{asked.signer.request_id})" in mail.text
    assert Inquiry.objects.get().forwarded_at


def test_the_ceilings_of_messages_count_it_and_the_signer_gets_the_answer(settings: Any, box: RefusingServer) -> None:
    ceiling = {"messages_per_destination": PerHourAndDay(1, 1)}
    settings.PARAPH = settings.PARAPH.model_copy(update=ceiling)
    first = inquiry(environment="production")
    second = ask(first.signer, "not_me", "No.")
    forward_inquiry(first.pk)
    with pytest.raises(TooManyMessagesError):
        forward_inquiry(second.pk)
    assert b"Reply-To: ada1@example.com" in box.letters[0]
    assert box.taken == [CONTACT] and not Inquiry.objects.get(pk=second.pk).forwarded_at


@pytest.mark.parametrize(("kind", "text"), [("praise", "Well done"), ("question", " "), ("question", "x" * 2001)])
def test_anything_else_is_refused(kind: str, text: str) -> None:
    signer = inquiry().signer
    with pytest.raises(DomainError) as refused:
        ask(signer, kind, text)
    assert refused.value.code == "validation_error" and Inquiry.objects.count() == 1
