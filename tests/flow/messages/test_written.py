"""What a sender writes to signers stands in invitations as text, set off, and leads nowhere."""

import re
import time

import pypdfium2
import pytest

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages import emails
from paraph.flow.messages.names import quoted
from paraph.flow.sending.invite import invite, send_reminder
from paraph.messaging.letters import EmailContent
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import LONGEST_MESSAGE, Reminder, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.models import User
from paraph.webhooks.models import Delivery, Event
from tests.factories import scene, sign
from tests.flow.test_jobs import work_off
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db

URL = "https://sign.example/sign/" + "x" * 43
HOSTILE = (
    "Dear Ada,\n\n<script>alert(1)</script> <a href='https://evil.example'>click</a>\n"
    "https://evil.example/login or www.evil.example, mail bob@evil.example\n"
    "\u202egnp.exe\u202c and \u2066hidden\u2069 {sender} %(name)s"
)


def mail_with(message: str = "", subject: str = "", locale: str = "en") -> EmailContent:
    made = scene(locale=locale)
    SignatureRequest.objects.update(subject=subject, message=message)
    return emails.invitation(Signer.objects.get(pk=made.signers[0].pk), URL)


def test_the_message_is_text_line_by_line_and_leads_nowhere() -> None:
    mail = mail_with(HOSTILE)
    assert "Message from the sender:\n\n> Dear Ada,\n>\n> <script>alert(1)</script>" in mail.text
    assert "&lt;script&gt;" in mail.html and "<script" not in mail.html
    assert re.findall(r'href="([^"]+)"', mail.html) == [URL]
    for form in (mail.text, mail.html):
        assert "{sender} %(name)s" in form and "gnp. exe" in form
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", form)
        assert not re.search(r"evil\.example|https://(?!sign\.example)|\w@\w", form)


def test_the_subject_follows_the_name_of_the_organization() -> None:
    assert (
        mail_with(subject="Your lease\r\nBcc: eve@evil.example").subject
        == "Acme Ltd: Your lease Bcc: eve @ evil. example"
    )
    assert mail_with(subject="\u202e \u200b").subject == "Acme Ltd asks you to sign"
    assert len(mail_with(subject="a.b" * 50).subject) <= len("Acme Ltd: ") + 150


def test_the_member_who_asks_is_named_with_the_organization() -> None:
    made = scene()
    member = User.objects.create(email="charles@example.com", name="Charles www.evil.example")
    SignatureRequest.objects.update(sent_by=member)
    text = emails.invitation(Signer.objects.get(pk=made.signers[0].pk), URL).text
    assert "Charles www. evil. example (Acme Ltd) asks you to read and sign" in text
    User.objects.update(name="")
    assert "\n\nAcme Ltd asks you" in emails.invitation(Signer.objects.get(pk=made.signers[0].pk), URL).text


@pytest.mark.parametrize(
    "text",
    ["a" * LONGEST_MESSAGE, "1" * LONGEST_MESSAGE, "1." * 2500, "a@" * 2500, "\n" * LONGEST_MESSAGE, "://" * 1666],
)
def test_the_longest_message_is_written_whole_and_soon(text: str) -> None:
    begun = time.perf_counter()
    said = quoted(text)
    assert time.perf_counter() - begun < 2
    assert len(said.html) < 500_000 and "…" not in said.text
    assert said.text.count("a") == text.count("a") and said.text.count("1") == text.count("1")


def test_it_stands_in_invitation_and_reminder_and_nowhere_else() -> None:
    words = {"subject": "Quokka", "message": "Wombat"}
    made, _ = told(send_email=True, notify_signers_on_completion=True, **words)
    signer = made.signers[0]
    invite(signer.pk)
    Reminder.objects.create(signer=signer, number=1)
    send_reminder(signer.pk, 1)
    assert [(mail.subject, mail.text.count("Wombat")) for mail in CapturedMessage.objects.all()] == [
        ("Acme Ltd: Quokka", 1)
    ] * 2
    CapturedMessage.objects.all().delete()
    sign(made)
    work_off()
    assert CapturedMessage.objects.exists()
    told_elsewhere = [f"{mail.subject} {mail.text}" for mail in CapturedMessage.objects.all()]
    told_elsewhere += [*Event.objects.values_list("payload", flat=True)]
    told_elsewhere += [*Delivery.objects.values_list("payload", flat=True)]
    told_elsewhere += [str(entry.metadata) for entry in made.entries()]
    files = [store.get(row.object_key) for row in (*SealedDocument.objects.all(), *ProofFile.objects.all())]
    assert len(files) == 2 and Delivery.objects.exists()
    assert not any("Quokka" in said or "Wombat" in said for said in [*told_elsewhere, *map(text_of, files)])


def text_of(content: bytes) -> str:
    return "".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(content))
