"""Invitations and the summary at completion (rules 3.2, 4.5)."""

import re
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client

from paraph.flow.messages.copies import notify_completion
from paraph.flow.sending.invite import invite
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import links
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Application, Organization
from paraph.webhooks.models import Delivery
from tests.factories import Scene, jobs, scene, sign
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def summaries() -> QuerySet[CapturedMessage]:
    return CapturedMessage.objects.filter(message_id__startswith="completion-")


def test_mails_the_link_then_marks_and_journals() -> None:
    made = scene(signers=2, send_email=True)
    Application.objects.update(webhook_url="https://shop.example/hooks")
    signer = made.signers[0]
    invite(signer.pk)
    message = CapturedMessage.objects.get()
    assert message.to == signer.email and signing_url(signer) in message.text
    assert "Acme Ltd" in message.subject
    signer.refresh_from_db()
    assert signer.status == "notified" and signer.notified_at
    entry = made.entries()[-1]
    assert (entry.event_type, entry.signer_id) == ("signer.notified", signer.pk)
    assert entry.metadata == {
        "channel": "email",
        "recipient": signer.email,
        "acknowledgement": f"captured:{message.pk}",
    }
    assert '"status":"notified"' in Delivery.objects.get().payload


def test_who_signed_while_the_mail_was_on_its_way_stays_signed() -> None:
    made = scene(signers=2, send_email=True)
    Application.objects.update(webhook_url="https://shop.example/hooks")
    signer = made.signers[0]
    taken = {"taken_at": clock.now().isoformat(), "acknowledgement": "250 Ok"}
    Signer.objects.filter(pk=signer.pk).update(invitation=taken)  # the mail server has it, the journal not yet
    sign(made)
    invite(signer.pk)
    signer.refresh_from_db()
    assert signer.status == "signed" and signer.notified_at
    assert made.events()[-2:] == ["signer.signed", "signer.notified"]
    assert '"status":"signed"' in Delivery.objects.get(event_type="signer.notified").payload


@pytest.mark.django_db(transaction=True)
def test_mails_once_though_two_workers_have_the_job(made: Scene) -> None:
    at_once(*[lambda: invite(made.signers[0].pk)] * 3)
    assert CapturedMessage.objects.count() == 1
    assert made.events().count("signer.notified") == 1


def test_is_not_notified_while_the_mail_server_takes_nothing(settings: Any, made: Scene) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    with pytest.raises(OSError, match="refused"):
        invite(made.signers[0].pk)
    signer = Signer.objects.get()
    assert (signer.status, signer.notified_at) == ("pending", None)
    assert made.events() == ["signature_request.created"]


def test_nobody_is_invited_who_may_not_sign() -> None:
    made = scene(signers=2, mode="sequential")
    invite(made.signers[1].pk)
    sign(made)
    invite(made.signers[0].pk)
    SignatureRequest.objects.update(expires_at=clock.now())
    invite(made.signers[1].pk)
    assert "signer.notified" not in made.events()
    assert not CapturedMessage.objects.filter(subject__contains="asks you").exists()


def test_speaks_the_language_of_the_request() -> None:
    made = scene(locale="fr")
    invite(made.signers[0].pk)
    assert CapturedMessage.objects.get().subject == "Acme Ltd vous demande de signer"


def test_the_summary_goes_to_every_signer_once() -> None:
    made = scene(signers=2, notify_signers_on_completion=True)
    sign(made, 0)
    sign(made, 1, locale="de")
    for _ in range(2):
        notify_completion(made.request.pk)
    mails = summaries().order_by("id")
    assert [message.to for message in mails] == [signer.email for signer in made.signers]
    assert "Everyone has signed" in mails[0].subject and "Alle haben" in mails[1].subject
    assert made.events().count("request.completion_notified") == 1
    entry = made.entries()[-1]
    assert entry.signer_id is None
    recipients = [signer.email for signer in made.signers]
    assert entry.metadata == {"channel": "email", "recipients": recipients, "kept": 2}, "there is no mail server"


def test_the_summary_links_to_the_copy_of_its_reader(client: Client, settings: Any) -> None:
    made = scene(signers=2, notify_signers_on_completion=True)
    sign(made, 0)
    sign(made, 1)
    notify_completion(made.request.pk)
    for signer, message in zip(made.signers, summaries().order_by("id"), strict=True):
        [link] = re.findall(rf"{re.escape(signing_url(signer))}\?ticket=\S+", message.text)
        assert f'href="{link}"' in message.html
        ticket = link.rpartition("=")[2]
        assert links.holds(signer, ticket)
        page = client.get(link.removeprefix(settings.PARAPH.public_url))
        assert 'data-state="already_signed"' in page.content.decode()


def test_an_organization_may_leave_the_link_out() -> None:
    made = scene(notify_signers_on_completion=True)
    Organization.objects.update(mails_copy_links=False)
    sign(made)
    notify_completion(made.request.pk)
    message = summaries().get()
    assert "://" not in message.text and "href" not in message.html


def test_no_summary_unless_asked_for(made: Scene) -> None:
    sign(made)
    assert "notify_completion" not in [name for name, _ in jobs()]
