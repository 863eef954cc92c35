"""Invitations and the summary at completion (specification 3.2, 4.5)."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest

from paraph.flow.invite import invite
from paraph.flow.messages import emails
from paraph.flow.notify_completion import notify_completion
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.organizations.models import Application, BrandingProfile
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_token import signing_url
from paraph.webhooks.models import Delivery
from tests.factories import jobs, scene, sign
from tests.flow.test_sign import at_once

pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("letter", [lambda one: emails.invitation(one, "https://x.example/"), emails.completion])
def test_html_and_text_say_the_same(letter: Callable[[Signer], emails.EmailContent]) -> None:
    written = letter(scene().signers[0])
    shown = re.sub(r"<[^>]+>", " ", written.html)
    for line in written.text.splitlines():
        assert line.rstrip(":") in unescape(shown)


def test_the_link_has_the_colour_of_the_profile() -> None:
    made = scene()
    assert "background:#1f4fd8;color:#ffffff" in emails.invitation(made.signers[0], "https://x.example/").html
    colours = {"background_color": "#101820", "text_color": "#202830", "accent_color": "#ffe14d"}
    profile = BrandingProfile.objects.create(organization=made.request.organization, name="Night", **colours)
    SignatureRequest.objects.update(branding_profile=profile)
    signer = Signer.objects.get(pk=made.signers[0].pk)
    assert "background:#ffe14d;color:#000000" in emails.invitation(signer, "https://x.example/").html


def test_mails_once() -> None:
    made = scene()
    for _ in range(2):
        invite(made.signers[0].pk)
    assert CapturedMessage.objects.count() == 1
    assert made.events().count("signer.notified") == 1


@pytest.mark.django_db(transaction=True)
def test_mails_once_though_two_workers_have_the_job() -> None:
    made = scene()
    at_once(*[lambda: invite(made.signers[0].pk)] * 3)
    assert CapturedMessage.objects.count() == 1
    assert made.events().count("signer.notified") == 1


def test_is_not_notified_while_the_mail_server_takes_nothing(settings: Any) -> None:
    made = scene()
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
    summaries = CapturedMessage.objects.filter(message_id__startswith="completion-").order_by("id")
    assert [message.to for message in summaries] == [signer.email for signer in made.signers]
    assert "Everybody has signed" in summaries[0].subject and "Alle haben" in summaries[1].subject
    assert made.events().count("request.completion_notified") == 1
    entry = made.entries()[-1]
    assert entry.signer_id is None
    assert entry.metadata == {"channel": "email", "recipients": [signer.email for signer in made.signers]}


def test_no_summary_unless_asked_for() -> None:
    made = scene()
    sign(made)
    assert "notify_completion" not in [name for name, _ in jobs()]
