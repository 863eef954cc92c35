"""Mailing what a signer asks to the sender."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from paraph.flow.messages import sent_once
from paraph.flow.messages.limits import TooManyMessagesError
from paraph.flow.signing.decline_or_ask import ask, forward_inquiry
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import Inquiry, Signer
from paraph.tenants.models import Organization
from tests.factories import scene
from tests.flow.conftest import Mailbox

pytestmark = pytest.mark.django_db
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


def test_it_has_the_layout_of_the_other_mails() -> None:
    asked = inquiry("First line\n\n<b>May I?</b>", locale="ar")
    forward_inquiry(asked.pk)
    html = CapturedMessage.objects.get().html
    assert html.startswith('<!doctype html>\n<html lang="ar" dir="rtl">') and "prefers-color-scheme: dark" in html
    assert 'style="display:block">First line</span>' in html and "&lt;b&gt;May I?&lt;/b&gt;" in html
    assert f'contract-1.pdf</b></bdi> <bdi dir="ltr">(#{asked.signer.request_id})</bdi>' in html


def test_it_is_in_the_language_of_the_request() -> None:
    forward_inquiry(inquiry(locale="de").pk)
    assert CapturedMessage.objects.get().subject == "Ada Lovelace: Ich habe eine Frage"


def test_what_was_written_and_names_hold_no_links() -> None:
    asked = inquiry(
        "Please pay at\nhttps://evil.example/now\nor evil.example", signer={"first_name": "www.evil.example"}
    )
    forward_inquiry(asked.pk)
    mail = CapturedMessage.objects.get()
    assert (
        "evil.example" not in mail.text + mail.subject
        and "Please pay at\nevil. example/now\nor evil. example" in mail.text
    )


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
