"""``…/applications/{id}/keys``: a new key and a new secret, and the end of a key."""

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from paraph.dashboard.applications.application import application_page
from paraph.dashboard.applications.forms import RotationForm
from paraph.dashboard.applications.found import application_of, key_of
from paraph.dashboard.applications.secrets import show_secrets
from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other
from paraph.tenants.applications import revoke_key, rotate_application
from paraph.tenants.models import Member
from paraph.tenants.rights import Right


@member_page(Right.BUILD)
@require_POST
@reauthenticated
def rotate(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    form = RotationForm(request.POST)
    if not form.is_valid():
        return application_page(request, member, found, rotation=form)
    overlap = timedelta(hours=form.cleaned_data["overlap"])
    return show_secrets(request, member, rotate_application(actor(request, member), found, overlap))


@member_page(Right.BUILD)
@require_POST
@reauthenticated
def end_key(request: HttpRequest, member: Member, application_id: int, key_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    revoke_key(actor(request, member), key_of(found, key_id))
    messages.success(request, _("Key %(number)d was revoked.") % {"number": key_id})
    return see_other("application", member.organization_id, found.pk)
