"""``/app/{o}/branding``, ``…/new``, ``…/{id}`` and ``…/{id}/delete``: branding profiles, within the plan's limit."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.branding.forms import COLORS, LogoForm, ProfileForm
from paraph.dashboard.branding.preview import PARENT_POLICY, shown_logo
from paraph.dashboard.branding.words import described_contrasts
from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.drafts.editing import open_drafts
from paraph.flow.ending.delete_profile import delete_profile
from paraph.kernel.errors import DomainError
from paraph.pdf.untrusted.logo import LARGEST
from paraph.request_templates.models import Template
from paraph.tenants.branding import DEFAULT, create_profile, update_profile
from paraph.tenants.limits import allowance
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import branding_profiles, scoped


@member_page(Right.BUILD)
def branding(request: HttpRequest, member: Member) -> HttpResponse:
    rows = list(branding_profiles(scope(member)).order_by("pk"))
    limit = allowance(member.organization.plan).branding_profiles
    content = {"rows": rows, "used": len(rows), "limit": limit, "is_full": len(rows) >= limit}
    return show(request, "branding/listing.html", content, member=member)


@member_page(Right.BUILD)
def new_profile(request: HttpRequest, member: Member) -> HttpResponse:
    return _edited(request, member, None)


@member_page(Right.BUILD)
def profile(request: HttpRequest, member: Member, profile_id: int) -> HttpResponse:
    return _edited(request, member, own_profile(member, profile_id))


@member_page(Right.BUILD)
def delete(request: HttpRequest, member: Member, profile_id: int) -> HttpResponse:
    """``…/{id}/delete``: asks first, and says what becomes of all that uses the profile."""
    found = own_profile(member, profile_id)
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


def own_profile(member: Member, profile_id: int) -> BrandingProfile:
    found = branding_profiles(scope(member)).filter(pk=profile_id).first()
    if found is None:
        raise Http404
    return found


def _edited(request: HttpRequest, member: Member, found: BrandingProfile | None) -> HttpResponse:
    """Save what was entered. A form sent to be previewed comes back with its colours in the address, not saved."""
    if request.method != "POST":
        return profile_page(request, member, found)
    form = ProfileForm(request.POST)
    if not form.is_valid():
        return _page(request, member, found, form)
    if "preview" in request.POST:
        return see_other(f"{request.path}?{urlencode(form.cleaned_data)}")
    try:
        saved = _saved(request, member, found, form.cleaned_data)
    except DomainError as refusal:
        form.add_error(None, refusal.message)
        return _page(request, member, found, form)
    messages.success(request, _("Saved."))
    return see_other("profile", member.organization_id, saved.pk)


def _saved(
    request: HttpRequest, member: Member, found: BrandingProfile | None, given: dict[str, Any]
) -> BrandingProfile:
    if found is None:
        return create_profile(member.organization_id, actor(request, member), **given)
    return update_profile(actor(request, member), found, **given)


def profile_page(
    request: HttpRequest, member: Member, found: BrandingProfile | None, logo_form: LogoForm | None = None
) -> HttpResponse:
    """Return the page with its form as it begins. ``logo_form``: one whose logo was refused."""
    return _page(request, member, found, ProfileForm(initial=_initial(request, found)), logo_form)


def _page(
    request: HttpRequest,
    member: Member,
    found: BrandingProfile | None,
    form: ProfileForm,
    logo_form: LogoForm | None = None,
) -> HttpResponse:
    palette, logo = form.palette(), shown_logo(member, found)
    shown = {"profile": found.pk} if found and logo else {}
    shown |= {"signature_only": 1} if form["signature_only"].value() else {}
    colors = urlencode(palette | shown)
    content = {
        "profile": found,
        "form": form,
        "colors": colors,
        "ground": palette["background_color"],
        "contrasts": described_contrasts(**palette),
        "logo": logo,
        "logo_form": logo_form or LogoForm(),
        "largest": LARGEST // 1024,
    }
    status = 422 if form.errors or logo_form else 200
    response = show(request, "branding/profile.html", content, member=member, status=status)
    response["Content-Security-Policy"] = PARENT_POLICY
    return response


def _initial(request: HttpRequest, found: BrandingProfile | None) -> dict[str, Any]:
    usual = {"name": "", **dict(zip(COLORS, DEFAULT, strict=True)), "signature_only": False}
    own = {field: getattr(found, field) if found else value for field, value in usual.items()}
    chosen = {field: request.GET[field] for field in own if field in request.GET}
    return own | chosen | ({"signature_only": chosen["signature_only"] == "True"} if "signature_only" in chosen else {})
