"""``/app/{o}/applications/{id}``: an application's settings, its keys side by side, and its end."""

from datetime import timedelta
from typing import Any, NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from paraph.dashboard.applications.forms import RevokeForm, RotationForm, SettingsForm, add_refusal
from paraph.dashboard.applications.found import application_of
from paraph.dashboard.decorators import actor, member_page, reauthenticated, see_other, show
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.applications import revoke_application, update_application
from paraph.tenants.models import ApiKey, Application, Member
from paraph.tenants.rights import Right
from paraph.tenants.usage import RecentCalls, recent_calls

_SILENT_AFTER = timedelta(hours=1)


@member_page(Right.BUILD)
def application(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    return application_page(request, member, application_of(member, application_id))


@member_page(Right.BUILD)
@require_POST
@reauthenticated
def save_settings(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    form = SettingsForm(request.POST)
    if not form.is_valid():
        return application_page(request, member, found, settings=form)
    given = form.cleaned_data
    origins, url = given["frame_origins"].split(), given["webhook_url"].strip()
    try:
        update_application(actor(request, member), found, origins, name=given["name"], webhook_url=url)
    except DomainError as refusal:
        add_refusal(form, refusal)
        return application_page(request, member, found, settings=form)
    messages.success(request, _("Saved."))
    return see_other("application", member.organization_id, found.pk)


@member_page(Right.BUILD)
@require_POST
@reauthenticated
def revoke(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    """Reject all keys of the application, once its name is typed."""
    found = application_of(member, application_id)
    form = RevokeForm(found, request.POST)
    if not form.is_valid():
        return application_page(request, member, found, revocation=form)
    revoke_application(actor(request, member), found)
    messages.success(request, _("All keys of %(name)s are revoked.") % {"name": found.name})
    return see_other("application", member.organization_id, found.pk)


def application_page(
    request: HttpRequest,
    member: Member,
    found: Application,
    *,
    settings: SettingsForm | None = None,
    revocation: RevokeForm | None = None,
    rotation: RotationForm | None = None,
) -> HttpResponse:
    """Return the page, with the form that could not be taken, if any."""
    keys = _keys(found)
    live = [row for row in keys if row.is_live]
    used = [row.key.last_used_at for row in keys if row.key.last_used_at]
    content: dict[str, Any] = {
        "application": found,
        "keys": keys,
        "live": live,
        "last_used_at": max(used, default=None),
        "calls": sum(row.calls.together for row in keys),
        "settings": settings or SettingsForm(initial=_entered(found)),
        "rotation": rotation or RotationForm(),
        "revocation": revocation or RevokeForm(found),
    }
    refused = any(form is not None for form in (settings, revocation, rotation))
    return show(request, "applications/application.html", content, member=member, status=422 if refused else 200)


class _KeyRow(NamedTuple):
    """``outlived``: a newer key works as well, so that this one can end when it is ``silent``."""

    key: ApiKey
    calls: RecentCalls
    is_live: bool
    silent: bool
    outlived: bool


def _keys(found: Application) -> list[_KeyRow]:
    """List the keys, the newest first."""
    keys, now = list(found.keys.order_by("-pk")), clock.now()
    calls = recent_calls([key.pk for key in keys])
    rows: list[_KeyRow] = []
    for key in keys:
        is_live = key.revoked_at is None or key.revoked_at > now
        silent = key.last_used_at is None or now - key.last_used_at > _SILENT_AFTER
        outlived = is_live and any(row.is_live for row in rows)
        rows.append(_KeyRow(key, calls[key.pk], is_live, silent, outlived))
    return rows


def _entered(found: Application) -> dict[str, str]:
    origins = "\n".join(found.frame_origins.split())
    return {"name": found.name, "webhook_url": found.webhook_url, "frame_origins": origins}
