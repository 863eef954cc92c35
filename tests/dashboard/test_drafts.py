"""From a PDF to a sent request, by plain forms alone."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from playwright.sync_api import sync_playwright

from paraph import dashboard
from paraph.documents.models import Document
from paraph.drafts.models import Draft, Placed
from paraph.signature_requests.links import token
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.admin_log import Action
from paraph.tenants.models import Activity, Organization, Role, User
from tests.api.v1.api_clients import ApiClient
from tests.chromium import launch
from tests.dashboard.conftest import LogIn, no_place_left, pdf, read
from tests.drafts import stored
from tests.pdf.pdf_factory import paper, text
from tests.tenancy import create_application, create_branding_profile, create_organization, suspend

pytestmark = pytest.mark.django_db


def begun(client: Client, organization: Organization) -> str:
    """The address of a new draft, without its step."""
    answer = client.post(f"/app/{organization.pk}/drafts")
    assert answer.status_code == 303
    return answer.headers["Location"].removesuffix("/documents")


def entered(prefix: str, *rows: dict[str, Any], initial: int = 0) -> dict[str, Any]:
    """Return the fields that a browser sends for a formset."""
    fields = {f"{prefix}-TOTAL_FORMS": len(rows), f"{prefix}-INITIAL_FORMS": initial}
    return fields | {f"{prefix}-{index}-{name}": value for index, row in enumerate(rows) for name, value in row.items()}


def person(first: str, **changes: Any) -> dict[str, Any]:
    email = f"{first.lower()}@example.com"
    fixed = {"first_name": first, "last_name": "Byron", "email": email, "phone": "", "otp_channel": "email"}
    return fixed | changes


NOBODY = person("", last_name="", email="")
"""A blank row."""


def signers(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    return entered("signer", *rows) | {"mode": "parallel"} | more


def known_signers(draft: Draft, *rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the signers' form of a draft whose only signer is Ada, with ``changes`` to her and ``rows`` after her."""
    [ada] = stored.signers(draft)
    return entered("signer", person("Ada", id=ada.ref, **changes), *rows, initial=1) | {"mode": "parallel"}


def stamp(draft: Draft, position: int = 0, **changes: Any) -> dict[str, Any]:
    signer, [document] = stored.signers(draft)[position], draft.files()
    fixed = {"signer": signer.ref, "document": document.pk, "page": 2, "x": 50, "y": 60.5, "width": 200, "height": 80}
    return fixed | changes


def options(**changes: Any) -> dict[str, Any]:
    return {"locale": "en", "validity_days": 30, "action": "send"} | changes


def ready(client: Client, organization: Organization) -> tuple[str, Draft]:
    """A draft with one signer and one stamp."""
    address = begun(client, organization)
    client.post(f"{address}/documents", {"file": pdf(), "action": "upload"})
    client.post(f"{address}/signers", signers(person("Ada")))
    draft = Draft.objects.latest("pk")
    client.post(f"{address}/places", entered("stamp", stamp(draft)))
    return address, draft


def alert(answer: Any) -> str:
    assert answer.status_code == 422, answer.content.decode()
    found = re.search(r'role="alert">(.*?)</div>', answer.content.decode(), re.DOTALL)
    assert found
    return found[1]


def test_the_whole_journey_to_a_sent_request(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    address = begun(client, organization)
    answer = client.post(f"{address}/documents", {"file": pdf(), "action": "upload"})
    assert (answer.status_code, answer.headers["Location"]) == (303, f"{address}/documents")
    assert "contract.pdf" in read(client.get(f"{address}/documents"))
    assert client.post(f"{address}/documents", {"action": "next"}).headers["Location"] == f"{address}/signers"
    answer = client.post(f"{address}/signers", signers(person("Ada"), NOBODY))
    assert answer.headers["Location"] == f"{address}/places"
    page = read(client.get(f"{address}/places"))
    assert page.count("data-stamp") == 1  # under the tag with the name of the signer
    draft = Draft.objects.get()
    [placed] = stored.stamps()
    assert placed.page_number == 1 and placed.signer == draft.signers[0]
    answer = client.post(f"{address}/places", entered("stamp", stamp(draft)))
    assert answer.headers["Location"] == f"{address}/review"
    _, other = log_in(Role.MEMBER)  # who finds it as it was left
    assert 'value="Ada"' in read(other.get(f"{address}/signers"))
    assert 'value="60.5"' in read(other.get(f"{address}/places"))
    drafts = f"/app/{organization.pk}/drafts"
    assert "contract.pdf" in read(other.get(drafts))
    page = read(client.get(f"{address}/review"))
    assert "Analytical Engines" in page and 'role="alert"' not in page
    answer = client.post(f"{address}/review", options())
    assert "contract.pdf" not in read(other.get(drafts))
    request = SignatureRequest.objects.get()
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/app/{organization.pk}/requests/{request.pk}")
    assert (request.sent_by, request.application, request.environment) == (member.user, None, "production")
    signing = Client().get(f"/sign/{token(request.signers.get())}")
    assert "frame-ancestors 'none'" in signing.headers["Content-Security-Policy"]


def test_documents_of_others_cannot_be_added(log_in: LogIn, organization: Organization) -> None:
    elsewhere = create_organization("Elsewhere", "pro")
    _, stranger = log_in(at=elsewhere)
    stranger.post(f"/app/{elsewhere.pk}/documents", {"file": pdf()})
    sandbox = ApiClient(create_application(organization.pk, "sandbox", "shop").api_key).document()
    foreign = [Document.objects.get(organization=elsewhere).pk, sandbox]
    _, client = log_in()
    client.post(f"/app/{organization.pk}/drafts", {"document": foreign})
    client.post(f"{begun(client, organization)}/documents", {"earlier": foreign, "action": "next"})
    assert not any(draft.documents.exists() for draft in Draft.objects.all())


def test_signers_are_added_one_by_one_and_keep_their_stamps(client: Client, address: str, draft: Draft) -> None:
    def pressed(**button: str) -> str:
        rows = [person(each.first_name, id=each.ref) for each in stored.signers(draft)]
        sent = entered("signer", *rows, initial=len(rows)) | {"mode": "sequential"} | button
        return str(client.post(f"{address}/signers", sent).headers["Location"])

    sent = known_signers(draft, person("Grace"), last_name="Lovelace") | {"mode": "sequential", "action": "add"}
    answer = client.post(f"{address}/signers", sent)
    assert answer.headers["Location"] == f"{address}/signers#id_signer-2-email", "the blank row has the focus"
    assert [signer.first_name for signer in stored.signers(draft)] == ["Ada", "Grace"]
    assert [each.signer.last_name for each in stored.stamps()] == ["Lovelace"]
    assert pressed(up="1").endswith("#id_signer-0-email"), "where it is now"
    assert [signer.first_name for signer in stored.signers(draft)] == ["Grace", "Ada"]
    pressed(remove="1")
    assert [signer.first_name for signer in stored.signers(draft)] == ["Grace"]


WRONG_SIGNERS: list[tuple[dict[str, Any], str]] = [
    ({"email": "nobody"}, "is not an e-mail address"),
    ({"email": "x@localhost"}, "full domain name"),
    ({"phone": "+0612"}, "E.164"),
    ({"phone": "0612"}, "nclude the country code"),
    ({"otp_channel": "sms"}, "needs a phone number"),
    ({"otp_channel": "sms", "phone": "+33 899 123 456"}, "is not a number to which codes are sent"),
    ({"first_name": " "}, "nter a first name."),
    ({"first_name": "a\u2028b"}, "control characters"),
]


def test_what_is_wrong_with_a_signer_stands_beside_the_field(
    client: Client, organization: Organization, settings: Any
) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": "twilio://a:b@c"})
    address = begun(client, organization)
    for changes, said in WRONG_SIGNERS:
        answer = client.post(f"{address}/signers", signers(person("Ada", **changes)))
        assert said in alert(answer) and "Signer 1: " in alert(answer)
        assert answer.content.decode().count(said) == 2
    assert not stored.signers()


def test_a_code_by_sms_is_offered_where_one_can_be_sent(
    client: Client, organization: Organization, settings: Any
) -> None:
    address = f"{begun(client, organization)}/signers"
    entered = signers(person("Ada", otp_channel="sms", phone="+33612345678"))
    for gateway, plan, status in (("", "pro", 422), ("twilio://a:b@c", "free", 422), ("twilio://a:b@c", "pro", 303)):
        settings.PARAPH = settings.PARAPH.model_copy(update={"sms_url": gateway})
        Organization.objects.update(plan=plan)
        assert ('<option value="sms">' in read(client.get(address))) == (status == 303)
        assert client.post(address, entered).status_code == status


def test_a_channel_that_has_no_gateway_any_more_is_told_and_chosen_anew(
    client: Client, address: str, draft: Draft
) -> None:
    stored.change_signers(otp_channel="sms", phone="+33612345678")
    said = alert(client.post(f"{address}/review", options()))
    assert f'href="{address}/signers#id_signer-0-otp_channel"' in said and "no SMS gateway" in said
    page = read(client.get(f"{address}/signers"))
    assert "<details open><summary>Role" in page and '<option value="sms"' not in page
    client.post(f"{address}/signers", known_signers(draft))
    assert client.post(f"{address}/review", options()).status_code == 303


def test_stamps_are_added_and_removed_by_buttons(client: Client, address: str, draft: Draft) -> None:
    rows = entered("stamp", stamp(draft), initial=1)
    assert client.post(f"{address}/places", rows | {"action": "add"}).headers["Location"] == f"{address}/places"
    assert len(stored.stamps()) == 2
    client.post(f"{address}/places", entered("stamp", stamp(draft), stamp(draft, x=90), initial=2) | {"remove": "0"})
    assert [each.x for each in stored.stamps()] == [90]


def test_signers_and_documents_are_those_of_the_draft(organization: Organization, client: Client) -> None:
    _, other = ready(client, organization)
    address, draft = ready(client, organization)
    [theirs], [file] = stored.signers(other), other.files()
    for foreign in ({"signer": theirs.ref}, {"document": file.pk}):
        alert(client.post(f"{address}/places", entered("stamp", stamp(draft, **foreign))))
    rows = entered("signer", person("Eve", id=theirs.ref), initial=1)
    client.post(f"{address}/signers", rows | {"mode": "parallel"})
    assert [each.first_name for each in stored.signers()] == ["Ada", "Eve"], "none of another draft is taken over"


def test_the_review_says_what_is_missing_and_where(client: Client, address: str, draft: Draft) -> None:
    client.post(f"{address}/signers", known_signers(draft, person("Grace")))
    said = alert(client.post(f"{address}/review", options()))
    assert "Grace Byron has no place to sign yet." in said and f'href="{address}/places"' in said
    assert "/signers" not in said and "Ada" not in said
    stored.unplaced()
    said = alert(client.post(f"{address}/review", options()))
    assert "Ada Byron has no place to sign yet." in said and "contract.pdf has no place to sign yet." in said
    assert "entry" not in said
    assert f'class="done"><a href="{address}/places' not in read(client.get(f"{address}/review"))
    assert not SignatureRequest.objects.exists()


def test_continue_is_held_back_where_something_is_missing(
    organization: Organization, client: Client, address: str, draft: Draft
) -> None:
    stored.unplaced()
    answer = client.post(f"{address}/places", entered("stamp") | {"action": "next"})
    assert "Ada Byron has no place to sign yet." in alert(answer)
    page = read(answer, 422)
    assert f'data-lacks-signer="{stored.signers(draft)[0].ref}">' in page and "data-lacks-document" in page
    empty = begun(client, organization)
    assert "Add a document first." in alert(client.post(f"{empty}/documents", {"action": "next"}))
    letter = {"file": pdf(b"Dear Ada", "letter.docx", "application/msword"), "action": "upload"}
    assert "letter.docx is not a PDF." in alert(client.post(f"{empty}/documents", letter))
    assert "Add a signer" in alert(client.post(f"{empty}/signers", signers()))


def test_a_name_that_nobody_chose_is_objected_to_and_a_link_is_said_where_there_is_one(
    organization: Organization, client: Client, address: str
) -> None:
    page = read(client.get(f"{address}/review"))
    assert "data-unnamed" not in page and "With a link to their copy." in page
    Organization.objects.update(name="First organization", mails_copy_links=False)
    page = read(client.get(f"{address}/review"))
    assert "data-unnamed" in page and f"/app/{organization.pk}/settings" in page
    assert "Without a link to their copy." in page and "With a link to their copy." not in page


def test_what_forbids_sending_is_said_and_nothing_is_lost(
    organization: Organization, client: Client, address: str, settings: Any
) -> None:
    with_quota = settings.PARAPH
    settings.PARAPH = with_quota.model_copy(update={"web_sends_pro": 0})
    assert "used all 0 requests" in alert(client.post(f"{address}/review", options()))
    settings.PARAPH = with_quota
    suspend(organization.pk)
    assert "suspended" in alert(client.post(f"{address}/review", options()))
    assert "suspended" in read(client.post(f"/app/{organization.pk}/documents", {"file": pdf()}), 422)
    assert Document.objects.count() == 1 and stored.signers() and not SignatureRequest.objects.exists()


def test_all_that_is_said_on_review_is_kept_and_sent_and_leaves_the_draft(
    organization: Organization, client: Client, address: str, draft: Draft
) -> None:
    """All that the API can say, too."""
    review, profile = f"{address}/review", create_branding_profile(organization.pk)
    message = "Dear Ada,\r\n\r\n<b>please</b> sign." + "\r\n" * 40 + "x" * 4930
    chosen = {"title": "Lease", "locale": "ar", "validity_days": 3, "initials_required": "on"}
    chosen |= {"branding_profile": profile.pk, "subject": "Your lease", "message": message, "decline_allowed": "on"}
    chosen |= {"remind_every_days": 3, "reminders_at_most": 4, "external_id": "lease-4711"}
    chosen |= {"metadata": "property: Lime Street 4\r\nowner:  Ada: B. ", "callback_url": "https://hooks.example/in"}
    by_script = client.post(review, options(**chosen, action="save"), headers={"HX-Request": "true"})
    draft.refresh_from_db()
    assert (by_script.status_code, draft.name, draft.locale) == (204, "Lease", "ar"), "without loading the page again"
    assert client.post(review, options(**chosen, action="save")).headers["Location"] == review
    page = client.get(review).content.decode()
    assert f"<bdi>{organization.name}: Your lease</bdi>" in page and 'name="remind_every_days" value="3"' in page
    assert "&lt;b&gt;please&lt;/b&gt; sign.\n" in page and 'maxlength="5000"' in page
    assert "\nowner:  Ada: B. \nproperty: Lime Street 4</textarea>" in page
    sent = client.post(review, options(**chosen)).headers["Location"]
    assert "<bdi>Dear Ada,<br><br>&lt;b&gt;please&lt;/b&gt; sign.<br>" in client.get(sent).content.decode()
    request = SignatureRequest.objects.get()
    assert (request.title, request.locale, request.validity_days, request.initials_required) == ("Lease", "ar", 3, True)
    assert "Lease" in read(client.get(f"/app/{organization.pk}/requests"))
    assert (request.branding_profile, request.notify_signers_on_completion) == (profile, False)
    assert (request.subject, request.message) == ("Your lease", message.replace("\r\n", "\n"))
    assert (request.remind_every_days, request.reminders_at_most, request.decline_allowed) == (3, 4, True)
    assert (request.external_id, request.callback_url) == ("lease-4711", "https://hooks.example/in")
    assert request.metadata == {"property": "Lime Street 4", "owner": " Ada: B. "}
    draft.refresh_from_db()
    assert (draft.content, draft.subject, draft.message) == ({}, "", "")


WRONG_OPTIONS: list[tuple[str, Any, str]] = [
    ("message", "x" * 5001, "at most 5000 characters"),
    ("subject", "x" * 151, "at most 150 characters"),
    *(("validity_days", days, "It must be 1 to 90 days.") for days in (91, 0, "x")),
    ("remind_every_days", 31, "It must be 1 to 30 days."),
    ("metadata", "no name here", "the key “no name here” must have"),
    ("callback_url", "http://example.com", "is not an https address."),
    ("external_id", "a\u2028b", "control characters"),
]


def test_what_is_wrong_with_an_option_leads_to_it(
    organization: Organization, client: Client, address: str, draft: Draft
) -> None:
    create_branding_profile(organization.pk)
    foreign = create_branding_profile(create_organization("Elsewhere", "pro").pk)
    for name, value, said in [*WRONG_OPTIONS, ("branding_profile", foreign.pk, "")]:
        answer = client.post(f"{address}/review", options(**{name: value}))
        assert f'href="{address}/review#id_{name}"' in alert(answer) and said.lower() in alert(answer).lower()
        is_folded = name in ("metadata", "callback_url", "external_id")
        assert not is_folded or "<details open><summary>More" in read(answer, 422)
    draft.refresh_from_db()
    assert (draft.subject, draft.message, draft.content["validity_days"]) == ("", "", 30)
    assert "branding_profile_id" not in draft.content and not SignatureRequest.objects.exists()


def test_known_people_complete_themselves_by_their_address(
    log_in: LogIn, organization: Organization, client: Client, address: str
) -> None:
    """Only people of the same organization are known."""
    client.post(f"{address}/review", options())
    nameless = {"first_name": "", "last_name": ""}
    again = f"{begun(client, organization)}/signers"
    draft = Draft.objects.latest("pk")
    assert 'value="ada@example.com"' in read(client.get(again))
    for rows, names in (
        ((person("Grace"), person("", **nameless, email=" ADA@example.com")), ["Grace Byron", "Ada Byron"]),
        ((person("Augusta", email="ada@example.com"),), ["Augusta Byron"]),
    ):
        client.post(again, signers(*rows))
        assert [f"{each.first_name} {each.last_name}" for each in stored.signers(draft)] == names
    _, stranger = log_in(at=(elsewhere := create_organization("Elsewhere", "pro")))
    theirs = f"{begun(stranger, elsewhere)}/signers"
    assert "ada@example.com" not in read(stranger.get(theirs))
    entry = signers(person("", **nameless, email="ada@example.com"))
    assert "Signer 1: enter a last name." in alert(stranger.post(theirs, entry))


def test_a_member_adds_themselves_by_one_button(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in()
    User.objects.update(name="Ada Augusta Lovelace")
    address = f"{begun(client, organization)}/signers"
    draft, button = Draft.objects.latest("pk"), 'value="me"'

    def names() -> list[str]:
        return [f"{each.first_name} {each.last_name} {each.email}" for each in stored.signers(draft)]

    assert button in read(client.get(address))
    for rows in ((person("Grace"), NOBODY), (person("Grace"),)):  # a blank row is filled, or a row is added
        stored.change(draft, signers=[])
        answer = client.post(address, signers(*rows, action="me"))
        assert (answer.status_code, answer.headers["Location"]) == (303, f"{address}#id_signer-2-email")
        assert names() == ["Grace Byron grace@example.com", f"Ada Augusta Lovelace {member.user.email}"]
    assert button not in read(client.get(address))
    me = person("Countess", email=member.user.email.upper(), id=stored.signers(draft)[-1].ref)  # nobody signs twice
    client.post(address, signers(me, action="me"))
    assert [each.first_name for each in stored.signers(draft)] == ["Countess"]


@pytest.mark.parametrize("name", ["", "Ada"])
def test_who_has_no_full_name_is_asked_for_the_rest(log_in: LogIn, organization: Organization, name: str) -> None:
    member, client = log_in()
    User.objects.update(name=name)
    address = begun(client, organization)
    answer = client.post(f"{address}/signers", signers(action="me"))
    assert "Signer 1: enter a last name." in alert(answer)
    page = answer.content.decode()
    lacking = "last" if name else "first"
    assert re.search(rf'name="signer-0-{lacking}_name"[^>]* autofocus', page) and page.count(" autofocus") == 1
    assert f'value="{member.user.email}"' in page and (not name or 'value="Ada"' in page)
    assert not stored.signers()


def test_odd_numbers_of_rows_break_nothing(organization: Organization, client: Client) -> None:
    address = begun(client, organization)
    for count in ("", "x", "-1", "9" * 5000, "\u0663", "999"):
        sent = signers(person("Grace"), action="me") | {"signer-TOTAL_FORMS": count}
        assert client.post(f"{address}/signers", sent).status_code in (303, 422)


def test_the_review_shows_stamps_as_they_will_look(client: Client, address: str, draft: Draft) -> None:
    picture = f"{address}/signers/{stored.signers(draft)[0].ref}/stamp-200x80.svg"
    assert f'href="{picture}"' in read(client.get(f"{address}/review"))
    answer = client.get(picture)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
    assert answer.content.startswith(b"<svg") and answer.headers["Cache-Control"] == "private, max-age=900"
    assert client.get(picture.replace("200x80", "2000x80")).status_code == 404


def test_a_request_is_begun_with_files(log_in: LogIn, organization: Organization) -> None:
    """Files are chosen on the home page; a refused file alone begins no request, and the refusal is told."""
    _, client = log_in(Role.MEMBER)
    new = f"/app/{organization.pk}/drafts/new"
    answer = client.post(new, {"file": [pdf(), pdf(name="annex.pdf")]})
    draft = Draft.objects.get()
    assert answer.headers["Location"] == f"/app/{organization.pk}/drafts/{draft.pk}/signers"
    assert [row.document.name for row in draft.documents.all()] == ["contract.pdf", "annex.pdf"]
    text = pdf(b"Dear Ada", "letter.docx", "application/msword")
    told = client.post(new, {"file": text}, follow=True)
    assert told.redirect_chain == [(f"/app/{organization.pk}/", 303)]
    assert "letter.docx is not a PDF." in told.content.decode() and Draft.objects.count() == 1
    told = client.post(new, {"file": [pdf(name="third.pdf"), text]}, follow=True)
    assert told.redirect_chain[0][0].endswith("/documents") and "letter.docx is not a PDF." in told.content.decode()
    assert client.post(new).headers["Location"].endswith("/documents")
    assert Draft.objects.count() == 3


def test_text_that_readers_draw_differently_is_confirmed_before_it_is_sent(client: Client, address: str) -> None:
    review, asked = f"{address}/review", "accept_drawn_differently"
    assert asked not in read(client.get(review))
    document = Document.objects.get()
    document.preflight |= {"text_drawn_differently": [1, 3]}
    document.save(update_fields=["preflight"])
    assert asked in read(client.get(review))
    for action in ("send", "sign", "template"):
        said = read(client.post(review, options(action=action)), 422)
        assert "PDF readers show text of “contract.pdf” differently, on: 1, 3." in said
    assert client.post(review, options(action="save")).status_code == 303
    assert not SignatureRequest.objects.exists()
    assert client.post(review, options(accept_drawn_differently="on")).status_code == 303
    assert SignatureRequest.objects.exists()


def test_who_is_in_turn_sends_and_signs(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    address, _draft = ready(client, organization)
    button, need, home = 'value="sign"', 'data-need="turns"', f"/app/{organization.pk}/"
    assert button not in read(client.get(f"{address}/review"))
    stored.change_signers(email=member.user.email.upper())
    assert button in read(client.get(f"{address}/review"))
    answer = client.post(f"{address}/review", options(action="sign"))
    request = SignatureRequest.objects.get()
    page, path = f"{home}requests/{request.pk}", f"/sign/{token(request.signers.get())}"
    opened = answer.headers["Location"]
    assert answer.status_code == 303 and opened.startswith(f"{path}?")
    assert f'data-back="{page}"' in read(Client().get(opened))
    for address in (path, opened[:-1]):
        assert "/app/" not in read(Client().get(address)), "whoever comes by mail knows of no dashboard"
    assert Activity.objects.filter(action=Action.SIGNING_LINK_SHOWN, subject__startswith=f"request {request.pk}")
    assert need in read(client.get(home))
    assert client.post(f"{page}/sign").headers["Location"].startswith(f"{path}?dashboard=")
    _, other = log_in(Role.OWNER)
    assert need not in read(other.get(home)) and other.post(f"{page}/sign").headers["Location"] == page
    request.signers.update(status="signed")
    assert client.post(f"{page}/sign").headers["Location"] == page


def test_who_signs_later_is_not_asked_to_at_once(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    address, draft = ready(client, organization)
    client.post(f"{address}/signers", known_signers(draft, person("Grace", email=member.user.email)))
    for mode, asked in (("sequential", False), ("parallel", True)):
        stored.change(mode=mode)
        assert ('value="sign"' in read(client.get(f"{address}/review"))) == asked


@pytest.mark.parametrize("many", [True, False])
def test_a_large_draft_needs_a_place_and_a_small_one_none(
    many: bool, log_in: LogIn, organization: Organization
) -> None:
    _, client = log_in(Role.MEMBER)
    address, draft = ready(client, organization)
    draft.refresh_from_db()
    [document], [signer] = draft.files(), draft.signers
    draft.place([Placed(document, signer, 1, 50, 50, 90, 60) for _ in range(101 if many else 100)])
    with no_place_left(organization.pk):
        for said in ({}, {"action": "save", "long": "x" * 100_000}):
            method = client.post if said else client.get
            answer = method(f"{address}/signers", said, HTTP_ACCEPT="text/html")
            assert answer.status_code == (503 if many or said else 200)
        assert answer.headers["Retry-After"] == "5"
        assert "The service is too busy for this at the moment." in answer.content.decode()
        assert client.get(f"{address}/places", HTTP_ACCEPT="text/html").status_code == 503, "its tags are read"
        assert client.post(f"{address}/places", said, HTTP_ACCEPT="*/*").json()["error"]["code"] == "unavailable"


@pytest.mark.parametrize("beside", ["", "drafts_draft"])
def test_while_the_database_is_away_a_page_says_so(
    beside: str, log_in: LogIn, organization: Organization, caplog: pytest.LogCaptureFixture
) -> None:
    """The database is away from the first query on, which reads the account, or only for a query of the view."""

    def away(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if beside in sql:
            raise OperationalError("server closed the connection unexpectedly")
        return execute(sql, *rest)

    _, client = log_in(Role.MEMBER)
    address = begun(client, organization)
    with connection.execute_wrapper(away):
        answer = client.get(f"{address}/documents", HTTP_ACCEPT="text/html")
    assert answer.status_code == 503 and "Not available at the moment" in answer.content.decode()
    assert answer.headers["Retry-After"] == "5" and answer.headers["Cache-Control"] == "no-store, private"
    assert "the database does not answer: server closed the connection unexpectedly" in caplog.text
    assert client.get(f"{address}/documents").status_code == 200


def test_who_signs_alone_goes_on_at_once_and_finds_the_line_on_the_last_page_taken(
    log_in: LogIn, organization: Organization
) -> None:
    member, client = log_in(Role.MEMBER)
    User.objects.filter(pk=member.user_id).update(name="Ada Byron")
    begun_at = begun(client, organization)
    lease = paper(*[""] * 11, text("Signature: ____________________", 72, 300))
    client.post(f"{begun_at}/documents", {"file": pdf(lease), "action": "upload"})
    assert 'value="only-me"' in read(client.get(f"{begun_at}/signers"))
    address = client.post(f"{begun_at}/signers", signers(NOBODY, action="only-me")).headers["Location"]
    assert address == f"{begun_at}/places"
    [signer] = stored.signers()
    assert (signer.first_name, signer.last_name, signer.email) == ("Ada", "Byron", member.user.email)
    page = read(client.get(f"{begun_at}/signers"))
    assert 'value="only-me"' not in page and 'value="me"' not in page
    said = "1 signature was placed where the document asks for it."
    page = read(client.get(address))
    assert said in page and 'value="take-back"' in page
    [stamp] = stored.stamps()
    assert (stamp.page_number, round(stamp.x), stamp.height) == (12, 130, 56)
    assert said not in read(client.get(address)), "told once"
    assert client.post(address, {"action": "take-back"}).headers["Location"] == address
    assert stored.stamps() == [] and said not in read(client.get(address))


def test_of_two_signers_none_is_guessed_but_each_is_offered_a_line(organization: Organization, client: Client) -> None:
    address = begun(client, organization)
    lease = paper(text("Landlord: ____________________", 72, 300) + text("Tenant: ____________________", 72, 200))
    client.post(f"{address}/documents", {"file": pdf(lease), "action": "upload"})
    client.post(f"{address}/signers", signers(person("Ada"), person("Grace")))
    page = read(client.get(f"{address}/places"))
    assert "placed where the document asks" not in page and stored.stamps() == []
    first, second = (signer.ref for signer in stored.signers())
    assert page.index(f'"signer": "{first}", "type"') < page.index(f'"signer": "{second}", "type"')


def test_known_people_complete_themselves_while_their_address_is_entered(
    organization: Organization, client: Client
) -> None:
    """The page's script fills in what is known; what was typed stays."""
    for name in ("Ada", "Grace"):
        address, _ = ready(client, organization)
        client.post(f"{address}/review", options())
        known = {"first_name": name, "email": f"{name.lower()}@example.com", "phone": "+331"}
        Signer.objects.filter(pk=Signer.objects.latest("pk").pk).update(**known)
    html = read(client.get(f"{begun(client, organization)}/signers"))
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.set_content(html)
        page.add_script_tag(path=Path(dashboard.__file__).parent / "static/dashboard/signers.js")
        email, first, last, phone = (
            page.locator(f"[name=signer-0-{name}]") for name in ("email", "first_name", "last_name", "phone")
        )
        email.fill("ADA@example.com")
        values = [first.input_value(), last.input_value(), phone.input_value()]
        email.fill("grace@example.com")
        values.append(first.input_value())
        first.fill("Amazing")
        email.fill("ada@example.com")
        values.append(first.input_value())
        browser.close()
    assert values == ["Ada", "Byron", "+331", "Grace", "Amazing"]
