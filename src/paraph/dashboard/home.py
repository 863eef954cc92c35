"""``/app/`` and ``/app/{organization}/``: where a member arrives."""

from collections import Counter
from typing import NamedTuple, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import is_valid_path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from paraph.dashboard.attention import attention
from paraph.dashboard.decorators import actor_of, member_page, see_other, show, shown_scope, switch_to, told_in
from paraph.dashboard.requests.pages import Filters, page
from paraph.dashboard.uploads import limit_mb
from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.limits import web_sends
from paraph.tenants.members import Right, may
from paraph.tenants.models import ApiKey, Environment, Member, User
from paraph.tenants.organizations import may_open_organization, open_organization
from paraph.tenants.scope import TenantScope
from paraph.tenants.usage import by_status
from paraph.webhooks.deliveries import failing_webhooks

_LATEST = 5


@never_cache
@login_required
def organizations(request: HttpRequest) -> HttpResponse:
    """List the member's organizations; show the only one at once."""
    user = cast(User, request.user)
    rows = user.memberships.filter(organization__deleted_at=None).select_related("organization")
    memberships = list(rows.order_by("organization_id"))
    if len(memberships) == 1:
        return redirect("home", memberships[0].organization_id)
    return show(request, "organizations.html", {"memberships": memberships, "may_open": may_open_organization(user)})


@member_page(Right.SEE)
def home(request: HttpRequest, member: Member) -> HttpResponse:
    asked = shown_scope(request, member)
    counts = Counter(by_status(asked, "signature_requests"))
    organization = member.organization
    in_production = asked.environment == Environment.PRODUCTION
    needs = attention(member, asked)
    known = {need.request.pk for need in needs}
    content = {
        "counts": counts,
        "needs": needs,
        "webhooks": failing_webhooks(asked)[:_LATEST] if may(member.role, Right.BUILD) else [],
        "others": _latest(asked, RequestStatus.PENDING, known) if counts[RequestStatus.PENDING] else [],
        "completed": _latest(asked, RequestStatus.COMPLETED, known) if counts[RequestStatus.COMPLETED] else [],
        "steps": first_steps(member, counts) if in_production else [],
        "quota": web_sends(organization.pk, organization.plan),
        "limit": limit_mb(),
        "may_send": may(member.role, Right.SEND) and in_production,
    }
    return show(request, "home.html", content, member=member)


def _latest(asked: TenantScope, status: str, known: set[int]) -> list[SignatureRequest]:
    """Return the latest ones that do not stand among what needs the member."""
    chosen = Filters({"status": status})
    chosen.is_valid()
    return [row for row in page(asked, chosen, 2 * _LATEST).rows if row.pk not in known][:_LATEST]


@member_page(Right.BUILD, post_only=True)
def switch_environment(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/environment``. Fields: ``to``, the environment to switch on, and ``page``, the address of the page where
    the switch was pressed; it leads to the list above that page, or home."""
    wanted = request.POST.get("to", "")
    switch_to(request, member, wanted if wanted == Environment.SANDBOX else Environment.PRODUCTION)
    page = "/".join(request.POST.get("page", "").split("/")[:4])
    here = reverse("home", args=[member.organization_id])
    return see_other(page if page.startswith(here) and is_valid_path(page) else here)


class NewOrganizationForm(forms.Form):
    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)


@never_cache
@login_required
def new_organization(request: HttpRequest) -> HttpResponse:
    user = cast(User, request.user)
    if not may_open_organization(user):
        return show(request, "new_organization_closed.html", {}, status=403)
    form = NewOrganizationForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with told_in(form):
            return see_other("home", open_organization(user, actor_of(user, request), form.cleaned_data["name"]).pk)
    return show(request, "new_organization.html", {"form": form})


class Step(NamedTuple):
    """``address`` is the name of the page where it is done."""

    label: str
    address: str
    is_done: bool


def first_steps(member: Member, requests: Counter[str]) -> list[Step]:
    """Return the steps that this member can take; none once all are done. ``requests`` counts them by status."""
    organization = member.organization
    steps = []
    if may(member.role, Right.SEND):
        steps.append(Step(_("Send a request to yourself as a test"), "requests", requests.total() > 0))
        steps.append(Step(_("Get one signed and sealed"), "requests", requests[RequestStatus.COMPLETED] > 0))
    if may(member.role, Right.INVITE):
        steps.append(Step(_("Invite a colleague"), "members", organization.members.exclude(pk=member.pk).exists()))
        steps.append(Step(_("Set a contact for signers' questions"), "settings", bool(organization.contact_email)))
    if may(member.role, Right.BUILD):
        called = ApiKey.objects.filter(application__organization=organization, last_used_at__isnull=False).exists()
        steps.append(Step(_("Call the API"), "applications", called))
    return [] if all(step.is_done for step in steps) else steps
