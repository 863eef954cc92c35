"""The page of a request: what happened, what it waits for, what members do with it."""

import io
import json
import re
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from paraph.bundle import make
from paraph.documents.models import Document
from paraph.flow import events
from paraph.flow.messages.copies import notify_completion
from paraph.flow.sending.invite import invite, send_reminder
from paraph.flow.signing.decline_or_ask import decline
from paraph.flow.signing.sign import send_otp
from paraph.kernel import clock
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.links import in_person_ticket, signing_url
from paraph.signature_requests.models import CopyRecipient, Field, Inquiry, Reminder, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.members import Right, may
from paraph.tenants.models import Activity, Application, Member, Organization, Role, User
from tests.dashboard.conftest import LogIn, just_logged_in, no_place_left, read, scene
from tests.dashboard.test_requests import beside
from tests.factories import VISITOR, Scene, finish, jobs, seal_everything, sign
from tests.flow.test_seal import silent
from tests.tenancy import create_organization

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Scene:
    return scene(signers=2, mode="sequential", send_email=True)


@pytest.fixture
def client(made: Scene) -> Client:
    return just_logged_in(made.request.organization, Role.MEMBER)


def address(made: Scene, rest: str = "") -> str:
    return f"/app/{made.request.organization_id}/requests/{made.request.pk}{rest}"


def text(client: Client, made: Scene, rest: str = "", **headers: Any) -> str:
    return read(client.get(address(made, rest), **headers))


def test_the_page_tells_what_happened_and_what_it_waits_for(made: Scene, client: Client, settings: Any) -> None:
    sign(made)
    page = text(client, made)
    assert "The request was created." in page and "Ada Lovelace signed." in page and "203.0.113.9" in page
    assert "1 of 2 signed. Waiting for Émile Zola." in page
    assert "has not accepted" not in page, "it has had seconds"
    Signer.objects.filter(pk=made.signers[0].pk).update(signed_at=timezone.now() - timedelta(minutes=6))
    SignatureRequest.objects.update(created_at=timezone.now() - timedelta(hours=1))
    assert "No mail server is set up, so no mail reaches Émile Zola." in outcome_of(text(client, made))
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    assert "The mail server has not accepted the invitation of Émile Zola yet" in text(client, made)


def test_right_after_sending_the_page_says_sent_and_warns_of_nothing(
    made: Scene, client: Client, settings: Any
) -> None:
    without = settings.PARAPH
    for mail_server, said in (("smtp://mail.example", "Sent to Ada Lovelace."), ("", "Ready to")):
        settings.PARAPH = without.model_copy(update={"smtp_url": mail_server})
        page = text(client, made)
        assert said in page and "has not accepted" not in page and "Being mailed" in page
        assert ("No mail server is set up" in outcome_of(page)) == ("data-lost" in page) == (not mail_server)
        assert "paraph inbox" not in page, "the command is for those who integrate"


BY_SCRIPT = {"HX-Request": "true"}


def asked_again(client: Client, made: Scene) -> str:
    """Return the address that the script of the open page asks again and again."""
    found = re.search(r'hx-get="([^"]+)" hx-trigger="every (\d+)s"', text(client, made))
    assert found and int(found[2]) >= 3
    return found[1]


def test_an_open_page_asks_again_and_is_left_alone_until_something_happened(made: Scene, client: Client) -> None:
    """Asking again costs fewer queries than opening the page."""
    with CaptureQueriesContext(connection) as opened:
        asked = asked_again(client, made)
    with CaptureQueriesContext(connection) as again:
        assert client.get(asked, headers=BY_SCRIPT).status_code == 204
    assert len(opened) <= 30 and len(again) < len(opened)
    sign(made)
    part = read(client.get(asked, headers=BY_SCRIPT))
    assert "<html" not in part and "1 of 2 signed" in part
    SignatureRequest.objects.update(status="expired")
    assert "hx-get" not in text(client, made), "nothing more happens"


def outcome_of(page: str) -> str:
    """Return the words of the banner, with the action beside it."""
    found = re.search(r'<div class="notice outcome.*?</div>', page, re.S)
    assert found
    return re.sub(r"<[^>]+>", " ", found[0])


def test_the_banner_offers_what_one_would_do_first(made: Scene, client: Client, settings: Any) -> None:
    def banner() -> str:
        return outcome_of(text(client, made))

    assert "Show the link for Ada Lovelace" in banner(), "no mail server is set"
    without = settings.PARAPH
    settings.PARAPH = with_server = without.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    assert banner().split() == ["Sent", "to", "Ada", "Lovelace."], "there is nothing but to wait"
    invited(made.signers[0])
    assert "Remind Ada Lovelace" in banner()
    remind = address(made, f"/signers/{made.signers[0].pk}/remind")
    assert text(client, made).count(f'href="{remind}"') == 2
    client.post(remind)
    assert "Remind" not in banner(), "a day has to go by"
    settings.PARAPH = without
    sign(made)
    settings.PARAPH = with_server
    assert "Remind" not in banner() and "Émile Zola" in banner()
    finished(made)
    assert "Download the signed PDF" in banner() and text(client, made).count("button primary") == 1
    SignatureRequest.objects.update(files_deleted_at=timezone.now())
    assert "Download" not in banner()


def test_who_is_in_turn_signs_and_observers_are_offered_nothing(made: Scene, log_in: LogIn) -> None:
    member, client = log_in(Role.MEMBER, at=made.request.organization)
    Signer.objects.filter(pk=made.signers[0].pk).update(email=member.user.email.upper())
    page = text(client, made)
    assert "Sign now" in outcome_of(page) and f'action="{address(made, "/sign")}"' in page
    _, observer = log_in(Role.OBSERVER, at=made.request.organization)
    page = text(observer, made)
    assert "button" not in re.findall(r'<div class="notice outcome.*?</div>', page, re.S)[0]
    assert not any(word in page for word in (">Withdraw<", "Duplicate", "Signing link", "Webhooks"))


def test_the_signers_stand_in_a_line_with_who_has_seen_the_page(made: Scene, client: Client) -> None:
    opened = "Ada Lovelace opened the documents for the first time."
    assert "Viewed" not in text(client, made) and opened not in text(client, made)
    assert Client().get(made.url()).status_code == 200
    page = text(client, made)
    assert page.count(">Viewed</span>") == 1 and opened in page
    line = re.search(r'<ol class="line".*?</ol>', page, re.S)
    people = r'<li data-id="\d+" class="(\w*)"( aria-current="step")?>\s*<div><strong>([^<]+)'
    current, ada, zola = ' aria-current="step"', "Ada Lovelace", "Émile Zola"
    assert line and re.findall(people, line[0]) == [("current", current, ada), ("", "", zola)]
    assert ">Signs next</span>" in line[0]
    sign(made)
    page = text(client, made)
    assert ">Viewed</span>" not in page
    timeline = re.findall(r"<li><p>([^<]+)</p>", page)
    assert timeline.index(opened) < timeline.index("Ada Lovelace signed.")
    assert re.findall(people, page) == [("done", "", ada), ("current", current, zola)]


def page_of(made: Scene, number: int = 1) -> str:
    """Return the address of the picture of this page of the first document."""
    return address(made, f"/documents/{made.request_documents[0].document_id}/pages/{number}.webp")


def test_the_pages_are_shown_while_there_are_files(made: Scene, client: Client) -> None:
    picture = page_of(made)
    assert f'src="{picture}" width="595" height="842" alt="Page 1 of contract-1.pdf"' in text(client, made)
    assert client.get(picture)["Content-Type"] == "image/webp"
    assert client.get(page_of(made, 2)).status_code == 404
    Document.objects.update(file_deleted_at=timezone.now())
    assert picture not in text(client, made) and "have been deleted" in text(client, made)
    assert client.get(picture).status_code == 404


def test_places_stand_on_the_pages_and_a_signature_once_it_is_given(made: Scene, client: Client) -> None:
    stamps = [placement.pk for signer in made.signers for placement in signer.placements.all()]
    paths = [address(made, f"/stamps/{stamp}.svg") for stamp in stamps]
    page = text(client, made)
    assert page.count('<g class="place') == 2 and "signed" not in re.findall(r'<g class="place[^"]*', page)[0]
    assert not any(path in page or client.get(path).status_code != 404 for path in paths)
    sign(made)
    page = text(client, made)
    assert [path in page for path in paths] == [True, False] and 'aria-label="Ada Lovelace ✓, Émile Zola"' in page
    assert client.get(paths[0])["Content-Type"] == "image/svg+xml" and client.get(paths[1]).status_code == 404


def test_sealed_pages_take_the_place_of_those_that_were_uploaded(made: Scene, client: Client) -> None:
    before = client.get(page_of(made)).content
    finish(made)
    assert client.get(page_of(made)).content != before and '<g class="place' not in text(client, made)
    assert client.get(page_of(made, 2)).status_code == 404


def test_pages_come_with_the_changed_part_only_when_they_look_otherwise(made: Scene, client: Client) -> None:
    before = asked_again(client, made)
    Inquiry.objects.create(signer=made.signers[0], kind="question", text="Who pays <b>this</b>?")
    part = client.get(before, headers=BY_SCRIPT).content.decode()
    assert "Who pays &lt;b&gt;this&lt;/b&gt;?" in part and 'id="pages"' not in part
    before = asked_again(client, made)
    sign(made)
    pages = 'id="pages" tabindex="0" aria-label="Pages" hx-swap-oob="innerHTML"'
    assert pages in read(client.get(before, headers=BY_SCRIPT))


def test_what_the_request_is_stands_on_the_page_and_nothing_of_what_it_is_not(made: Scene, client: Client) -> None:
    page = text(client, made)
    assert not any(word in page for word in ("External ID", "Approver", "Copies go to", "Declined"))
    folded = re.search(r'<details class="card fold" id="journal"><summary>(.*?)</summary>', page, re.S)
    assert folded and "Timeline" in folded[1] and "The request was created." in folded[1]
    SignatureRequest.objects.update(title="Lease of the pier", locale="ar", locale_chosen=True, initials_required=True)
    SignatureRequest.objects.update(external_id="lease-<4711>", metadata={"street": "Lime & Co.", "items": "5"})
    page = client.get(address(made)).content.decode()
    assert "<h1>Lease of the pier</h1>" in page and "العربية" in page and "<dd>Yes</dd>" in page
    assert '<dt>External ID</dt><dd class="wrap">lease-&lt;4711&gt;</dd>' in page
    assert '<dt><code>street</code></dt><dd class="wrap">Lime &amp; Co.</dd>' in page


def test_automatic_reminders_stand_apart_from_those_by_hand(made: Scene, client: Client) -> None:
    assert "Automatic reminders" not in text(client, made)
    SignatureRequest.objects.update(remind_every_days=3, reminders_at_most=9, send_email=True)
    Signer.objects.update(notified_at=timezone.now())
    before = timezone.now() - timedelta(days=2)
    for number in range(1, 7):
        Reminder.objects.create(signer=made.signers[0], number=number, automatic=number > 1, asked_at=before)
    page = text(client, made)
    assert "<dt>Automatic reminders</dt><dd>Every 3 days, at most 9</dd>" in page
    assert "1 reminder of 5" in page and "5 automatic reminders" in page
    assert f'id="remind-{made.signers[0].pk}"' in page, "four by hand are left"


def test_nothing_told_yet_is_not_nobody_to_tell(made: Scene, log_in: LogIn) -> None:
    _, client = log_in(Role.OWNER, at=made.request.organization)
    assert "the application has no webhook URL" in text(client, made)
    Application.objects.update(webhook_url="https://hooks.example.com/in")
    assert "No webhook events yet." in text(client, made)


@pytest.mark.parametrize(
    ("environment", "phone", "note"),
    [
        ("production", "", "Not mailed: there was no mail server."),
        ("production", "+33612345678", "Not sent: there was no SMS gateway."),
        ("sandbox", "", "Kept in the sandbox inbox."),
    ],
)
def test_what_nobody_took_is_not_said_to_be_taken(environment: str, phone: str, note: str) -> None:
    made = scene(environment=environment, send_email=True, notify_signers_on_completion=True, signer={"phone": phone})
    invite(made.signers[0].pk)
    Reminder.objects.create(signer=made.signers[0], number=1)
    send_reminder(made.signers[0].pk, 1)
    send_otp(made.signers[0], "sms" if phone else "email", VISITOR)
    client = just_logged_in(made.request.organization, Role.ADMIN)
    page = text(client, made)
    assert "The invitation of Ada Lovelace was not mailed." in page
    assert "The reminder of Ada Lovelace was not mailed." in page
    assert f"A code for Ada Lovelace at {phone or 'ada1@example.com'} was not sent." in page
    assert note in page and not any(word in page for word in ("captured:", "was invited", "was reminded"))
    assert ">Waiting</span>" in page and ">Invited</span>" not in page
    sign(made)
    notify_completion(made.request.pk)
    page = text(client, made)
    assert "Mails about the completion that were not sent: 1 of 1." in page and note in page
    assert "were told that it is completed" not in page


def test_a_public_service_without_a_mail_server_says_that_nothing_is_sent(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": "https://sign.example.com"})
    for environment in ("production", "sandbox"):
        made = scene(environment=environment, send_email=True)
        page = text(just_logged_in(made.request.organization, Role.ADMIN), made)
        for words in ("data-lost", "Whoever runs this service can set one up.", "paraph inbox"):
            assert (words in page) is (environment == "production")


def test_who_gets_a_code_by_sms_without_a_gateway_is_named_first(settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    made = scene(environment="production", send_email=True, signer={"phone": "+33612345678", "otp_channel": "sms"})
    client = just_logged_in(made.request.organization, Role.MEMBER)
    assert "No SMS gateway is set up, so no code reaches Ada Lovelace." in outcome_of(text(client, made))
    settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": "apprise+json://127.0.0.1:9/{to}"})
    assert "SMS gateway" not in text(client, made)


def test_the_mail_servers_own_words_are_for_those_who_operate(made: Scene, client: Client) -> None:
    invited(made.signers[0])
    page = text(client, made)
    assert "Ada Lovelace was invited." in page and "250 2.0.0" not in page
    owner = text(just_logged_in(made.request.organization, Role.OWNER), made)
    answer = re.search(r"<details id=\"answer-\d+\"><summary.*?</details>", owner, re.S)
    assert answer and "250 2.0.0 queued as 4711" in answer[0] and owner.count("250 2.0.0") == 1


def test_a_signer_is_reminded_once_a_day_in_words_of_the_sender(made: Scene, client: Client, settings: Any) -> None:
    invited(made.signers[0])
    remind = address(made, f"/signers/{made.signers[0].pk}/remind")
    assert client.post(remind).headers["Location"] == address(made)
    page = text(client, made)
    assert "The reminder was not mailed: there is no mail server." in page
    assert "Reminded today at" in page and "You can remind again tomorrow." in page and f'href="{remind}"' not in page
    refused = read(client.post(remind), 422)
    assert 'role="alert"' in refused and "You can remind again tomorrow." in refused
    assert client.post(address(made, f"/signers/{made.signers[1].pk}/remind")).status_code == 422
    Reminder.objects.all().delete()
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    asked = read(client.get(remind))
    assert "Reminder: Acme Ltd asks you to sign" in asked and made.signers[0].email.partition("@")[0] in asked
    assert client.post(remind, {"message": "x" * 1001}).status_code == 422
    assert client.post(remind, {"message": "We move in\non Monday."}).status_code == 303
    assert Reminder.objects.get().message.splitlines() == ["We move in", "on Monday."]
    assert "Reminder sent to Ada Lovelace." in text(client, made)
    assert client.get(address(made, f"/signers/{scene().signers[0].pk}/remind")).status_code == 404


def test_a_request_is_duplicated_and_its_draft_reviewed(client: Client, made: Scene) -> None:
    SignatureRequest.objects.update(environment="production")
    Document.objects.update(environment="production")
    page = text(client, made)
    assert f'action="{address(made, "/duplicate")}"' in page
    review = client.post(address(made, "/duplicate")).headers["Location"]
    assert re.fullmatch(r"/app/\d+/drafts/\d+/review", review)
    shown = read(client.get(review))
    assert "contract-1.pdf" in shown and "Ada Lovelace" in shown
    Document.objects.update(file_deleted_at=timezone.now())
    assert "Its files were deleted" in read(client.post(address(made, "/duplicate")), 422)


def test_a_request_is_withdrawn_with_a_reason_or_without(made: Scene, client: Client) -> None:
    end = address(made, "/end")
    assert "Everyone who was invited gets a mail." in read(client.get(end))
    SignatureRequest.objects.update(send_email=False)
    assert "please tell them yourself" in read(client.get(end))
    assert client.post(end, {"reason": "x" * 501}).status_code == 422
    assert client.post(end, {"reason": "The price changed"}).headers["Location"] == address(made)
    made.request.refresh_from_db()
    assert made.request.status == "expired" and made.request.ended_early_at
    act = Activity.objects.latest("pk")
    assert (act.action, act.after) == ("request.ended_early", {"reason": "The price changed"})
    page = text(client, made)
    assert ">Withdrawn<" in page and "The price changed" in page and "Remind" not in page
    assert client.post(end, {"reason": "Again"}).status_code == 422
    other = beside(made)
    assert client.post(address(other, "/end")).status_code == 303, "nobody has to say why"
    assert SignatureRequest.objects.get(pk=other.request.pk).status == "expired"


def test_a_signing_link_is_shown_once_and_noted(made: Scene, client: Client) -> None:
    link = signing_url(Signer.objects.get(pk=made.signers[0].pk))
    shown = client.post(address(made, f"/signers/{made.signers[0].pk}/link"))
    assert link in read(shown) and "no-store" in shown.headers["Cache-Control"]
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    act = Activity.objects.latest("pk")
    assert act.action == "signing_link.shown" and link not in str(vars(act))
    assert link not in text(client, made) and link not in str(dict(client.session))
    of_another = client.post(address(made, f"/signers/{scene().signers[0].pk}/link"))
    assert "/sign/" not in read(of_another, 422)


def test_verifying_compares_the_journal_in_a_place(made: Scene, client: Client) -> None:
    with no_place_left(made.request.organization_id):
        assert client.get(address(made, "/verify")).status_code == 503
    page = text(client, made, "/verify")
    assert "chain intact" in page and "<strong>Cannot be told.</strong> There are no sealed files yet" in page
    assert client.get(address(made, "/proof")).status_code == 404


def invited(signer: Signer, acknowledgement: str = "250 2.0.0 queued as 4711") -> None:
    signer.invitation = {"taken_at": "2026-01-01T00:00:00Z", "acknowledgement": acknowledgement}
    signer.notified_at, signer.status = timezone.now() - timedelta(days=2), "notified"
    signer.save()
    signer.request = SignatureRequest.objects.get(pk=signer.request_id)
    events.signer_notified(signer, acknowledgement)


def test_finished_files_are_downloaded_and_compared(
    made: Scene, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = finished(made)
    for rest, key in ((f"/documents/{made.request_documents[0].document_id}", keys[0]), ("/proof", keys[1])):
        assert rest in text(client, made)
        assert key in client.get(address(made, rest)).headers["Location"]
    page = text(client, made, "/verify")
    assert page.count("As it was sealed") == 2 and "contract-1-signed.pdf" in page
    assert "<strong>Holds.</strong> The journal and all stored files are exactly as recorded." in page
    assert address(made, "/everything.zip") in page
    public = f"{settings.PARAPH.public_url}/verify"
    assert f'<a href="{public}" rel="nofollow">{public}</a>, without an account.' in page
    with monkeypatch.context() as off:
        off.setattr(settings.PARAPH, "verify_page", False)
        assert public not in text(client, made, "/verify")
    store.put(keys[0], b"another file")
    page = text(client, made, "/verify")
    assert "Not what was sealed" in page and page.count("As it was sealed") == 1 and 'role="alert"' in page
    assert "<strong>Was altered.</strong> Something differs" in page
    store.delete(keys[0])
    page = text(client, made, "/verify", HTTP_ACCEPT_LANGUAGE="de")
    assert "<strong>Lässt sich nicht feststellen.</strong> Eine gespeicherte Datei fehlt." in page
    SignatureRequest.objects.filter(pk=made.request.pk).update(files_deleted_at=timezone.now())
    assert client.get(address(made, "/proof")).status_code == 404


def finished(made: Scene) -> list[str]:
    """Complete the request without a worker; return the keys of its sealed documents and of its proof."""
    keys = seal_everything(made.request)
    over = {"status": "completed", "finalized": True, "completed_at": timezone.now()}
    SignatureRequest.objects.filter(pk=made.request.pk).update(**over)
    return keys


def test_one_download_has_all_evidence(made: Scene, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get(address(made, "/everything.zip")).status_code == 404, "nothing is sealed yet"
    finish(made)
    assert f'"{address(made, "/everything.zip")}">' in text(client, made), "browsers show no page to a[download]"
    answer: Any = client.get(address(made, "/everything.zip"))
    saved_as = f'attachment; filename="request-{made.request.pk}.zip"'
    assert (answer.headers["Content-Disposition"], answer.headers["Content-Type"]) == (saved_as, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
        assert {"proof.pdf", "roots.pem", "README.html"} <= set(archive.namelist())
        largest = max(member.file_size for member in archive.infolist())
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", largest + 1)  # each file fits, but not all of them together
    assert "larger than 2 GB together. Download each." in read(client.get(address(made, "/everything.zip")), 409)


def test_while_no_authority_gives_a_timestamp_a_page_says_so(
    made: Scene, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(made)
    everything = address(made, "/everything.zip")
    with monkeypatch.context() as while_it_lasts:
        while_it_lasts.setattr(make, "sealing_context", silent)
        answer = client.get(everything, HTTP_ACCEPT_LANGUAGE="de")
        page = read(answer, 503)
        assert "<h1>Im Augenblick nicht verfügbar</h1>" in page and "Es geht nichts verloren: Versuchen Sie" in page
        assert answer.headers["Retry-After"] == "5"
    assert b"".join(client.get(everything)).startswith(b"PK")


def test_roles_copies_and_who_declined_stand_on_the_page() -> None:
    made = scene(signers=2, approvers=[0], copies=1, decline_allowed=True)
    client = just_logged_in(made.request.organization, Role.MEMBER)
    page = text(client, made)
    assert 'data-role="approver"' in page and "copy0@example.com" in page
    sign(made)
    page = text(client, made)
    assert "Ada Lovelace approved." in page and "Approved" in page
    assert "1 of 2 signed or approved. Waiting for Émile Zola." in page
    signer = Signer.objects.select_related("request__organization").get(pk=made.signers[1].pk)
    decline(signer, "The <rent> is wrong.", VISITOR)
    page = text(client, made)
    assert "Émile Zola declined: “The <rent> is wrong.”" in page and "Declined" in page
    assert "Émile Zola declined, and the request ended." in page
    signer.request.refresh_from_db()
    assert signer.request.ended_early_at
    row = page[page.index(f'<li data-id="{signer.pk}" class="declined"') :].partition("</li>")[0]
    assert f'datetime="{signer.request.ended_early_at.isoformat()}' in row, "when it was declined"


def test_values_stand_on_the_page_once_they_are_signed(made: Scene, client: Client) -> None:
    asked: dict[str, dict[str, Any]] = {
        "iban": {"label": "Your <IBAN>"},
        "rent": {"type": "number"},
        "address": {"type": "multiline"},
        "pets": {"type": "checkbox"},
        "remarks": {"required": False},
    }
    assert 'id="fields"' not in text(client, made)
    filled = scene(fields=[{"name": name, **field} for name, field in asked.items()], documents=2, locale="de")
    client = just_logged_in(filled.request.organization, Role.OBSERVER)

    def page() -> str:
        return client.get(address(filled)).content.decode()

    signer = Signer.objects.get(pk=filled.signers[0].pk)
    own = list(Field.objects.filter(request_document=filled.request_documents[0]).order_by("position"))
    write(signer, dict(zip([field.pk for field in own[:4]], ["<DE89>", "1250.50", "One\nTwo", True], strict=True)))
    signer.save(update_fields=["fields_encrypted"])
    before = page()
    assert before.count("<dt><bdi>Your &lt;IBAN&gt;") == 2 and "DE89" not in before, "entered, and not signed"
    Signer.objects.filter(pk=signer.pk).update(status="signed", signed_at=timezone.now())
    shown = page()
    assert 'id="fields"><summary><h2>Fields filled in<' in shown
    assert shown.count('Ada Lovelace <span class="quiet">·') == 2
    for value in ("&lt;DE89&gt;", "1.250,50", "One<br>Two", "ticked", "left empty"):
        assert f"<bdi>{value}</bdi>" in shown
    SignatureRequest.objects.filter(pk=filled.request.pk).update(files_deleted_at=timezone.now())
    Signer.objects.filter(pk=signer.pk).update(fields_encrypted=None)
    assert "Your &lt;IBAN&gt;" in page() and "left empty" not in page(), "deleted with the files"


def refused(row: Signer | CopyRecipient, mail: str = "invitation-1", channel: str = "email") -> None:
    facts = {"mail": mail, "channel": channel, "answer": "550 5.1.1 …: User unknown", "at": clock.iso(clock.now())}
    type(row).objects.filter(pk=row.pk).update(undelivered=facts)


def test_what_was_refused_for_good_says_so_and_what_to_do(made: Scene, client: Client, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    signer = made.signers[0]
    SignatureRequest.objects.update(send_email=True)
    refused(signer)
    page = text(client, made)
    assert "Could not be delivered to Ada Lovelace." in page and "or send again if it is right." in page
    assert "The mail server refuses the address: “550 5.1.1 …: User unknown”" in page and "Being mailed" not in page
    assert 'id="first-action"' in page and f"/signers/{signer.pk}/correct" in page and "Correct Ada Lovelace" in page
    again = address(made, f"/signers/{signer.pk}/remind")
    assert f'action="{again}"' in page and f'id="again-{signer.pk}"' in page
    assert client.post(again).status_code == 303
    page = text(client, made)
    assert "Sending to Ada Lovelace again." in page and "Could not be delivered" not in page
    assert Signer.objects.get(pk=signer.pk).undelivered is None and f'id="again-{signer.pk}"' not in page


def test_a_number_and_a_copy_that_refuse() -> None:
    made = scene(copies=1)
    refused(CopyRecipient.objects.get(), "copy-1")
    refused(made.signers[0], "code-sms", "sms")
    page = text(just_logged_in(made.request.organization, Role.MEMBER), made)
    assert "Not delivered: “550 5.1.1 …: User unknown”" in page and "The SMS gateway refuses the number:" in page


NEW = "ada.lovelace@example.org"
ADA = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada1@example.com", "phone": "", "otp_channel": ""}


def correcting(made: Scene, position: int = 0) -> str:
    return address(made, f"/signers/{made.signers[position].pk}/correct")


def after(client: Client, made: Scene, rest: str, entered: dict[str, str]) -> str:
    """Send the form and return the page of the request, to which it leads."""
    answer = client.post(rest, entered)
    assert (answer.status_code, answer["Location"]) == (303, address(made))
    return read(client.get(address(made)))


def test_who_is_corrected_to_another_address_gets_another_link_and_a_new_invitation(
    made: Scene, client: Client, settings: Any
) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://mail.example"})
    assert f'href="{correcting(made)}"' in text(client, made)
    page = read(client.get(correcting(made)))
    assert "Correct Ada Lovelace" in page and 'value="ada1@example.com"' in page and 'value="Lovelace"' in page
    assert 'name="role"' not in page and 'name="id"' not in page
    Signer.objects.filter(pk=made.signers[0].pk).update(status="notified", notified_at=clock.now())
    page = after(client, made, correcting(made), {**ADA, "email": NEW})
    assert "Ada Lovelace was corrected. The earlier link no longer works. A new invitation is on its way." in page
    assert "Ada Lovelace was corrected: E-mail." in page
    assert [(name, given["signer_id"]) for name, given in jobs()] == [("invite", made.signers[0].pk)]
    entry = made.entries()[-1]
    assert (entry.event_type, entry.ip) == ("signer.corrected", "127.0.0.1")
    assert Activity.objects.get(action="signer.corrected").actor_kind == "member"
    another = ADA | {"first_name": "Émile", "last_name": "Zola", "email": "zola@example.org"}
    page = after(client, made, correcting(made, 1), another)
    assert "They are invited when it is their turn." in page and len(jobs()) == 1


def test_another_name_leaves_the_link_and_without_a_mail_server_a_new_one_is_to_be_given(
    made: Scene, client: Client
) -> None:
    page = after(client, made, correcting(made), {**ADA, "last_name": "King", "language": "sv"})
    assert "Ada King was corrected." in page and "earlier link" not in page
    signer = Signer.objects.get(pk=made.signers[0].pk)
    assert (signer.replaced_links, signer.locale) == (0, "sv")
    assert "Ada King was corrected: Last name, Language." in page
    page = after(client, made, correcting(made), {**ADA, "last_name": "King", "language": "sv", "email": NEW})
    assert "The earlier link no longer works. Please give them the new one." in page, "there is no mail server"


def test_what_is_wrong_with_a_correction_stands_at_its_field(made: Scene, client: Client) -> None:
    Signer.objects.filter(pk=made.signers[1].pk).update(email="zola@example.org")
    for entered, field, sentence in [
        ({"email": "x"}, "email", "“x” is not an e-mail address."),
        ({"email": "Zola@example.org"}, "email", "Another signer of this request has this address."),
        ({"last_name": ""}, "last_name", "Enter a last name."),
        ({"otp_channel": "sms"}, "otp_channel", ""),
    ]:
        page = read(client.post(correcting(made), {**ADA, **entered}), 422)
        assert sentence in page and f'<a href="#id_{field}">' in page
    nothing = "Nothing changes: the signer has these values already."
    assert nothing in read(client.post(correcting(made), ADA), 422)
    assert "signer.corrected" not in made.events()


def test_who_signed_by_sms_keeps_that_way_without_a_gateway(client: Client, made: Scene) -> None:
    Signer.objects.filter(pk=made.signers[0].pk).update(otp_channel="sms", phone="+33612345678")
    after(client, made, correcting(made), ADA | {"otp_channel": "sms", "phone": "+33 6 12 34 56 79"})
    assert Signer.objects.get(pk=made.signers[0].pk).phone == "+33612345679"


def test_who_has_signed_cannot_be_corrected(made: Scene, client: Client) -> None:
    sign(made)
    assert f'href="{correcting(made)}"' not in text(client, made)
    page = read(client.get(correcting(made)))
    assert "The signer has already signed." in page and "<form class=" not in page
    assert "The signer has already signed." in read(client.post(correcting(made), {**ADA, "email": NEW}), 422)


def test_message_and_end_are_changed_together_or_the_message_alone(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(subject="Your laese")
    extend = address(made, "/extend")
    assert f'href="{extend}"' in text(client, made) and 'value="Your laese"' in read(client.get(extend))
    after(client, made, extend, {"subject": "Your leese", "message": ""})
    request = SignatureRequest.objects.get()
    assert (request.subject, request.expires_at) == ("Your leese", made.request.expires_at)
    assert "request.extended" not in made.events()
    entered = {"validity_days": "30", "subject": "Your lease", "message": "Dear tenants,\r\nplease sign."}
    page = after(client, made, extend, entered)
    request.refresh_from_db()
    assert (request.subject, request.message) == ("Your lease", "Dear tenants,\nplease sign.")
    assert request.expires_at - clock.now() > timedelta(days=29)
    assert "Saved. Signers have time until" in page and "Signers got more time: until" in page
    assert {"request.extended", "request.reworded"} <= set(Activity.objects.values_list("action", flat=True))


def test_fewer_or_too_many_days_change_nothing(made: Scene, client: Client) -> None:
    for days, sentence in [
        ("1", "The request can already be signed until"),
        ("91", "It must be 1 to 90 days."),
        ("x", "It must be 1 to 90 days."),
    ]:
        entered = {"validity_days": days, "subject": "Other"}
        assert sentence in read(client.post(address(made, "/extend"), entered), 422)
        assert SignatureRequest.objects.get().subject == ""
    SignatureRequest.objects.update(status="expired")
    assert "The request is over." in read(client.get(address(made, "/extend")))
    assert "The request is over." in read(client.post(address(made, "/extend"), {"validity_days": "30"}), 422)


def test_without_mails_there_is_no_message_to_change(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(send_email=False)
    page = read(client.get(address(made, "/extend")))
    assert 'name="message"' not in page and "Give more time" in page
    after(client, made, address(made, "/extend"), {"validity_days": "30"})


HAND_OVER = "Please hand over this device"


def here(client: Client, made: Scene) -> Any:
    """Return the answer to a member who lets the first signer sign on the member's device."""
    return client.post(address(made, f"/signers/{made.signers[0].pk}/here"))


def main_of(page: str) -> str:
    return page.split("<main")[1].split("</main>", maxsplit=1)[0]


def signed(made: Scene, in_person: str) -> Any:
    body = {"code": made.code(), "consent": True, "in_person": in_person}
    return Client().post(made.url(rest="/signature"), json.dumps(body), "application/json")


def test_who_is_in_turn_may_sign_on_the_device_of_a_member(made: Scene, client: Client) -> None:
    """The signing page says whose turn it is, and nothing of the dashboard; it sends its ticket with the signature."""
    page = text(client, made)
    assert f'id="here-{made.signers[0].pk}">Let them sign on this device' in page
    assert f'id="here-{made.signers[1].pk}"' not in page
    assert "on this device" not in text(just_logged_in(made.request.organization, Role.OBSERVER), made)
    opened = here(client, made)["Location"]
    assert opened.startswith(made.url())
    page = read(client.get(opened))
    assert "It’s Ada Lovelace’s turn" in page and "/app/" not in page
    assert Activity.objects.latest("pk").action == "signing_link.shown"
    assert HAND_OVER not in read(client.get(made.url())) and HAND_OVER in read(client.post(opened, {"lang": "en"}))
    found = re.search(r'data-in-person="([^"]+)"', page)
    assert found and signed(made, found[1]).status_code == 200
    assert made.entries()[-1].metadata["in_person"] is True
    assert here(client, made).status_code == 422, "as for the link"


def test_a_signature_on_a_members_device_is_journaled_and_ends_by_giving_the_device_back(
    made: Scene, client: Client
) -> None:
    """All of this works without scripts."""
    form = re.search(
        r'<form id="form" method="post" action="([^"#]+)#', read(client.get(here(client, made)["Location"]))
    )
    assert form
    answer = Client().post(form[1], {"do": "sign", "code": made.code(), "consent": "on"})
    facts = made.entries()[-1].metadata
    assert (facts["in_person"], facts["member_id"]) == (True, Member.objects.get().pk)
    last = read(Client().get(answer["Location"]))
    assert "Please give this device back to Acme Ltd" in last and "You have signed" in last
    assert "<a" not in main_of(last) and "<form" not in main_of(last)
    assert "/app/" not in last and "progress.js" not in last


def test_who_declines_there_gives_the_device_back_too(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(decline_allowed=True)
    Organization.objects.update(contact_email="questions@acme.example")
    asks = f'href="{made.url(rest="/ask")}'
    assert asks in read(client.get(made.url()))
    for language in ("", "&lang=de"):
        page = read(client.get(f"{here(client, made)['Location']}{language}"))
        link = re.search(r'href="([^"]+/decline)"', page)
        assert link and asks not in page
    form = link and re.search(r'method="post" action="([^"]+)"', read(Client().get(link[1])))
    assert form and "in_person=" in form[1]
    answer = Client().post(f"{made.url(rest='/decline')}{form[1]}", {"reason": "Too high."})
    main = main_of(read(Client().get(answer["Location"]), 410))
    assert "Bitte geben Sie dieses Gerät" in main and "<a" not in main


def test_a_ticket_is_of_one_signer_for_a_time_and_of_a_member_who_is_there(
    made: Scene, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = Member.objects.get()
    one, other = Signer.objects.select_related("request").order_by("order")
    good = in_person_ticket(one, member.pk)
    number, until, proof = good.split(".")

    def refused(ticket: str) -> None:
        answer = signed(made, ticket)
        assert answer.status_code == 422 and "in_person" in answer.json()["error"]["message"], ticket
        assert HAND_OVER not in read(client.get(made.url(rest=f"?in_person={ticket}")))

    refused("x")
    refused(in_person_ticket(other, member.pk))
    refused(f"{int(number) + 1}.{until}.{proof}")
    refused(f"{number}.{int(until) + 1}.{proof}")
    now = clock.now()
    with monkeypatch.context() as late:
        late.setattr(clock, "now", lambda: now + timedelta(hours=12, minutes=1))
        assert signed(made, good).status_code == 422
    for role in Role.values:
        Member.objects.update(role=role)
        shown = HAND_OVER in read(client.get(made.url(rest=f"?in_person={good}")))
        assert shown is may(role, Right.SEND), "as long as the right that it came of"
    refused(good)  # of an observer now
    Member.objects.update(role=Role.MEMBER, organization=create_organization("Elsewhere", "pro"))
    refused(good)
    Member.objects.update(organization=made.request.organization_id)
    User.objects.filter(pk=member.user_id).update(is_active=False)
    assert signed(made, good).status_code == 422
    User.objects.filter(pk=member.user_id).update(is_active=True)
    member.delete()
    refused(good)
