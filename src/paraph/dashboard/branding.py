"""``/app/{o}/branding``, ``…/new``, ``…/{id}`` and ``…/{id}/delete``: branding profiles, within the plan's limit;
``…/{id}/logo.png``: the logo of one; ``…/logo``: a form replaces or removes it."""

from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt

from paraph.dashboard.branding_preview import PARENT_POLICY, shown_logo
from paraph.dashboard.decorators import actor, done, member_page, scope, see_other, show, told_in
from paraph.dashboard.uploads import FIELD, file_field, takes_small_file
from paraph.drafts.editing import open_drafts
from paraph.flow.branding import delete_profile, keep_logo, remove_logo
from paraph.kernel.appearance import is_color
from paraph.kernel.errors import DomainError
from paraph.pdf.untrusted.logo import LARGEST, LogoRefused
from paraph.request_templates.models import Template
from paraph.tenants.branding import COLORS, DEFAULT, Pair, contrasts, create_profile, logo_picture, update_profile
from paraph.tenants.limits import allowance
from paraph.tenants.members import Right
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.scope import branding_profiles, scoped

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
        """Return the colours to show: those entered where they are colours, else the first or usual ones."""
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
    """Save what was entered, of a new profile where none is named. A form sent to be previewed comes back with its
    colours in the address, not saved."""
    found = _own_profile(member, profile_id) if profile_id else None
    if request.method != "POST":
        return _page(request, member, found)
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _page(request, member, found, form)
    if "preview" in request.POST:
        return see_other(f"{request.path}?{urlencode(form.cleaned_data)}")
    by, given = actor(request, member), form.cleaned_data
    with told_in(form):
        if found is None:
            found = create_profile(member.organization_id, by, **given)
        else:
            update_profile(by, found, **given)
        return _saved(request, found)
    return _page(request, member, found, form)


@member_page(Right.BUILD, profile_id=_own_profile)
def delete(request: HttpRequest, member: Member, found: BrandingProfile) -> HttpResponse:
    """``…/{id}/delete``: asks first, and says what becomes of all that uses the profile."""
    if request.method == "POST":
        delete_profile(actor(request, member), found)
        messages.success(request, _("The profile “%(name)s” was deleted.") % {"name": found.name})
        return see_other("branding", member.organization_id)
    own = {"content__branding_profile_id": found.pk}
    uses = {
        "drafts": open_drafts(scope(member)).filter(**own).count(),
        "templates": scoped(Template, scope(member)).filter(**own).count(),
    }
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
    picture = logo_picture(found)
    if picture is None:
        raise Http404
    return HttpResponse(picture.png, content_type="image/png")


@csrf_exempt  # the upload makes the same check, once the body may be read
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
