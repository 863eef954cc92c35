"""``/operator``: whether the service is well, what waits, and its organizations; ``…/organizations/{id}``: one of
them, to suspend or resume it; ``…/retry`` and ``…/requests/{id}/retry``."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from paraph.dashboard.decorators import View, done, number_in, reauthenticated, see_other, show, told_in
from paraph.dashboard.operators.look import LATEST, failures, work
from paraph.evidence import preservation
from paraph.evidence.models import Backup
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Status
from paraph.operations.check.service_checks import CHECKS
from paraph.operations.pending_work import retry, retry_all
from paraph.server.client_address import client_address
from paraph.tenants.accounts import with_second_factor
from paraph.tenants.admin_log import Actor, note
from paraph.tenants.lifecycle import resume_organization, suspend_organization
from paraph.tenants.models import ActorKind, Operator, Organization, Storage, User
from paraph.tenants.usage import MonthlyUsage, monthly_usage
from paraph.webhooks.all_deliveries import oldest_due_seconds


def operator_page(*methods: str, fresh: bool = False) -> Callable[[View], View]:
    """Return a view of operators: ``view(request, actor, **rest of the address)``, for these methods.

    Where there is no operator, nobody finds it. Strangers are sent to log in, other accounts get 404. An operator
    without a second factor gets 403, and one who has not given it since they logged in gives it first. ``fresh``: as
    :func:`paraph.dashboard.decorators.reauthenticated`.
    """

    def decorate(view: View) -> View:
        answer = reauthenticated(view) if fresh else view

        @wraps(view)
        def guarded(request: HttpRequest, **rest: Any) -> HttpResponse:
            if not request.user.is_authenticated and Operator.objects.exists():
                return redirect_to_login(request.get_full_path())
            if not Operator.objects.filter(user__email=request.user.get_username()).exists():
                raise Http404
            user = cast(User, request.user)
            if user.pk not in with_second_factor([user.pk]):
                return show(request, "operators/no_second_factor.html", {}, status=403)
            if not any(record["method"] == "mfa" for record in get_authentication_records(request, user)):
                ways = get_adapter().get_reauthentication_methods(user)
                way = next(each["url"] for each in ways if each["id"].startswith("mfa_"))
                return see_other(f"{way}?{urlencode({'next': request.get_full_path()})}")
            if request.method not in methods:
                return HttpResponseNotAllowed(methods)
            return answer(request, Actor(ActorKind.OPERATOR, user.pk, user.email, client_address(request)), **rest)

        return guarded

    return decorate


_AT_ONCE, _RETRIED_AT_ONCE = 20, 200
_NOW = ("workers", "webhooks", "sealing failures", "backup")
"""Checks that are made for each page, so that it says one thing: they ask the database alone, and it is there."""
_CHANGES = {"suspend": suspend_organization, "resume": resume_organization}


class SearchForm(forms.Form):
    q = forms.CharField(label=gettext_lazy("Name or number"), max_length=200, required=False)


class ChangeForm(forms.Form):
    to = forms.ChoiceField(choices=[(each, each) for each in _CHANGES])


@operator_page("GET")
def page(request: HttpRequest, operator: Actor) -> HttpResponse:
    note(None, operator, "operator.page_seen")
    look, now, form = LATEST.look(), clock.now(), SearchForm(request.GET)
    words = form.cleaned_data["q"] if form.is_valid() else ""
    found = Paginator(_organizations(words), _AT_ONCE).get_page(request.GET.get("page"))
    fresh = {each.name: each for check in CHECKS if check.name in _NOW for each in check.outcomes()}
    known = {each.name: each for each in look.outcomes} | fresh
    outcomes = sorted(known.values(), key=lambda each: list(Status).index(each.status), reverse=True)
    content = {
        "look": look,
        "outcomes": outcomes,
        "needs": [each for each in outcomes if each.status == Status.FAILED],
        "notes": [each for each in outcomes if each.status == Status.WARNING],
        "work": work(),
        "webhooks_since": now - timedelta(seconds=oldest_due_seconds()),
        "late": now - timedelta(minutes=1),
        "late_timestamps": preservation.overdue()[0],
        "failures": failures(),
        "soon": now + timedelta(days=30),
        "backup": Backup.objects.filter(problems=0).order_by("-as_of").first(),
        "form": form,
        "page": found,
        "organizations": [(row, _used(row)) for row in found],
    }
    return show(request, "operators/page.html", content)


@operator_page("GET", "POST", fresh=True)
def organization(request: HttpRequest, operator: Actor, organization_id: int) -> HttpResponse:
    """``POST``: suspend the organization, or resume one that is suspended."""
    found = get_object_or_404(_organizations(), pk=organization_id)
    form = ChangeForm(request.POST or None)
    if form.is_valid():
        with told_in(form):
            _CHANGES[form.cleaned_data["to"]](operator, organization_id)
            return done(request, _("Saved."), "operator_organization", organization_id)
    note(None, operator, "operator.organization_seen", f"organization {organization_id}")
    return show(request, "operators/organization.html", {"found": found, "used": _used(found), "form": form})


@operator_page("POST")
@transaction.atomic
def retry_request(request: HttpRequest, operator: Actor, request_id: int) -> HttpResponse:
    note(None, operator, "operator.request_retried", f"request {request_id}")
    try:
        retry(request_id)
    except DomainError as refusal:
        raise Http404 from refusal
    return done(request, _("Request %(number)d is tried again now.") % {"number": request_id}, "operator")


@operator_page("POST")
def retry_requests(request: HttpRequest, operator: Actor) -> HttpResponse:
    """Try again whatever failed, of the oldest requests; ``paraph request retry --all`` knows no bound."""
    note(None, operator, "operator.requests_retried")
    count = retry_all(_RETRIED_AT_ONCE)
    sentence = ngettext("%(count)d request is tried again now.", "%(count)d requests are tried again now.", count)
    return done(request, sentence % {"count": count}, "operator")


def _organizations(words: str = "") -> QuerySet[Organization]:
    """Return those with the words in their names or of this number, the largest first, with the ``bytes`` of their
    files."""
    sizes = Storage.objects.filter(organization=OuterRef("pk")).values("organization").annotate(total=Sum("bytes"))
    found = Organization.objects.filter(deleted_at=None).annotate(bytes=Coalesce(Subquery(sizes.values("total")), 0))
    if words:
        found = found.filter(Q(name__icontains=words) | Q(pk=number_in(words)))
    return found.order_by("-bytes", "pk")


def _used(row: Organization) -> MonthlyUsage:
    """Return what the organization used in this month."""
    return monthly_usage(clock.now().date().replace(day=1), row.pk).get(row.pk, MonthlyUsage())
