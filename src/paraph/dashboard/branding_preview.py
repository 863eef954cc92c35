"""``/app/{o}/branding/preview``: the signing page itself, of a sample request, in the colours of the address.

The branding pages show it in a frame, for which both have a policy of their own. The colours come as a stylesheet, so
that no page needs an inline style; the preview runs no script and its forms lead nowhere.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language

from paraph import words as catalog
from paraph.dashboard.decorators import limits_stamps, member_page, numbers_in, scope
from paraph.dashboard.middleware import POLICY
from paraph.kernel import clock
from paraph.kernel.appearance import shown
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.signature_requests.localized import consent_notice
from paraph.tenants.branding import COLORS, logo_of, theme
from paraph.tenants.members import Right
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.scope import branding_profiles
from paraph.words import DEFAULT_LOCALE, LOCALES

PARENT_POLICY = f"{POLICY}; frame-src 'self'"
_POLICY = (
    "default-src 'none'; img-src 'self'; style-src 'self'; font-src 'self'; "
    "form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)
_NAME = "Ada Lovelace"
_BOX = {"x": "72", "y": "640", "width": "200", "height": "60", "middle_x": "172", "middle_y": "670", "number": "1"}
_SHEET = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 595 842"><rect width="595" height="842" fill="#fff"/>
<g fill="#444"><rect x="72" y="84" width="220" height="18"/></g><g fill="#bbb">{lines}</g></svg>"""
_LINES = "".join(f'<rect x="72" y="{y}" width="{451 - y * 37 % 90}" height="7"/>' for y in range(140, 600, 22))


@member_page(Right.BUILD)
def preview(request: HttpRequest, member: Member) -> HttpResponse:
    response = render(request, "dashboard/branding/preview.html", _content(request, member))
    response["Content-Security-Policy"] = _POLICY
    response["X-Frame-Options"] = "SAMEORIGIN"
    return response


def shown_logo(member: Member, profile: BrandingProfile | None) -> dict[str, Any] | None:
    """Return address and size of a profile's logo, None where it has none. Another logo has another address."""
    logo = logo_of(profile)
    if logo is None:
        return None
    width, height = shown(logo.width, logo.height)
    address = reverse("logo_picture", kwargs={"organization_id": member.organization_id, "profile_id": logo.pk})
    return {"address": f"{address}?v={bytes(logo.sha256).hex()[:12]}", "width": width, "height": height}


@member_page(Right.BUILD)
def stylesheet(request: HttpRequest, member: Member) -> HttpResponse:  # noqa: ARG001
    """``…/preview.css``: colours that are none give way to the usual ones, so that nothing else can stand in it."""
    colors = _theme(request)
    rules = ";".join(f"--{name.replace('_', '-')}:{value}" for name, value in colors.items() if name != "is_default")
    return HttpResponse(f":root{{{rules}}}", content_type="text/css; charset=utf-8")


@member_page(Right.BUILD)
def sample_page(request: HttpRequest, member: Member) -> HttpResponse:  # noqa: ARG001
    return HttpResponse(_SHEET.format(lines=_LINES), content_type="image/svg+xml")


@member_page(Right.BUILD)
@limits_stamps
def sample_stamp(request: HttpRequest, member: Member, *, signature_only: bool = False) -> HttpResponse:  # noqa: ARG001
    """Return the stamp as what draws the sealed one draws it, in the hand that is asked for."""
    hand = request.GET.get("hand", "")
    mark = {"type": "typed", "hand": int(hand) if hand in ("2", "3", "4") else 1}
    stamp = StampContent(200, 60, _NAME, clock.now(), 1, mark, _locale(), signature_only=signature_only)
    return HttpResponse(stamp_svg(stamp), content_type="image/svg+xml")


def _content(request: HttpRequest, member: Member) -> dict[str, Any]:
    locale, sender = _locale(), member.organization.name
    page = {"number": "1", "width": "595", "height": "842", "view_box": "0 0 595 842", "boxes": [_BOX]}
    colors = urlencode({name: request.GET.get(name, "") for name in COLORS})
    address = {"organization_id": member.organization_id}
    form = "/signature-only" if "signature_only" in request.GET else ""
    return {
        "state": "ready",
        "locale": locale,
        "direction": catalog.direction(locale),
        "languages": [(locale, catalog.language_name(locale))],
        "words": catalog.of("page", locale),
        "theme": _theme(request),
        "logo": _logo(request, member),
        "colors_url": f"{reverse('branding_stylesheet', kwargs=address)}?{colors}",
        "sign_url": reverse("branding_preview", kwargs=address) + form,
        "signer": {"full_name": _NAME},
        "sender": sender,
        "documents": [{"id": "1", "name": f"{sender}.pdf", "pages": [page], "page_count": "1", "remarks": {}}],
        "places": [{"number": "1", "document": "1", "page": "1"}],
        "consent": consent_notice(locale, 1),
        "expires_at": clock.now() + timedelta(days=7),
        "channels": [{"name": "email", "recipient": "a***@example.com"}],
        "entries": {"marks": {}},
        "hands": ["1", "2", "3", "4"],
        "problems": [],
    }


def _logo(request: HttpRequest, member: Member) -> dict[str, Any] | None:
    """Return that of the profile in the address."""
    named = branding_profiles(scope(member)).filter(pk__in=numbers_in(request.GET.getlist("profile")))
    return shown_logo(member, named.first())


def _theme(request: HttpRequest) -> dict[str, str | bool]:
    return theme(BrandingProfile(**{name: request.GET.get(name, "") for name in COLORS}))


def _locale() -> str:
    language = (get_language() or DEFAULT_LOCALE).partition("-")[0]
    return language if language in LOCALES else DEFAULT_LOCALE
