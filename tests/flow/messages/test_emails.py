"""What mails and SMS say and look like, in every language."""

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from django.utils.html import escape

from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages import emails
from paraph.flow.messages.emails import CopyLink, quoted
from paraph.flow.sending.invite import invite, send_reminder
from paraph.kernel.appearance import contrast
from paraph.messaging.letters import EmailContent
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import LONGEST_MESSAGE, Inquiry, Reminder, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.models import BrandingProfile, Organization, User
from paraph.webhooks.models import Delivery, Event
from paraph.words import LOCALES, direction, of
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off
from tests.webhooks.parties import told

pytestmark = pytest.mark.django_db


URL = "https://sign.example/sign/" + "x" * 43
END = datetime(2027, 1, 8, 23, 5, 59, tzinfo=UTC)
COPY = CopyLink(f"{URL}?ticket=1.y&z=<", END)
ASKED = "Please pay at\n\nhttps://evil.example/now\nor <b>evil.example</b>"
MAILS: dict[str, Callable[[Signer, str], EmailContent]] = {
    "invitation": lambda signer, _: emails.invitation(signer, URL),
    "reminder": lambda signer, _: emails.reminder(signer, URL),
    "code": lambda signer, _: emails.one_time_code(signer, "244283"),
    "completion": lambda signer, _: emails.completion(signer, COPY),
    "without_copy": lambda signer, _: emails.completion(signer, None),
    "withdrawn": lambda signer, _: emails.withdrawn(signer),
    "declined": lambda signer, _: emails.declined_to_signer(signer),
    "inquiry": lambda signer, _: emails.inquiry_email(Inquiry(signer=signer, kind="question", text=ASKED)),
    "confirmation": lambda _, locale: emails.confirmation("Acme Ltd", "ada@example.com", locale, URL),
}


def written(kind: str, locale: str = "en", **of_scene: Any) -> EmailContent:
    return MAILS[kind](scene(locale=locale, expires_at=END, **of_scene).signer(), locale)


class Seen(HTMLParser):
    """The visible text of a page, with the hidden preview kept apart."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.blocks: list[str] = [""]
        self.open: list[str] = []
        self.feed(html)
        assert self.open == ["html"] or not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("meta", "br"):
            return
        self.open.append(tag)
        if tag in ("p", "div", "style", "title"):
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("p", "div", "style", "title"):
            self.blocks.append("")

    def handle_data(self, data: str) -> None:
        self.blocks[-1] += data


@pytest.mark.parametrize("kind", MAILS)
def test_html_and_text_say_the_same_in_whole_documents_for_light_and_dark(kind: str) -> None:
    for locale, made in in_every_language(expires_at=END):
        mail = MAILS[kind](made.signer(), locale)
        shown = {block.strip() for block in Seen(mail.html).blocks}
        for line in filter(None, mail.text.splitlines()):
            assert line.removesuffix(":") in shown or line in shown or kind == "inquiry", locale  # wrapped differently
        assert not re.search(r"[{}]", mail.text + mail.subject), locale
        assert not re.search(r"\d{4}-\d\d-\d\d", mail.text + mail.html), locale
        assert mail.html.startswith(f'<!doctype html>\n<html lang="{locale}" dir="{direction(locale)}">'), locale
        assert mail.html.endswith("</html>\n") and f"<title>{escape(mail.subject)}</title>" in mail.html
        assert '<meta name="color-scheme" content="light dark">' in mail.html
        assert "prefers-color-scheme: dark" in mail.html
        [preview] = re.findall(r'<div style="display:none[^>]*>([^<]+)</div>', mail.html)
        assert preview and unescape(preview) != mail.subject
        assert not re.search(r"<(script|img|table|link|form)|url\(|src=", mail.html)


def in_every_language(**of_scene: Any) -> Iterator[tuple[str, Scene]]:
    """Yield one scene in each language in turn."""
    made = scene(**of_scene)
    for locale in LOCALES:
        SignatureRequest.objects.update(locale=locale)
        yield locale, made


def test_a_reminder_says_what_it_is_since_when_and_until_when() -> None:
    made = scene(expires_at=END, message="The first words.")
    Signer.objects.update(notified_at=datetime(2026, 12, 24, 23, 59, tzinfo=UTC))
    signer = made.signer()
    mail = emails.reminder(signer, URL)
    assert mail.subject == "Reminder: Acme Ltd asks you to sign"
    assert "Acme Ltd asked you on 24 December 2026 to read and sign documents" in mail.text
    assert "You can sign until 8 January 2027" in mail.text and "> The first words." in mail.text
    again = emails.reminder(signer, URL, "Now it is urgent.").text
    assert "> Now it is urgent." in again and "The first words." not in again
    Signer.objects.update(role="approver")
    assert "to read and approve documents" in emails.reminder(made.signer(), URL).text


def test_a_withdrawal_says_who_withdrew_what_when_and_why() -> None:
    made = scene(signers=2)
    SignatureRequest.objects.update(ended_early_at=END, ended_reason="The <b>price</b> changed.")
    mail = emails.withdrawn(made.signer())
    assert mail.subject == "Acme Ltd withdrew the request"
    assert "Acme Ltd withdrew this request on 8 January 2027" in mail.text and "contract-1.pdf" in mail.text
    assert "> The <b>price</b> changed." in mail.text and "The &lt;b&gt;price" in mail.html
    assert "You don’t need to do anything." in mail.text and URL[:24] not in mail.text
    SignatureRequest.objects.update(ended_reason="")
    Signer.objects.update(status="signed")
    signed = emails.withdrawn(made.signer()).text
    assert "Signatures given so far won’t count." in signed and ">" not in signed


def test_mails_to_those_who_take_part_come_from_the_sender(made: Scene) -> None:
    assert emails.invitation(made.signer(), URL).from_name == "Acme Ltd via Paraph"
    SignatureRequest.objects.update(sent_by=User.objects.create(email="marta@acme.example", name="Marta Brückner"))
    for kind in ("invitation", "reminder", "code", "completion", "withdrawn"):
        assert MAILS[kind](made.signer(), "en").from_name == "Marta Brückner via Acme Ltd", kind
    User.objects.update(name="bank.example\r\nBcc: x@y.example " + "x" * 100)
    mail = emails.invitation(made.signer(), URL)
    assert mail.from_name.startswith("bank. example Bcc: x @ y. example xx")
    assert len(mail.from_name) == 80 + len(" via Acme Ltd")
    assert f"{mail.from_name.removesuffix(' via Acme Ltd')} (Acme Ltd) asks you to read and sign" in mail.text
    User.objects.update(name="")
    assert "\n\nAcme Ltd asks you" in emails.invitation(made.signer(), URL).text


def test_the_documents_of_the_signer_are_named_and_of_many_ten() -> None:
    made = scene(documents=3)
    made.request_documents[1].placements.all().delete()  # not this signer's
    Document.objects.filter(pk=made.request_documents[2].document_id).update(name="https://evil.example <b>.PDF")
    for mail in (emails.invitation(made.signer(), URL), emails.completion(made.signer(), None)):
        assert "2 documents: contract-1.pdf and evil. example <b>.PDF" in mail.text
        assert 'max-width:100%">contract-1.pdf</b></bdi>' in mail.html
        assert 'max-width:100%">evil. example &lt;b&gt;.PDF</b></bdi>' in mail.html
        assert f"request {made.request.pk}" not in mail.text
    text = emails.invitation(scene(documents=12).signer(), URL).text
    assert "12 documents: contract-1.pdf, " in text and "contract-10.pdf, and …" in text
    assert "contract-11" not in text


def test_names_stand_apart_from_the_direction_around_them(made: Scene) -> None:
    Signer.objects.update(first_name="עברית", last_name="<i>&")
    html = emails.invitation(made.signer(), URL).html
    assert "<bdi>עברית &lt;i&gt;&amp;</bdi>" in html and "<bdi>Acme Ltd</bdi> asks you" in html


def test_the_code_is_large_and_can_be_selected() -> None:
    html = written("code", "de").html
    [style] = re.findall(r'<strong class="code" style="([^"]+)"><bdi dir="ltr">244283</bdi></strong>', html)
    size = re.search(r"(\d+)px/", style)
    assert size and int(size[1]) >= 28
    assert "letter-spacing:" in style and "user-select:all" in style


def test_the_address_below_the_button_wraps_and_is_escaped() -> None:
    html = written("completion").html
    assert html.count(escape(COPY.url)) == 2 and COPY.url not in html
    [style] = re.findall(rf'style="([^"]+)">{re.escape(escape(COPY.url))}</p>', html)
    assert "word-break:break-all" in style


@pytest.mark.parametrize("accent", ["#1f4fd8", "#ffffff", "#000000", "#ffe14d", "#101820", "#777777"])
def test_the_button_has_the_colour_of_the_profile_and_can_be_seen(accent: str, made: Scene) -> None:
    profile = BrandingProfile.objects.create(
        organization=made.request.organization, name="Night", accent_color=accent, background_color="", text_color=""
    )
    SignatureRequest.objects.update(branding_profile=profile)
    html = emails.invitation(made.signer(), URL).html
    found = re.search(r"border:2px solid (#\w{6});border-radius:8px;background:(#\w{6});color:(#\w{6})", html)
    assert found
    edge, background, text = found.groups()
    assert background == accent and contrast(text, background) >= 4.5
    assert contrast(edge, "#ffffff") >= 3
    in_dark = re.search(rf"\.button {{ background: {accent} !important; .*border-color: (#\w{{6}})", html)
    assert in_dark and contrast(in_dark[1], "#1b2230") >= 3


def test_without_a_profile_the_button_is_blue_and_dates_are_in_words_and_in_utc() -> None:
    mail = written("invitation")
    assert "background:#1f4fd8;color:#ffffff" in mail.html
    assert ".button { background: #8fb0ff !important; color: #000000 !important;" in mail.html
    assert "8 January 2027, 23:05 UTC" in mail.text
    assert "8. Januar 2027, 23:05 UTC" in written("invitation", "de").text
    assert "8 janvier 2027, 23:05 UTC" in written("completion", "fr").text


def test_what_the_summary_says_of_sealing(made: Scene) -> None:
    assert "You can download your copy in a moment." in emails.completion(made.signer(), COPY).text
    assert "in a moment" not in emails.completion(made.signer(), None).text
    SignatureRequest.objects.update(finalized=True)
    assert "Acme Ltd has the sealed documents and their proof." in emails.completion(made.signer(), COPY).text


def test_an_sms_is_bound_to_the_domain_and_short(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": "https://sign.acme-company.example:8443/x"})
    for locale, made in in_every_language():
        Organization.objects.update(name="Ünited " * 28)
        text = emails.one_time_code_sms(made.signer(), "244283")
        assert text.endswith("\n\n@sign.acme-company.example #244283"), locale
        assert text.startswith(("244283", "\u2068244283"))
        assert len(text) <= 134 and "Ünited" in text, locale


def test_every_word_of_the_mails_is_used() -> None:
    source = "".join(path.read_text("utf-8") for path in Path(emails.__file__).parent.glob("*emails.py"))
    names = {name.removeprefix("approve_") for name in of("mail", "en")} - {"locale"}
    assert [name for name in sorted(names) if f'"{name}"' not in source] == []


HOSTILE = (
    "Dear Ada,\n\n<script>alert(1)</script> <a href='https://evil.example'>click</a>\n"
    "https://evil.example/login or www.evil.example, mail bob@evil.example\n"
    "\u202egnp.exe\u202c and \u2066hidden\u2069 {sender} %(name)s"
)


def mail_with(message: str = "", subject: str = "", locale: str = "en") -> EmailContent:
    made = scene(locale=locale)
    SignatureRequest.objects.update(subject=subject, message=message)
    return emails.invitation(made.signer(), URL)


def test_the_message_is_text_line_by_line_and_leads_nowhere() -> None:
    mail = mail_with(HOSTILE)
    assert "Message from the sender:\n\n> Dear Ada,\n>\n> <script>alert(1)</script>" in mail.text
    assert "&lt;script&gt;" in mail.html and "<script" not in mail.html
    assert re.findall(r'href="([^"]+)"', mail.html) == [URL]
    for form in (mail.text, mail.html):
        assert "{sender} %(name)s" in form and "gnp. exe" in form
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", form)
        assert not re.search(r"evil\.example|https://(?!sign\.example)|\w@\w", form)


@pytest.mark.parametrize("kind", ["invitation", "reminder", "code", "withdrawn", "declined", "inquiry"])
def test_names_lead_nowhere(kind: str, made: Scene) -> None:
    Organization.objects.update(name="you won, see https://evil.example/win or www.evil.example")
    Signer.objects.update(first_name="Hi, pay at http://evil.example now", last_name="me@evil.example")
    mail = MAILS[kind](made.signer(), "en")
    assert kind == "declined" or "Hi, pay at evil. example now me @ evil. example" in mail.text
    assert kind != "inquiry" or "Please pay at\n\nevil. example/now\nor <b>evil. example</b>" in mail.text
    for part in (mail.subject, mail.text, mail.html):
        assert not re.search(r"evil\.\w|www\.\w|\S@\S|://", part.replace(URL, "").replace("ada1@example.com", ""))


def test_the_subject_follows_the_name_of_the_organization() -> None:
    subject = mail_with(subject="Your lease\r\nBcc: eve@evil.example").subject
    assert subject == "Acme Ltd: Your lease Bcc: eve @ evil. example"
    assert mail_with(subject="\u202e \u200b").subject == "Acme Ltd asks you to sign"
    assert len(mail_with(subject="a.b" * 50).subject) <= len("Acme Ltd: ") + 150


@pytest.mark.parametrize(
    "text",
    ["a" * LONGEST_MESSAGE, "1" * LONGEST_MESSAGE, "1." * 2500, "a@" * 2500, "\n" * LONGEST_MESSAGE, "://" * 1666],
)
def test_the_longest_message_is_written_whole_and_soon(text: str) -> None:
    begun = time.process_time()
    said = quoted(text)
    assert time.process_time() - begun < 2
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
        ("Acme Ltd: Quokka", 1),
        ("Reminder: Acme Ltd: Quokka", 1),
    ]
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
