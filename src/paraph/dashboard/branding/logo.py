"""``/app/{o}/branding/{id}/logo.png``: the logo of a profile; ``…/logo``: a form replaces or removes it."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from paraph.dashboard.branding.forms import LogoForm
from paraph.dashboard.branding.profiles import own_profile, profile_page
from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.dashboard.small_file import FIELD, takes_small_file
from paraph.flow.logos import keep_logo, remove_logo
from paraph.kernel.errors import DomainError
from paraph.pdf.untrusted.logo import LARGEST, LogoRefused
from paraph.tenants.branding import logo_picture
from paraph.tenants.models import BrandingProfile, Member
from paraph.tenants.rights import Right

_SENTENCES = {
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


def _too_large(request: HttpRequest, member: Member) -> HttpResponse:
    content = {"sentence": _sentence(LogoRefused("too_large", {"limit": LARGEST // 1024}))}
    return show(request, "documents/refused.html", content, member=member, status=422)


@member_page(Right.BUILD)
def picture(request: HttpRequest, member: Member, profile_id: int) -> HttpResponse:  # noqa: ARG001
    found = logo_picture(own_profile(member, profile_id))
    if found is None:
        raise Http404
    return HttpResponse(found.png, content_type="image/png")


@csrf_exempt  # the upload makes the same check, once the body may be read
@member_page(Right.BUILD)
@require_POST
@takes_small_file(LARGEST, _too_large)
def logo(request: HttpRequest, member: Member, profile_id: int) -> HttpResponse:
    profile = own_profile(member, profile_id)
    if "remove" in request.POST:
        remove_logo(actor(request, member), profile)
    elif problems := _problems(request, member, profile):
        return profile_page(request, member, profile, problems)
    messages.success(request, _("Saved."))
    return see_other("profile", member.organization_id, profile.pk)


def _problems(request: HttpRequest, member: Member, profile: BrandingProfile) -> LogoForm | None:
    """Keep the logo of the form. Return the form where it was refused."""
    form = LogoForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            keep_logo(scope(member), actor(request, member), profile, form.cleaned_data[FIELD].read())
        except DomainError as refused:
            form.add_error(FIELD, _sentence(refused))
    return form if form.errors else None


def _sentence(refused: DomainError) -> str:
    return str(_SENTENCES[refused.reason] % refused.facts) if isinstance(refused, LogoRefused) else refused.message
