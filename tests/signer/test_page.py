"""GET /sign/{token}: what the page says and shows, who may frame it, and where it leads once it is signed."""

import html
import json
import re
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.template.loader import get_template

import paraph.signer
from paraph import words as catalog
from paraph.flow.ending import end_early
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.pdf.typesetting import fonts
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Placement, SignatureRequest, Signer
from paraph.signer import language
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import theme
from paraph.tenants.models import Application, BrandingProfile
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign
from tests.production import Client
from tests.tenancy import update_organization

pytestmark = pytest.mark.django_db

FOLDER = Path(paraph.signer.__file__).parent


def text(response: Any) -> str:
    content: str = response.content.decode()
    return content


def image_url(made: Scene, document: int = 0, number: int = 1, position: int = 0) -> str:
    document_id = made.request_documents[document].document_id
    return made.url(position, f"/documents/{document_id}/pages/{number}.webp")


def test_shows_who_asks_what_to_read_and_what_is_agreed_to(client: Client) -> None:
    made = scene(documents=2, pages=2)
    response = client.get(made.url())
    assert response.status_code == 200
    page = text(response)
    assert "Acme Ltd asks you to sign" in page and "Ada Lovelace" in page
    assert consent_notice("en", 2) in page
    assert page.count('<figure class="page"') == 4 and image_url(made, 1, 2) in page
    assert page.count("<rect ") == 2  # one stamp on the last page of each document
    assert 'x="60" y="702" width="200" height="80"' in page  # 842 - 60 - 80 from the top
    assert re.findall(r'data-place="(\d)"', page) == ["1", "2"]
    assert "Test environment" in page
    assert "a•••@example.com" in page and "ada1@example.com" not in page


def test_nothing_of_the_page_is_kept_told_or_foreign(client: Client) -> None:
    response = client.get(scene().url())
    assert response["Cache-Control"] == "no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert "X-Frame-Options" not in response and "frame-ancestors" not in response["Content-Security-Policy"]
    policy = response["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    page = text(response)
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    assert not re.search(r"<script(?![^>]*(src=|application/json))", page)
    assert not re.search(r"\s(style|on\w+)=", page)
    assert "<style" not in page  # its colours are those of the stylesheet


def test_the_stylesheet_has_the_default_colours() -> None:
    css = (Path(paraph.signer.__file__).parent / "static" / "signer" / "signer.css").read_text()
    for name, color in theme(None).items():
        if name != "is_default":
            assert re.search(rf"--{name.replace('_', '-')}: {str(color).replace('#ffffff', '#fff')};", css), name


def test_speaks_the_language_asked_for(client: Client, made: Scene) -> None:
    for locale in LOCALES:
        start = f'<html lang="{locale}" dir="{catalog.direction(locale)}"'
        for response in (
            client.get(made.url(rest=f"?lang={locale}")),
            client.get(made.url(), HTTP_ACCEPT_LANGUAGE=f"ja,{locale}-XX;q=0.8"),
        ):
            page = text(response)
            assert start in page and f'data-locale="{locale}"' in page
            assert response["Content-Language"] == locale
            assert consent_notice(locale, 1).replace("'", "&#x27;") in page


def test_the_request_s_language_goes_before_the_browser_s_where_its_sender_named_one(client: Client) -> None:
    for chosen, address, browser, spoken in (
        (True, "", "fr", "de"),
        (True, "?lang=xx", "fr", "de"),
        (True, "?lang=it", "fr", "it"),
        (False, "", "fr-CH, pl;q=0.5", "fr"),
        (False, "", "ja, no;q=0.5", "nb"),
        (False, "", "ja", "de"),  # a request of an earlier version, which knew no difference
        (False, "?lang=it", "fr", "it"),
    ):
        made = scene(locale="de", locale_chosen=chosen)
        shown = text(client.get(made.url(rest=address), HTTP_ACCEPT_LANGUAGE=browser))
        assert f'<html lang="{spoken}" dir="ltr"' in shown, (chosen, address, browser)


def test_a_branding_profile_colours_the_page(client: Client, made: Scene) -> None:
    colors = {"background_color": "#101820", "text_color": "#202830", "accent_color": "#ffe14d"}
    profile = BrandingProfile.objects.create(organization=made.request.organization, name="Night", **colors)
    SignatureRequest.objects.update(branding_profile=profile)
    response = client.get(made.url())
    page = text(response)
    [nonce] = re.findall(r'<style nonce="([^"]+)"', page)
    assert f"'nonce-{nonce}'" in response["Content-Security-Policy"]
    assert "--background:#101820" in page and "--accent:#ffe14d" in page
    assert "--text:#ffffff" in page  # the profile's own could not be read on its background
    assert "--on-accent:#000000" in page
    BrandingProfile.objects.update(background_color="#fff8f0", text_color="#203040", accent_color="#006040")
    page = text(client.get(made.url()))
    assert "--background:#fff8f0" in page and "--text:#203040" in page and "--accent:#006040" in page


def test_initials_are_asked_for_where_wanted_and_tests_are_named_in_the_sandbox(client: Client) -> None:
    wanted = text(client.get(scene(initials_required=True).url()))
    other = text(client.get(scene(environment="production").url()))
    assert 'data-kind="initials"' in wanted and 'data-kind="initials"' not in other
    assert language.words("en")["sandbox"] in wanted and language.words("en")["sandbox"] not in other


def test_the_channels_offered_are_the_signer_s(client: Client) -> None:
    page = text(client.get(scene(signer={"phone": "+33612345678"}).url()))
    assert 'data-channel="email"' in page and 'data-channel="sms"' in page and "•••78" in page
    page = text(client.get(scene(signer={"phone": "+33612345678", "otp_channel": "sms"}).url()))
    assert 'data-channel="email"' not in page


def test_names_are_text_not_markup(client: Client) -> None:
    page = text(client.get(scene(signer={"first_name": "<b>{x}", "last_name": "</script>"}).url()))
    assert "&lt;b&gt;{x}" in page and "<b>{x}" not in page


@pytest.mark.parametrize(
    ("title", "status"),
    [("not_found", 404), ("already_signed", 200), ("not_your_turn", 200), ("locked", 429), ("expired", 410)],
)
def test_says_honestly_why_there_is_nothing_to_sign(client: Client, title: str, status: int) -> None:
    made = scene(signers=2, mode="sequential")
    position = 0
    if title == "not_your_turn":
        position = 1
    elif title == "already_signed":
        sign(made)
    elif title == "locked":
        made.code()
        OneTimeCode.objects.update(locked_until=clock.now() + timedelta(hours=3))
    elif title == "expired":
        SignatureRequest.objects.update(expires_at=clock.now())
    response = client.get("/sign/x" if title == "not_found" else made.url(position))
    assert response.status_code == status
    page = text(response)
    words = language.words("en")
    assert words[f"{title}_title"] in page and "<form" not in page and f'<body data-state="{title}">' in page
    assert response["Cache-Control"] == "no-store"
    assert ("Acme Ltd" in page and "contract-1.pdf" in page) == (title != "not_found")
    if title in ("already_signed", "expired"):
        refused = client.get(image_url(made, position=position))
        assert refused.status_code == (410 if title == "expired" else 409)
    if title == "not_your_turn":  # there is nothing to sign yet, and everything to read
        assert client.get(image_url(made, position=position)).status_code == 200
        assert "1 person signs before you." in page


@pytest.mark.parametrize(
    ("smtp_url", "sandbox_mail", "promised"),
    [("smtp://127.0.0.1:1", "everyone", True), ("smtp://127.0.0.1:1", "confirmed", False), ("", "everyone", False)],
)
def test_a_mail_is_promised_where_one_leaves_the_service(
    client: Client, settings: Any, smtp_url: str, sandbox_mail: str, promised: bool
) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": smtp_url, "sandbox_mail": sandbox_mail})
    told, words = text(client.get(scene(signers=2, mode="sequential", send_email=True).url(1))), language.words("en")
    assert [words[f"not_your_turn_{by}"] in told for by in ("mail", "link")] == [promised, not promised]


def test_not_your_turn_says_how_many_sign_before(client: Client) -> None:
    """In the form that the language has for the number; who has signed counts no more."""
    made = scene(signers=4, mode="sequential")
    for before in (3, 2, 1):
        for locale in LOCALES:
            told = html.unescape(text(client.get(f"{made.url(3)}?lang={locale}")))
            assert catalog.phrase(language.words(locale), "not_your_turn_text", count=before) in told
        sign(made, 3 - before)
    assert 'data-state="ready"' in text(client.get(made.url(3)))


def test_who_has_signed_is_told_how_far_the_request_is(client: Client) -> None:
    made = scene(signers=2)
    sign(made)
    assert 'data-progress="waiting"' in text(client.get(made.url())) and "Émile" not in text(client.get(made.url()))
    assert client.get(made.url(rest="/progress")).json() == {"progress": "waiting", "others": 1}
    assert client.get(made.url(1, "/progress")).status_code == 404
    sign(made, 1)
    assert client.get(made.url(rest="/progress")).json() == {"progress": "sealing", "others": 0}
    SignatureRequest.objects.update(finalized=True)
    assert client.get(made.url(rest="/progress")).json() == {"progress": "ready", "others": 0}
    assert 'data-progress="ready"' in text(client.get(made.url()))


def test_a_locked_signer_is_told_until_when_and_whom_to_ask(client: Client, made: Scene) -> None:
    made.code()
    until = clock.now() + timedelta(hours=3)
    OneTimeCode.objects.update(locked_until=until)
    for locale in LOCALES:
        page, words = text(client.get(f"{made.url()}?lang={locale}")), language.words(locale)
        assert words["locked_title"] in page
        told = html.unescape(re.sub(r"</?time[^>]*>", "", page))
        assert words["locked_text"].format(until=catalog.moment(until, locale), sender="Acme Ltd") in told


def test_a_page_is_a_picture(client: Client) -> None:
    made = scene(pages=2)
    for _ in range(2):  # drawn, then from storage
        response = client.get(image_url(made, number=2))
        assert response.status_code == 200
        assert response["Content-Type"] == "image/webp" and response["Cache-Control"] == "private, max-age=900"
        assert response.content[:4] == b"RIFF" and response.content[8:12] == b"WEBP"


def test_a_picture_that_the_browser_has_is_not_sent_again(client: Client) -> None:
    """Nor the words of its page; but who may no longer read is not told that it is still the same."""
    made = scene(pages=2)
    addresses = [image_url(made, number=1), image_url(made, number=1).replace(".webp", "/text")]
    for address in addresses:
        kept = client.get(address)
        again = client.get(address, headers={"If-None-Match": kept["ETag"]})
        assert (again.status_code, again.content, again["Cache-Control"]) == (304, b"", "private, max-age=900")
        assert client.get(address, headers={"If-None-Match": '"another"'}).content == kept.content
    SignatureRequest.objects.update(expires_at=clock.now())
    for address in addresses:
        assert client.get(address, headers={"If-None-Match": kept["ETag"]}).status_code == 410


@pytest.mark.parametrize("junk", ["/", ".", ")", ">", "%3E", "/).", "»", "…"])
def test_a_link_with_something_behind_it_leads_to_the_page(client: Client, junk: str, made: Scene) -> None:
    for address in (made.url(), "/copies/1.2.aB-", "/confirm/aB_"):
        for query in ("", "?lang=de"):
            answer = client.get(f"{address}{junk}{query}")
            assert (answer.status_code, answer["Location"]) == (302, f"{address}{query}")
            assert answer["Referrer-Policy"] == "no-referrer"
    assert client.post(f"{made.url()}{junk}").status_code == 405


@pytest.mark.parametrize("address", ["/sign", "/sign/", "/sign/not-the-whole-link"])
def test_a_wrong_link_has_a_page_that_says_so(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 404 and 'data-state="not_found"' in text(response)


@pytest.mark.parametrize(("name", "styles"), [("Zoë", 4), ("محمد", 0), ("太郎", 0)])
def test_a_name_without_handwriting_has_no_choice_of_styles(client: Client, name: str, styles: int) -> None:
    """Which would all look the same; the page says why."""
    page = text(client.get(scene(signer={"first_name": name, "last_name": name}).url()))
    assert page.count('name="signature-hand"') == styles
    assert (language.words("en")["one_hand"] in page) == (not styles)


def test_only_pages_of_documents_the_signer_signs(client: Client) -> None:
    made = scene(signers=2, documents=2, pages=2)
    Placement.objects.filter(signer=made.signers[0], request_document=made.request_documents[1]).delete()
    other = scene()
    assert client.get(image_url(made, 1)).status_code == 404
    assert client.get(image_url(made, 1, position=1)).status_code == 200
    assert client.get(image_url(made, 0, 3)).status_code == 404
    assert client.get(image_url(made, 0, 0)).status_code == 404
    foreign = other.request_documents[0].document_id
    assert client.get(made.url(0, f"/documents/{foreign}/pages/1.webp")).status_code == 404
    assert client.get(f"/sign/x/documents/{foreign}/pages/1.webp").status_code == 404
    page = text(client.get(made.url()))
    assert image_url(made, 1) not in page and consent_notice("en", 1) in page


def test_reading_changes_nothing(client: Client, made: Scene) -> None:
    client.get(made.url())
    assert made.events() == ["signature_request.created"]
    assert Signer.objects.get().status == "pending"
    assert client.put(made.url()).status_code == 405
    assert client.head(made.url()).status_code == 200


def test_the_templates_name_no_word_that_is_not_there() -> None:
    words = set(language.words("en"))
    for template in (FOLDER / "templates/signer").glob("*.html"):
        get_template(f"signer/{template.name}")
        source = template.read_text()
        named = set(re.findall(r"words\.(\w+)", source)) | set(re.findall(r'{% word "([a-z]\w+)"', source))
        assert named <= words, (template.name, named - words)
    assert json.loads((FOLDER / "../words/page/en.json").read_text())


@pytest.mark.parametrize(
    ("origins", "named", "policy"),
    [
        ("https://a.example https://b.example:8443", True, "frame-ancestors https://a.example https://b.example:8443"),
        ("https://a.example", False, "frame-ancestors 'none'"),
        ("", True, "frame-ancestors 'none'"),
    ],
)
def test_a_request_from_the_dashboard_may_be_framed_by_sites_of_the_application_that_hears_of_it(
    client: Client, origins: str, named: bool, policy: str
) -> None:
    made = scene(environment="production")
    assert made.request.application
    Application.objects.update(frame_origins=origins)
    SignatureRequest.objects.update(application=None)
    if named:
        update_organization(made.request.organization_id, web_application_id=made.request.application.pk)
    response = client.get(made.url())
    assert policy in response["Content-Security-Policy"].split("; ")
    assert (f'data-frame-origins="{origins}"' in text(response)) == ("none" not in policy)


@pytest.fixture
def _bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = fonts.open_library(tmp_path, system_folders=())
    monkeypatch.setattr("paraph.pdf.typesetting.glyph_fallback.library", lambda: library)


@pytest.mark.usefixtures("_bare")
def test_a_name_that_no_font_has_is_told_in_every_language(client: Client) -> None:
    made = scene(signer={"first_name": "愛子", "last_name": "田中", "email": "aiko@example.com"})
    for locale in LOCALES:
        page = text(client.get(f"{made.url()}?lang={locale}"))
        told = language.words(locale)["missing_letters"].split("{name}")[0].partition("{written}")[0]
        assert told.replace("'", "&#x27;") in page and "<bdi>aiko@example.com</bdi>" in page, locale
    other = scene(signer={"first_name": "Zoë", "last_name": "Łukasiewicz"})
    assert 'class="told"' not in text(client.get(other.url()))


REDIRECT = "https://Shop.example:8443/done?a=1&b=%C3%A9#top"


def page_of(made: Scene, **headers: str) -> str:
    return text(Client(headers=headers).get(made.url()))


def offered(made: Scene, text: str) -> re.Match[str] | None:
    ids = f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}"
    link = f'class="primary" href="https://Shop.example:8443/done?a=1&b=%C3%A9&{ids}#top" target="_top"'
    return re.search(re.escape(link) + ' rel="noreferrer"><span>(.+?)</span></a>', unescape(text))


def test_who_has_signed_is_offered_to_continue_as_the_first_thing_to_press() -> None:
    made = scene(redirect_url=REDIRECT)
    sign(made)
    page = page_of(made)
    found = offered(made, page)
    assert found and found[1] == "Continue to <bdi>shop.example:8443</bdi>"
    main = page[page.index("<main") :]
    assert re.findall(r"<(?:a|button)\b[^>]*", main)[0].startswith('<a class="primary" href="https://Shop')
    assert "http-equiv" not in page and Client().get(made.url()).status_code == 200, "nobody is moved"
    for locale in LOCALES:
        found = offered(made, text(Client().get(f"{made.url()}?lang={locale}")))
        words = catalog.of("page", locale)
        assert found and found[1] == catalog.phrase(words, "continue_to", host="<bdi>shop.example:8443</bdi>")


def test_without_a_query_the_ids_are_all_of_it() -> None:
    made = scene(redirect_url="https://shop.example")
    sign(made)
    ids = f"signature_request_id={made.request.pk}&amp;signer_id={made.signers[0].pk}"
    assert f'href="https://shop.example?{ids}"' in page_of(made)


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("ex\u0430mple.com", "xn--exmple-4nf.com"),  # a Cyrillic letter
        ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),  # all of them
        ("examp\u013ae.com:8443", "xn--exampe-mcb.com:8443"),  # a Latin one with an accent
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("shop\u3002example", "shop.example"),  # an ideographic full stop
        ("EXAMPLE.com", "example.com"),
    ],
)
def test_letters_that_look_like_others_stand_as_the_dns_has_them(host: str, shown: str) -> None:
    made = scene(redirect_url=f"https://{host}/done")
    assert f'data-host="{shown}"' in page_of(made)
    sign(made)
    assert f"Continue to <bdi>{shown}</bdi>" in page_of(made)


def test_before_the_signature_the_page_knows_it_for_later_and_shows_nothing() -> None:
    made = scene(redirect_url=REDIRECT)
    page = unescape(page_of(made))
    ids = f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}"
    assert f'data-host="shop.example:8443" data-onward="https://Shop.example:8443/done?a=1&b=%C3%A9&{ids}#top"' in page
    assert "Continue to" not in page


def test_nothing_is_offered_without_one_nor_to_who_has_not_signed(made: Scene) -> None:
    assert "data-onward" not in page_of(made)
    sign(made)
    assert "Continue to" not in page_of(made)
    made = scene(redirect_url=REDIRECT)
    end_early(OPERATOR, made.request.pk, "Over")
    assert "shop.example" not in page_of(made).lower()
