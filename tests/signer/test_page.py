"""GET /sign/{token}: what the page says and shows, who may frame it, and where it leads once it is signed."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.template.loader import get_template

import paraph.signer
from paraph import words as catalog
from paraph.flow.ending import end_early
from paraph.kernel import clock
from paraph.otp.models import OneTimeCode
from paraph.pdf.typesetting import fonts
from paraph.signature_requests.links import signing_url
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Placement, SignatureRequest, Signer
from paraph.signer import language
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import theme
from paraph.tenants.models import Application, BrandingProfile, Organization
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign
from tests.production import Client
from tests.signer.calls import text
from tests.tenancy import update_organization

pytestmark = pytest.mark.django_db

FOLDER = Path(paraph.signer.__file__).parent


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
            assert start in page and f'data-locale="{locale}"' in page and consent_notice(locale, 1) in page
            assert response["Content-Language"] == locale


def test_the_request_s_language_goes_before_the_browser_s_where_its_sender_named_one(client: Client) -> None:
    for chosen, address, browser, spoken in (
        (True, "", "fr", "de"),
        (True, "?lang=xx", "fr", "de"),
        (True, "?lang=it", "fr", "it"),
        (False, "", "fr-CH, pl;q=0.5", "fr"),
        (False, "", "ja, no;q=0.5", "nb"),
        (False, "", "ja", "de"),  # of an earlier version, which did not note the choice
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
    assert "--text:#ffffff" in page  # the profile's own would be unreadable on its background
    assert "--on-accent:#000000" in page
    BrandingProfile.objects.update(background_color="#fff8f0", text_color="#203040", accent_color="#006040")
    page = text(client.get(made.url()))
    assert "--background:#fff8f0" in page and "--text:#203040" in page and "--accent:#006040" in page


def test_initials_are_asked_for_where_wanted_and_tests_are_named_in_the_sandbox(client: Client) -> None:
    wanted = text(client.get(scene(initials_required=True).url()))
    other = text(client.get(scene(environment="production").url()))
    assert 'data-kind="initials"' in wanted and 'data-kind="initials"' not in other
    assert language.words("en")["sandbox"] in wanted and language.words("en")["sandbox"] not in other


def test_names_are_text_not_markup(client: Client) -> None:
    page = client.get(scene(signer={"first_name": "<b>{x}", "last_name": "</script>"}).url()).content.decode()
    assert "&lt;b&gt;{x}" in page and "<b>{x}" not in page


@pytest.mark.parametrize(
    ("title", "status"),
    [("not_found", 404), ("already_signed", 200), ("not_your_turn", 200), ("locked", 429), ("expired", 410)],
)
def test_says_honestly_why_there_is_nothing_to_sign(client: Client, title: str, status: int) -> None:
    made = scene(signers=2, mode="sequential")
    Organization.objects.update(contact_email="contracts@acme.example")
    position = 1 if title == "not_your_turn" else 0
    until = clock.now() + timedelta(hours=3)
    if title == "already_signed":
        sign(made)
    elif title == "locked":
        made.code()
        OneTimeCode.objects.update(locked_until=until)
    elif title == "expired":
        SignatureRequest.objects.update(expires_at=clock.now(), status="expired")
    addresses = ["/sign", "/sign/", "/sign/not-the-whole-link"] if title == "not_found" else [made.url(position)]
    words = language.words("en")
    for address in addresses:
        response = client.get(address)
        page = text(response)
        assert response.status_code == status and response["Cache-Control"] == "no-store"
        assert words[f"{title}_title"] in page and "<form" not in page
        assert f'<body data-state="{title}">' in page
        assert ("Acme Ltd" in page and "contract-1.pdf" in page) == (title != "not_found")
    assert (f'href="{made.url(position, "/ask")}?lang=en">Ask Acme Ltd</a>' in page) == (
        title in ("locked", "expired", "not_your_turn")
    )
    if title == "expired":
        assert 'data-state="expired"' in text(client.post(made.url(), {"do": "copy"}))
    if title == "locked":
        told = re.sub(r"</?time[^>]*>", "", page)
        assert words["locked_text"].format(until=catalog.moment(until, "en"), sender="Acme Ltd") in told
    if title in ("already_signed", "expired"):
        assert client.get(image_url(made, position=position)).status_code == (410 if title == "expired" else 409)
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
    """The sentence has the form that its language needs for the number; whoever has signed no longer counts."""
    made = scene(signers=4, mode="sequential")
    for before in (3, 2, 1):
        for locale in ("en", "ar", "pl"):
            told = text(client.get(f"{made.url(3)}?lang={locale}"))
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


def test_a_page_is_a_picture_and_not_sent_again_to_a_browser_that_has_it(client: Client) -> None:
    """The same holds for the page's words; but whoever may no longer read gets a refusal, not 304."""
    made = scene(pages=2)
    words, picture = image_url(made).replace(".webp", "/text"), image_url(made)
    for address in (words, picture):
        kept = client.get(address)  # drawn, then from storage
        again = client.get(address, headers={"If-None-Match": kept["ETag"]})
        assert (again.status_code, again.content, again["Cache-Control"]) == (304, b"", "private, max-age=900")
        assert client.get(address, headers={"If-None-Match": '"another"'}).content == kept.content
    assert (kept["Content-Type"], kept["Cache-Control"]) == ("image/webp", "private, max-age=900")
    assert kept.content[:4] == b"RIFF" and kept.content[8:12] == b"WEBP"
    SignatureRequest.objects.update(expires_at=clock.now())
    for address in (words, picture):
        assert client.get(address, headers={"If-None-Match": kept["ETag"]}).status_code == 410


def test_a_link_with_something_behind_it_leads_to_the_page(client: Client, made: Scene) -> None:
    for junk in ("/", ".", ")", ">", "%3E", "/).", "»", "…"):
        for address in (made.url(), "/copies/1.2.aB-", "/confirm/aB_"):
            for query in ("", "?lang=de"):
                answer = client.get(f"{address}{junk}{query}")
                assert (answer.status_code, answer["Location"]) == (302, f"{address}{query}")
                assert answer["Referrer-Policy"] == "no-referrer"
    assert client.post(f"{made.url()}/").status_code == 405


def test_a_name_without_handwriting_has_no_choice_of_styles(client: Client) -> None:
    """All styles would look the same for such a name; the page says so."""
    for name, styles in (("Zoë", 4), ("محمد", 0), ("太郎", 0)):
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
    ("sent_by", "origins", "policy"),
    [
        ("application", "https://a.example https://b.example:8443", "https://a.example https://b.example:8443"),
        ("application", "", ""),
        ("member", "https://a.example https://b.example:8443", "https://a.example https://b.example:8443"),
        ("member", "", "'none'"),
        ("member of an organization that names none", "https://a.example", "'none'"),
    ],
)
def test_it_may_be_framed_by_the_sites_of_the_application_that_hears_of_it(
    client: Client, sent_by: str, origins: str, policy: str
) -> None:
    made = scene(environment="production")
    assert made.request.application
    Organization.objects.update(contact_email="contracts@acme.example")
    Application.objects.update(frame_origins=origins)
    if sent_by != "application":
        SignatureRequest.objects.update(application=None)
    if sent_by == "member":
        update_organization(made.request.organization_id, web_application_id=made.request.application.pk)
    for rest in ("", "/ask", "expired"):
        if rest == "expired":
            SignatureRequest.objects.update(expires_at=clock.now())
        response = client.get(made.url(rest=rest.removeprefix("expired")))
        named = [part for part in response["Content-Security-Policy"].split("; ") if "frame-ancestors" in part]
        assert named == ([f"frame-ancestors {policy}"] if policy else [])
        assert (f'data-frame-origins="{origins}"' in text(response)) == (policy.startswith("https"))


def test_a_name_that_no_font_has_is_told(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = fonts.open_library(tmp_path, system_folders=())
    monkeypatch.setattr("paraph.pdf.typesetting.glyph_fallback.library", lambda: library)
    made = scene(signer={"first_name": "愛子", "last_name": "田中", "email": "aiko@example.com"})
    for locale in ("en", "ar"):
        page = text(client.get(f"{made.url()}?lang={locale}"))
        told = language.words(locale)["missing_letters"].split("{name}")[0].partition("{written}")[0]
        assert told in page and "<bdi>aiko@example.com</bdi>" in page, locale
    other = scene(signer={"first_name": "Zoë", "last_name": "Łukasiewicz"})
    assert 'class="told"' not in text(client.get(other.url()))


REDIRECT = "https://Shop.example:8443/done?a=1&b=%C3%A9#top"


def onward(made: Scene) -> str:
    ids = f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}"
    return f"https://Shop.example:8443/done?a=1&b=%C3%A9&{ids}#top"


def test_who_has_signed_is_offered_to_continue_as_the_first_thing_to_press(client: Client) -> None:
    """Before the signature the page holds the link for later and does not show it; an ended request has none."""
    made, ended, without = scene(redirect_url=REDIRECT), scene(redirect_url=REDIRECT), scene()
    page = text(client.get(made.url()))
    assert f'data-host="shop.example:8443" data-onward="{onward(made)}"' in page and "Continue to" not in page
    sign(made)
    for locale in ("en", "ar"):
        main = text(client.get(f"{made.url()}?lang={locale}")).partition("<main")[2]
        said = catalog.phrase(catalog.of("page", locale), "continue_to", host="<bdi>shop.example:8443</bdi>")
        link = f'<a class="primary" href="{onward(made)}" target="_top" rel="noreferrer">'
        assert f"{link}<span>{said}</span></a>" in main
        assert re.findall(r"<(?:a|button)\b[^>]*>", main)[0] == link and "http-equiv" not in main, "nobody is moved"
    end_early(OPERATOR, ended.request.pk, "Over")
    assert "shop.example" not in text(client.get(ended.url())).lower()
    assert "data-onward" not in text(client.get(without.url()))
    sign(without)
    assert "Continue to" not in text(client.get(without.url()))


def test_letters_that_look_like_others_stand_as_the_dns_has_them(client: Client) -> None:
    for host, shown in (
        ("ex\u0430mple.com", "xn--exmple-4nf.com"),  # a Cyrillic letter
        ("\u0430\u0440\u0440\u04cf\u0435.com", "xn--80ak6aa92e.com"),  # all letters Cyrillic
        ("examp\u013ae.com:8443", "xn--exampe-mcb.com:8443"),  # a Latin letter with an accent
        ("b\u00fccher.example", "xn--bcher-kva.example"),
        ("shop\u3002example", "shop.example"),  # an ideographic full stop
        ("EXAMPLE.com", "example.com"),
    ):
        made = scene(redirect_url=f"https://{host}")
        assert f'data-host="{shown}"' in text(client.get(made.url()))
        sign(made)
        page, ids = (
            text(client.get(made.url())),
            f"signature_request_id={made.request.pk}&signer_id={made.signers[0].pk}",
        )
        assert f"Continue to <bdi>{shown}</bdi>" in page and f'href="https://{host}?{ids}"' in page


def test_addresses_of_before_lead_on_where_the_service_moves_to_another_domain(settings: Any) -> None:
    """As docs/surroundings.md says: the path stays, so a redirect at the earlier domain is enough."""
    signer = scene().signers[0]
    store.put("documents/1/a.pdf", b"%PDF-")
    hosts, found = ("https://sign.example.com", "https://signing.example.net"), list[list[str]]()
    for host in hosts:
        settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": host})
        found.append([signing_url(signer), store.presign("documents/1/a.pdf", "Contract.pdf")])
    for old, new in zip(*found, strict=True):
        assert old.startswith(f"{hosts[0]}/") and new.startswith(f"{hosts[1]}/")
        assert urlsplit(old).path == urlsplit(new).path
        for host in hosts:
            answer = Client().get(old.removeprefix(hosts[0]), headers={"Host": urlsplit(host).netloc}, secure=True)
            assert answer.status_code == 200 and (answer.content == b"%PDF-" or "/sign/" in old)


def test_the_script_for_other_sites_is_small_and_public(client: Client) -> None:
    response = client.get("/sign/embed.js")
    assert response.status_code == 200 and len(response.content) <= 2048
    assert response["Content-Type"] == "text/javascript; charset=utf-8"
    assert response["Cache-Control"] == "public, max-age=3600"
    assert response["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert client.post("/sign/embed.js").status_code == 405
