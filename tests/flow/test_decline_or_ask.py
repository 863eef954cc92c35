"""Declining: it ends the request, everybody concerned is told once, and the reason is erased with the signer. Asking:
it is mailed to the sender."""

import json
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from paraph.audit_trail.journal import broken_at
from paraph.flow.ending import end_early
from paraph.flow.messages import sent_once
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.personal_data.erase import erase_signer, show_person
from paraph.flow.signing.decline_or_ask import ask, decline, forward_inquiry
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import Activity, Member, MutedMail, Organization, User
from paraph.webhooks.models import Delivery, Event
from tests.factories import VISITOR, Scene, scene, sign
from tests.flow.conftest import Mailbox
from tests.flow.test_erase import everything
from tests.flow.test_jobs import work_off
from tests.flow.test_sign import signing
from tests.threads import at_once
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db

REASON = "The rent is wrong:\nit says 1200."


def declined(made: Scene, position: int = 0) -> SignatureRequest:
    signer = Signer.objects.select_related("request__organization").get(pk=made.signers[position].pk)
    return decline(signer, REASON, VISITOR)


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
    made = scene(signers=4, send_email=True, decline_allowed=True, environment="production")
    Organization.objects.update(contact_email="contracts@acme.example")
    user = User.objects.create(email="sender@acme.example")
    Member.objects.create(organization=made.request.organization, user=user, role="member")
    SignatureRequest.objects.update(application=None, sent_by=user)
    Signer.objects.filter(pk=made.signers[1].pk).update(status="notified")
    sign(made, 2)
    declined(made)
    sent = mails()
    others = {made.signers[1].email, made.signers[2].email}
    assert set(sent) == {"contracts@acme.example", "sender@acme.example"} | others
    contact = sent["contracts@acme.example"]
    assert contact.subject == "Ada Lovelace has declined" and "it says 1200." in contact.text
    member = sent["sender@acme.example"]
    assert "Ada Lovelace declined to sign “contract-1”" in member.text and "> it says 1200." in member.text
    for address in others:
        assert "Someone has declined" in sent[address].text
        assert "Lovelace" not in sent[address].text and "1200" not in sent[address].text
    assert CapturedMessage.objects.exclude(subject__contains="signing code").count() == 4
    CapturedMessage.objects.all().delete()
    work_off()  # runs each job once more, as after a crash
    assert not CapturedMessage.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("decliner", [0, 1])
def test_a_sender_who_signs_and_answers_for_the_organization_is_told_once(decliner: int) -> None:
    made = scene(signers=2, send_email=True, decline_allowed=True, environment="production")
    sender = made.signers[1].email
    Organization.objects.update(contact_email=sender.upper())
    user = User.objects.create(email=sender)
    Member.objects.create(organization=made.request.organization, user=user, role="member")
    SignatureRequest.objects.update(application=None, sent_by=user)
    Signer.objects.update(status="notified")
    declined(made, decliner)
    work_off()
    told_them = CapturedMessage.objects.filter(to__iexact=sender)
    assert [mail.subject for mail in told_them] == ["Ada Lovelace declined: contract-1"][decliner:]
    MutedMail.objects.create(user=user, kind="declined")
    CapturedMessage.objects.all().delete()
    work_off()
    subjects = {mail.subject for mail in CapturedMessage.objects.filter(to__iexact=sender)}
    own = {"Ada Lovelace has declined", "The request has ended: Acme Ltd"}
    assert subjects == ({"Émile Zola has declined"} if decliner else own), "nothing as the sender"


@pytest.mark.django_db(transaction=True)
def test_a_request_that_mails_nobody_tells_its_sender_alone() -> None:
    made = scene(signers=2, decline_allowed=True)
    Organization.objects.update(contact_email="contracts@acme.example")
    Signer.objects.update(status="notified")
    declined(made)
    assert set(mails()) == {"contracts@acme.example"}


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
    Organization.objects.update(contact_email="contracts@acme.example")
    declined(made)
    work_off()
    hashes = [bytes(entry.hash) for entry in made.entries()]
    assert "says 1200" in everything()
    shown = [kept for kept in show_person(made.signers[0].email) if "says 1200" in str(kept.facts)]
    assert {kept.place for kept in shown} >= {"journal", "reasons for declining", "events", "webhooks"}
    erase_signer(OPERATOR, made.signers[1].pk)
    assert "says 1200" in everything()  # it is not the other's
    erase_signer(OPERATOR, made.signers[0].pk)
    assert "says 1200" not in everything() and "Lovelace" not in everything()
    assert SignatureRequest.objects.get().ended_reason == "erased"
    assert [bytes(entry.hash) for entry in made.entries()] == hashes and broken_at(made.entries()) is None


def test_the_reason_of_a_sender_is_no_personal_value(made: Scene) -> None:
    end_early(OPERATOR, made.request.pk, "Wrong contract")
    assert made.entries()[-1].salts is None


CONTACT = "contracts@acme.example"


def inquiry(text: str = "What is § 4 about?", **facts: Any) -> Inquiry:
    made = scene(**facts)
    Organization.objects.update(contact_email=CONTACT)
    signer = Signer.objects.select_related("request__organization").get(pk=made.signers[0].pk)
    return ask(signer, "question", text)


def test_the_sender_gets_it_once() -> None:
    asked = inquiry()
    for _ in range(2):
        forward_inquiry(asked.pk)
    mail = CapturedMessage.objects.get()
    assert mail.to == CONTACT and mail.subject == "Ada Lovelace: I have a question"
    assert "Ada Lovelace (ada1@example.com): I have a question" in mail.text
    assert "What is § 4 about?" in mail.text
    assert f"1 document: contract-1.pdf (#{asked.signer.request_id})" in mail.text
    assert Inquiry.objects.get().forwarded_at


def test_the_signer_gets_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    def handed_over(*_arguments: Any, **options: Any) -> AbstractContextManager[str]:
        sent.append(options)
        return nullcontext("250 Ok")

    monkeypatch.setattr(sent_once, "handed_over", handed_over)
    forward_inquiry(inquiry().pk)
    assert [options["reply_to"] for options in sent] == ["ada1@example.com"]


def test_an_address_that_was_removed_gets_nothing() -> None:
    asked = inquiry()
    Organization.objects.update(contact_email="")
    forward_inquiry(asked.pk)
    assert not CapturedMessage.objects.exists()


def test_the_ceilings_of_messages_count_it(settings: Any, box: Mailbox) -> None:
    ceiling = {"messages_per_destination": PerHourAndDay(1, 1)}
    settings.PARAPH = settings.PARAPH.model_copy(update=ceiling)
    first = inquiry(environment="production")
    second = ask(first.signer, "not_me", "No.")
    forward_inquiry(first.pk)
    with pytest.raises(TooManyMessagesError):
        forward_inquiry(second.pk)
    assert box.recipients == [CONTACT] and not Inquiry.objects.get(pk=second.pk).forwarded_at


@pytest.mark.parametrize(("kind", "text"), [("praise", "Well done"), ("question", " "), ("question", "x" * 2001)])
def test_anything_else_is_refused(kind: str, text: str) -> None:
    signer = inquiry().signer
    with pytest.raises(DomainError) as refused:
        ask(signer, kind, text)
    assert refused.value.code == "validation_error" and Inquiry.objects.count() == 1
