"""Branding profiles: within the plan, judged, and shown on the signing page itself."""

import re
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from paraph.dashboard import decorators
from paraph.dashboard.middleware import POLICY
from paraph.drafts.models import Draft, blank
from paraph.flow.branding import delete_profile
from paraph.kernel import rates
from paraph.kernel.appearance import contrast
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import MinuteRate
from paraph.request_templates.models import Template
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.branding import Pair, contrasts
from paraph.tenants.models import Activity, BrandingProfile, Logo, Organization, Role
from tests.api.v1.api_clients import ApiClient, error, payload
from tests.dashboard.conftest import LogIn, read
from tests.dashboard.test_drafts import ready
from tests.drafts import stored
from tests.logos import logo_for, png
from tests.tenancy import COLORS, create_application, create_branding_profile, create_organization


@pytest.fixture
def client(log_in: LogIn) -> Client:
    return log_in(Role.ADMIN)[1]


@pytest.fixture
def pages(organization: Organization) -> str:
    return f"/app/{organization.pk}/branding"


def test_profiles_are_made_up_to_the_plans_limit(client: Client, pages: str, log_in: LogIn) -> None:
    assert "0 of 2 used" in read(client.get(pages))
    for name in ("House", "Event"):
        made = client.post(f"{pages}/new", {"name": name, **COLORS})
        assert made.status_code == 303
    page = read(client.get(pages))
    assert "2 of 2 used" in page and "New profile" not in page
    assert "allows 2 branding profiles" in read(client.post(f"{pages}/new", {"name": "One more", **COLORS}), 422)
    assert BrandingProfile.objects.count() == 2
    assert Activity.objects.filter(action="branding.created").count() == 2
    member, client = log_in(at=create_organization("Free", "free"))
    pages = f"/app/{member.organization_id}/branding"
    assert "has no branding" in read(client.get(pages))
    assert client.post(f"{pages}/new", {"name": "House", **COLORS}).status_code == 422


def test_a_profile_changes_and_a_preview_saves_nothing(client: Client, pages: str, organization: Organization) -> None:
    made = create_branding_profile(organization.pk)
    other = {"name": "Home", **COLORS, "accent_color": "#00ff00"}
    previewed = client.post(f"{pages}/{made.pk}", {**other, "preview": "1"})
    assert previewed.status_code == 303
    page = read(client.get(previewed["Location"]))
    assert 'value="#00ff00"' in page and "accent_color=%2300ff00" in page
    made.refresh_from_db()
    assert made.accent_color == "#c8102e"
    assert client.post(f"{pages}/{made.pk}", other).status_code == 303
    made.refresh_from_db()
    assert (made.name, made.accent_color) == ("Home", "#00ff00")
    [act] = Activity.objects.filter(action="branding.updated")
    assert (act.before["accent_color"], act.after["accent_color"]) == ("#c8102e", "#00ff00")
    assert "#id_text_color" in read(client.post(f"{pages}/{made.pk}", {**other, "text_color": "red; } body { x"}), 422)


def test_the_preview_is_the_signing_page_and_can_be_framed_here_alone(client: Client, pages: str) -> None:
    assert client.get(f"{pages}/new")["Content-Security-Policy"] == f"{POLICY}; frame-src 'self'"
    shown = client.get(f"{pages}/preview", COLORS)
    page, policy = read(shown), shown["Content-Security-Policy"]
    assert 'id="confirm-heading"' in page and "<script src" not in page and "<style" not in page
    assert "frame-ancestors 'self'" in policy and "form-action 'none'" in policy
    assert shown["X-Frame-Options"] == "SAMEORIGIN"
    assert f"{pages}/preview.css?background_color=%23101820" in page
    for picture in ("/preview/documents/1/pages/1.webp", "/preview/stamp.svg?lang=en&hand=2"):
        assert f"{pages}{picture}" in page
        assert client.get(f"{pages}{picture}")["Content-Type"] == "image/svg+xml"
    sheet = read(client.get(f"{pages}/preview.css", COLORS))
    assert "--background:#101820" in sheet and "--on-accent:#" in sheet
    hostile = {**COLORS, "text_color": "red}body{background:url(//evil)"}
    assert "evil" not in read(client.get(f"{pages}/preview.css", hostile)), "colours and nothing else"


def test_contrast_is_judged_in_words_and_numbers_with_the_nearest_that_is_enough(client: Client, pages: str) -> None:
    page = read(client.get(f"{pages}/new", {**COLORS, "text_color": "#303030"}))
    assert "The page uses black or white instead." in page
    found = {each.pair: each for each in contrasts("#101820", "#303030", "#ffff00")}
    text, line = found[Pair.TEXT_ON_BACKGROUND], found[Pair.ACCENT_ON_SURFACE]
    assert f"{text.ratio:.1f} : 1" in page and text.suggestion in page
    assert contrast(text.suggestion, "#101820") >= 4.5 > text.ratio
    assert contrast(line.suggestion, "#ffffff") >= 3 > line.ratio
    assert found[Pair.TEXT_ON_SURFACE].suggestion == ""


def test_a_deleted_profile_is_gone_and_what_was_sent_keeps_its_colours(
    client: Client, pages: str, organization: Organization
) -> None:
    made = create_branding_profile(organization.pk)
    create_branding_profile(organization.pk, "Event")
    api = ApiClient(create_application(organization.pk, "production", "shop").api_key)
    sent = api.create(payload(api.document(), branding_profile_id=made.pk)).json()
    own = {"content": blank() | {"branding_profile_id": made.pk}}
    draft = Draft.objects.create(organization=organization, environment="production", **own)
    template = Template.objects.create(organization=organization, name="Lease", **own)
    asked = read(client.get(f"{pages}/{made.pk}/delete"))
    assert "Requests already sent with these colours keep them." in asked
    assert "1 draft uses them" in asked and "1 template uses them" in asked
    assert BrandingProfile.objects.filter(deleted_at=None).count() == 2, "it only asked"

    deleted = client.post(f"{pages}/{made.pk}/delete")
    assert (deleted.status_code, deleted["Location"]) == (303, pages)
    listing = read(client.get(pages))
    assert "The profile “House” was deleted." in listing and "1 of 2 used" in listing
    assert f'data-id="{made.pk}"' not in listing
    for address in (f"{pages}/{made.pk}", f"{pages}/{made.pk}/delete"):
        assert client.get(address).status_code == client.post(address).status_code == 404
    for row in (draft, template):
        row.refresh_from_db()
        assert "branding_profile_id" not in row.content
    [act] = Activity.objects.filter(action="branding.deleted")
    assert act.subject == "House" and act.before == {"branding_profile_id": made.pk, "name": "House", **COLORS}
    assert "Branding profile deleted" in read(client.get(f"/app/{organization.pk}/activity"))

    kept = {"id": made.pk, "name": "House", **COLORS}
    assert api.get(f"/signature_requests/{sent['id']}").json()["branding_profile"] == kept
    page = read(Client().get(urlsplit(sent["signers"][0]["signing_url"]).path))
    assert COLORS["background_color"] in page
    assert [each["name"] for each in api.get("/branding_profiles").json()["data"]] == ["Event"]
    refused = api.create(payload(api.document(), branding_profile_id=made.pk))
    assert "not a branding profile of your organization" in error(refused, 422, "validation_error")
    assert client.post(f"{pages}/new", {"name": "In its place", **COLORS}).status_code == 303
    with pytest.raises(DomainError, match="There is no branding profile"):
        delete_profile(OPERATOR, made)
    assert Activity.objects.filter(action="branding.deleted").count() == 1


def picture(content: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("logo.png", content)


def test_a_logo_is_added_previewed_and_removed(client: Client, pages: str, organization: Organization) -> None:
    made = create_branding_profile(organization.pk)
    address = f"{pages}/{made.pk}"
    assert client.get(f"{address}/logo.png").status_code == 404
    assert "Add the logo" in read(client.get(address))
    added = client.post(f"{address}/logo", {"file": picture(png())})
    assert (added.status_code, added["Location"]) == (303, address)
    shown = client.get(f"{address}/logo.png")
    assert shown["Content-Type"] == "image/png" and shown.content.startswith(b"\x89PNG")
    page = read(client.get(address))
    assert "Replace the logo" in page and f"&profile={made.pk}" in page
    assert f'<rect width="100%" height="100%" fill="{COLORS["background_color"]}"/><image' in page
    assert f'href="{address}/logo.png?v=' in page and 'aria-label="Current logo"' in page
    preview = read(client.get(f"{pages}/preview", {**COLORS, "profile": str(made.pk)}))
    assert f'<img src="{address}/logo.png?v=' in preview and 'width="240" height="60"' in preview
    assert client.post(f"{address}/logo", {"remove": "1"}).status_code == 303
    assert not Logo.objects.exists() and "Current logo" not in read(client.get(address))
    theirs = create_branding_profile(create_organization("Other", "pro").pk)
    logo_for(theirs)
    for profile in (made.pk, theirs.pk, "9" * 30):
        preview = read(client.get(f"{pages}/preview", {**COLORS, "profile": str(profile)}))
        assert 'class="brand"' not in preview and "/logo.png" not in preview


REFUSED_LOGOS = [
    (b"GIF89a", "Das Logo muss eine PNG-, JPEG- oder SVG-Datei sein."),
    (png(4001, 1), "Das Logo darf je Seite höchstens 4000 Pixel haben; dieses hat 4001 mal 1."),
    (bytes(512 * 1024 + 1), "Das Logo darf höchstens 512 KB haben; diese Datei ist größer."),
    (bytes(700 * 1024), "Das Logo darf höchstens 512 KB haben; diese Datei ist größer."),
    (b"", "Die Datei ist leer."),
]


def test_a_refused_logo_is_said_in_one_sentence(client: Client, pages: str, organization: Organization) -> None:
    made = create_branding_profile(organization.pk)
    for content, sentence in REFUSED_LOGOS:
        form = {"file": picture(content)}
        page = read(client.post(f"{pages}/{made.pk}/logo", form, headers={"accept-language": "de"}), 422)
        assert 'role="alert"' in page and sentence in page, sentence
    assert not Logo.objects.exists()


def test_stamps_of_a_profile_can_be_the_signature_alone(client: Client, pages: str, organization: Organization) -> None:
    form = {"name": "Forms", **COLORS, "signature_only": "on"}
    previewed = client.post(f"{pages}/new", form | {"preview": "1"})["Location"]
    page = read(client.get(previewed))
    assert "checked" in page and "&signature_only=1" in page
    preview = read(client.get(f"{pages}/preview", {**COLORS, "signature_only": "1"}))
    [alone] = set(re.findall(r'src="([^"]+/stamp\.svg)\?lang=en"', preview))
    letters = [client.get(address).content.count(b"<use ") for address in (alone, f"{pages}/preview/stamp.svg")]
    assert 0 < letters[0] < 20 < letters[1]

    assert client.post(f"{pages}/new", form).status_code == 303
    made = BrandingProfile.objects.get()
    assert made.signature_only and "checked" in read(client.get(f"{pages}/{made.pk}"))
    address, draft = ready(client, organization)
    stamp = f"{address}/signers/{draft.signers[0].ref}/stamp-200x80.svg"
    whole = client.get(stamp).content.count(b"<use ")
    stored.change(branding_profile_id=made.pk)
    assert 0 < client.get(stamp).content.count(b"<use ") < 20 < whole

    assert client.post(f"{pages}/{made.pk}", {"name": "Forms", **COLORS}).status_code == 303
    made.refresh_from_db()
    assert not made.signature_only
    act = Activity.objects.filter(action="branding.updated").latest("pk")
    assert act.before["signature_only"] is True and "signature_only" not in act.after


def test_pictures_of_stamps_are_drawn_so_many_a_minute(
    log_in: LogIn, organization: Organization, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decorators, "_stamp_rate", MinuteRate(2))
    monkeypatch.setattr(rates, "time", SimpleNamespace(monotonic=lambda: 120.5))
    _, client = log_in()
    address, draft = ready(client, organization)
    picture = f"{address}/signers/{draft.signers[0].ref}/stamp-200x80.svg"
    sample = f"/app/{organization.pk}/branding/preview/stamp.svg"
    answers = [client.get(each) for each in (picture, sample, picture, sample)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert answers[-1].headers["Retry-After"] == "60"
    assert log_in()[1].get(picture).status_code == 200
