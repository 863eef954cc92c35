"""``/app/{o}/applications``: all applications, how lately their keys were used, and whose a key is."""

from datetime import datetime
from typing import NamedTuple

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from paraph.dashboard.applications.first_call import is_new
from paraph.dashboard.applications.forms import KeyForm
from paraph.dashboard.applications.found import applications_of
from paraph.dashboard.decorators import member_page, see_other, show
from paraph.kernel import clock
from paraph.tenants.admission import key_hash
from paraph.tenants.models import ApiKey, Application, Member
from paraph.tenants.rights import Right


class _Row(NamedTuple):
    application: Application
    live_keys: int
    last_used_at: datetime | None
    is_new: bool


@member_page(Right.BUILD)
def applications(request: HttpRequest, member: Member) -> HttpResponse:
    return _page(request, member, KeyForm())


@member_page(Right.BUILD)
@require_POST
def which_key(request: HttpRequest, member: Member) -> HttpResponse:
    """Find the application of a key by the key's hash, among the keys of the organization alone."""
    form = KeyForm(request.POST)
    if not form.is_valid():
        return _page(request, member, form)
    mine = ApiKey.objects.filter(application__in=applications_of(member))
    key = mine.filter(sha256=key_hash(form.cleaned_data["key"].strip())).select_related("application").first()
    if key is None:
        form.add_error(
            "key", _("This key does not belong, and never belonged, to an application of this organization.")
        )
        return _page(request, member, form)
    words = {"number": key.pk, "name": key.application.name}
    messages.success(request, _("This is key %(number)d of %(name)s.") % words)
    page = reverse("application", args=[member.organization_id, key.application_id])
    return see_other(f"{page}#key-{key.pk}")


def _page(request: HttpRequest, member: Member, form: KeyForm) -> HttpResponse:
    rows = [_row(application) for application in applications_of(member).order_by("pk").prefetch_related("keys")]
    content = {"rows": rows, "form": form}
    return show(request, "applications/listing.html", content, member=member, status=422 if form.errors else 200)


def _row(application: Application) -> _Row:
    keys, now = list(application.keys.all()), clock.now()
    live = [key for key in keys if key.revoked_at is None or key.revoked_at > now]
    used = [key.last_used_at for key in keys if key.last_used_at]
    return _Row(application, len(live), max(used, default=None), is_new(application))
