"""``/app/{o}/branding``, ``…/new``, ``…/{id}`` and ``…/{id}/delete``: branding profiles, within the plan's limit;
``…/{id}/logo.png``: the logo of one; ``…/logo``: a form that replaces or removes it. ``…/preview``: the signing page
itself, for a sample request, in the colours that the address names.

The page of a profile shows the preview in a frame, for which both pages have a policy of their own. The colours come as
a stylesheet, so that no page needs an inline style; the preview runs no script and its forms lead nowhere.
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from paraph import words as catalog
from paraph.dashboard.decorators import (
    FIELD,
    actor,
    done,
    file_field,
    limits_stamps,
    member_page,
    numbers_in,
    refusals_in,
    scope,
    see_other,
    show,
    takes_small_file,
)
from paraph.dashboard.middleware import POLICY
from paraph.drafts.editing import open_drafts
from paraph.flow.branding import delete_profile, keep_logo, remove_logo
from paraph.kernel import clock
from paraph.kernel.appearance import is_color, shown
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.appearances import StampContent, stamp_svg
from paraph.pdf.untrusted.logo import LARGEST, LogoRefused
from paraph.request_templates.models import Template
from paraph.signature_requests.localized import consent_notice
from paraph.tenants.branding import (
    COLORS,
    DEFAULT,
    Pair,
    contrasts,
    create_profile,
    logo_of,
    logo_picture,
    theme,
    update_profile,
)
from paraph.tenants.limits import allowance
from paraph.tenants.members import Right
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.scope import branding_profiles, scoped
from paraph.words import DEFAULT_LOCALE, LOCALES

_LOGO_REFUSALS = {
    "too_large": gettext_lazy("The logo may have at most %(limit)s KB; this file is larger."),
    "not_a_picture": gettext_lazy("The logo must be a PNG, JPEG or SVG file."),
    "too_many_pixels": gettext_lazy(
        "The logo may have at most %(limit)s pixels a side; this one has %(width)s by %(height)s."
    ),
    "animated": gettext_lazy("The logo must not be animated."),
    "letters": gettext_lazy("The SVG has text in fonts. Convert the text to paths and try again."),
    "elsewhere": gettext_lazy("The SVG refers to other files. Put them into it and try again."),
    "nothing_to_see": gettext_lazy("There is nothing to see: all of the logo is transparent."),
    "unreadable": gettext_lazy("The logo cannot be read. Save it as PNG and try again."),
}


def _color(label: object) -> forms.CharField:
    widget = forms.TextInput(attrs={"type": "color"})
    errors = {"invalid": gettext_lazy("Write a colour as #1a2b3c.")}
    field = forms.RegexField(r"^#[0-9A-Fa-f]{6}\Z", label=str(label), widget=widget, error_messages=errors)
    field.label = label  # type: ignore[assignment]
    return field


class LogoForm(forms.Form):
    file = file_field(
        gettext_lazy("Picture"),
        ".png,.jpg,.jpeg,.svg,image/png,image/jpeg,image/svg+xml",
        gettext_lazy("Choose a PNG, JPEG or SVG file."),
    )


class ProfileForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    background_color = _color(gettext_lazy("Background"))
    text_color = _color(gettext_lazy("Text"))
    accent_color = _color(gettext_lazy("Accent"))
    signature_only = forms.BooleanField(
        label=gettext_lazy("Stamps show the signature alone"),
        help_text=gettext_lazy(
            "Without line, name, time and request number, for forms that already print them. The proof contains them "
            "all."
        ),
        required=False,
    )

    def palette(self) -> dict[str, str]:
        """Return the colours to show: those of the form, with the usual one in place of any that is no colour."""
        chosen = (str(self[field].value() or "") for field in COLORS)
        return {
            field: color if is_color(color) else usual
            for field, color, usual in zip(COLORS, chosen, DEFAULT, strict=True)
        }


def _verdict(pair: Pair, suggestion: str) -> str:
    if not suggestion:
        return _("Good")
    if pair == Pair.ACCENT_ON_SURFACE:
        return _("The page uses the text colour for lines instead.")
    return _("The page uses black or white instead.")


def _own_profile(member: Member, profile_id: int) -> BrandingProfile:
    return get_object_or_404(branding_profiles(scope(member)), pk=profile_id)


@member_page(Right.BUILD)
def branding(request: HttpRequest, member: Member) -> HttpResponse:
    rows = list(branding_profiles(scope(member)).order_by("pk"))
    limit = allowance(member.organization.plan).branding_profiles
    content = {"rows": rows, "used": len(rows), "limit": limit, "is_full": len(rows) >= limit}
    return show(request, "branding/listing.html", content, member=member)


@member_page(Right.BUILD)
def profile(request: HttpRequest, member: Member, profile_id: int | None = None) -> HttpResponse:
    """Save what was entered, as a new profile where the address names none. A form sent to be previewed comes back with
    its colours in the address, not saved."""
    found = _own_profile(member, profile_id) if profile_id else None
    if request.method != "POST":
        return _page(request, member, found)
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _page(request, member, found, form)
    if "preview" in request.POST:
        return see_other(f"{request.path}?{urlencode(form.cleaned_data)}")
    by, given = actor(request, member), form.cleaned_data
    with refusals_in(form):
        if found is None:
            found = create_profile(member.organization_id, by, **given)
        else:
            update_profile(by, found, **given)
        return _saved(request, found)
    return _page(request, member, found, form)


@member_page(Right.BUILD, profile_id=_own_profile)
def delete(request: HttpRequest, member: Member, found: BrandingProfile) -> HttpResponse:
    """``…/{id}/delete``: ask first, and say what becomes of the requests, drafts and templates that use the profile."""
    if request.method == "POST":
        delete_profile(actor(request, member), found)
        sentence = _("The profile “%(name)s” was deleted.") % {"name": found.name}
        return done(request, sentence, "branding", member.organization_id)
    held = {"drafts": open_drafts(scope(member)), "templates": scoped(Template, scope(member))}
    uses = {name: rows.filter(content__branding_profile_id=found.pk).count() for name, rows in held.items()}
    return show(request, "branding/delete.html", {"profile": found, "uses": uses}, member=member)


def _saved(request: HttpRequest, found: BrandingProfile) -> HttpResponse:
    return done(request, _("Saved."), "profile", found.organization_id, found.pk)


def _page(
    request: HttpRequest,
    member: Member,
    found: BrandingProfile | None,
    form: ProfileForm | None = None,
    logo_form: LogoForm | None = None,
) -> HttpResponse:
    """Return the page with the form that was sent and its errors, if one was. ``logo_form``: one whose logo was
    refused."""
    form = form or ProfileForm(initial=_initial(request, found))
    palette, logo = form.palette(), shown_logo(member, found)
    shown = {"profile": found.pk} if found and logo else {}
    shown |= {"signature_only": 1} if form["signature_only"].value() else {}
    colors = urlencode(palette | shown)
    content = {
        "profile": found,
        "form": form,
        "colors": colors,
        "ground": palette["background_color"],
        "contrasts": [(each, _verdict(each.pair, each.suggestion)) for each in contrasts(*palette.values())],
        "logo": logo,
        "logo_form": logo_form or LogoForm(),
        "largest": LARGEST // 1024,
    }
    response = show(request, "branding/profile.html", content, member=member)
    response["Content-Security-Policy"] = PARENT_POLICY
    return response


def _initial(request: HttpRequest, found: BrandingProfile | None) -> dict[str, Any]:
    usual = {"name": "", **dict(zip(COLORS, DEFAULT, strict=True)), "signature_only": False}
    own = {field: getattr(found, field) if found else value for field, value in usual.items()}
    chosen = {field: request.GET[field] for field in own if field in request.GET}
    return own | chosen | ({"signature_only": chosen["signature_only"] == "True"} if "signature_only" in chosen else {})


@member_page(Right.BUILD, profile_id=_own_profile)
def profile_logo(_request: HttpRequest, _member: Member, found: BrandingProfile) -> HttpResponse:
    if picture := logo_picture(found):
        return HttpResponse(picture.png, content_type="image/png")
    raise Http404


@member_page(Right.BUILD, post_only=True)
@takes_small_file(
    LARGEST, "documents/refused.html", lambda: _logo_refusal(LogoRefused("too_large", {"limit": LARGEST // 1024}))
)
def logo(request: HttpRequest, member: Member, profile_id: int) -> HttpResponse:
    found, by = _own_profile(member, profile_id), actor(request, member)
    if "remove" in request.POST:
        remove_logo(by, found)
    else:
        form = LogoForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                keep_logo(scope(member), by, found, form.cleaned_data[FIELD].read())
            except DomainError as refused:
                form.add_error(FIELD, _logo_refusal(refused))
        if form.errors:
            return _page(request, member, found, logo_form=form)
    return _saved(request, found)


def _logo_refusal(refused: DomainError) -> str:
    return str(_LOGO_REFUSALS[refused.reason] % refused.facts) if isinstance(refused, LogoRefused) else refused.message


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
    """``…/preview.css``: the colours of the address, with usual ones for what is no colour: nothing else can get in."""
    colors = _theme(request)
    rules = ";".join(f"--{name.replace('_', '-')}:{value}" for name, value in colors.items() if name != "is_default")
    return HttpResponse(f":root{{{rules}}}", content_type="text/css; charset=utf-8")


@member_page(Right.BUILD)
def sample_page(request: HttpRequest, member: Member) -> HttpResponse:  # noqa: ARG001
    return HttpResponse(_SHEET.format(lines=_LINES), content_type="image/svg+xml")


@member_page(Right.BUILD)
@limits_stamps
def sample_stamp(request: HttpRequest, member: Member, *, signature_only: bool = False) -> HttpResponse:  # noqa: ARG001
    """Return the stamp, drawn by the code that draws sealed stamps, in the hand that the address asks for."""
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
    named = branding_profiles(scope(member)).filter(pk__in=numbers_in(request.GET.getlist("profile")))
    return {
        "state": "ready",
        "locale": locale,
        "direction": catalog.direction(locale),
        "languages": [(locale, catalog.language_name(locale))],
        "words": catalog.of("page", locale),
        "theme": _theme(request),
        "logo": shown_logo(member, named.first()),
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


def _theme(request: HttpRequest) -> dict[str, str | bool]:
    return theme(BrandingProfile(**{name: request.GET.get(name, "") for name in COLORS}))


def _locale() -> str:
    language = (get_language() or DEFAULT_LOCALE).partition("-")[0]
    return language if language in LOCALES else DEFAULT_LOCALE
