"""``/operator``: whether the service is well, what waits, and its organizations; ``…/organizations/{id}``: one of them,
to suspend or resume it; ``…/retry`` and ``…/requests/{id}/retry``.

The pages show the service as ``paraph check`` sees it, from results kept in this process so that no page waits for
them; the work that waits, by kind; and the requests whose seals fail.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any, cast
from urllib.parse import urlencode

from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from cryptography import x509
from django import forms
from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db import connection, connections, transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.dashboard.decorators import View, done, number_in, reauthenticated, refusals_in, see_other, show
from paraph.evidence import sealed_files
from paraph.evidence.failures import given_up
from paraph.evidence.models import Backup, SealingFailure
from paraph.flow.sealing.context import last_authority_chain
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.operations.check.outcome import Outcome, Status
from paraph.operations.check.sealing import certificate_ends
from paraph.operations.check.service_checks import CHECKS, run_checks
from paraph.operations.pending_work import retry, retry_all
from paraph.queue.jobs import MAIL
from paraph.server.client_address import client_address
from paraph.tenants.accounts import with_second_factor
from paraph.tenants.admin_log import Actor, note
from paraph.tenants.lifecycle import resume_organization, suspend_organization
from paraph.tenants.models import ActorKind, Operator, Organization, Storage, User
from paraph.tenants.usage import MonthlyUsage, monthly_usage
from paraph.webhooks.all_deliveries import oldest_due_seconds


def operator_page(*methods: str, fresh: bool = False) -> Callable[[View], View]:
    """Decorate a view for operators: ``view(request, actor, **rest of the address)``, for these methods.

    While there is no operator, everybody gets 404. Strangers are sent to log in, other accounts get 404. An operator
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
"""Checks that are made anew for each page, so that it does not contradict itself: they ask the database alone."""
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
        "late_timestamps": sealed_files.overdue()[0],
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
        with refusals_in(form):
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
    """Retry what failed, for the oldest requests; ``paraph request retry --all`` has no limit."""
    note(None, operator, "operator.requests_retried")
    count = retry_all(_RETRIED_AT_ONCE)
    sentence = ngettext("%(count)d request is tried again now.", "%(count)d requests are tried again now.", count)
    return done(request, sentence % {"count": count}, "operator")


def _organizations(words: str = "") -> QuerySet[Organization]:
    """Return the organizations whose name contains the words or whose number they are, the largest first, with the
    ``bytes`` of their files."""
    sizes = Storage.objects.filter(organization=OuterRef("pk")).values("organization").annotate(total=Sum("bytes"))
    found = Organization.objects.filter(deleted_at=None).annotate(bytes=Coalesce(Subquery(sizes.values("total")), 0))
    if words:
        found = found.filter(Q(name__icontains=words) | Q(pk=number_in(words)))
    return found.order_by("-bytes", "pk")


def _used(row: Organization) -> MonthlyUsage:
    """Return what the organization used in this month."""
    return monthly_usage(clock.now().date().replace(day=1), row.pk).get(row.pk, MonthlyUsage())


_FRESH, _OLD = timedelta(seconds=30), timedelta(minutes=5)
_PATIENCE_SECONDS = 2.0
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Look:
    """What ``paraph check`` found at a moment. ``ends``: when certificates end, by environment or ``timestamp``."""

    at: datetime = _NEVER
    outcomes: list[Outcome] = field(default_factory=list)
    ends: dict[str, datetime] = field(default_factory=dict)


class LatestLook:
    """The latest look, which a thread renews while pages show it."""

    def __init__(self) -> None:
        self._look = Look()
        self._renewal = threading.Thread()
        self._lock = threading.Lock()

    def look(self) -> Look:
        """Return the latest look, and begin to renew one that is older than half a minute. Only a caller who would get
        one older than five minutes, or none, waits for the new one, for two seconds at most."""
        age = clock.now() - self._look.at
        with self._lock:
            if age > _FRESH and not self._renewal.is_alive():
                self._renewal = threading.Thread(target=self._renew, name="operators look", daemon=True)
                self._renewal.start()
        if age > _OLD:
            self._renewal.join(_PATIENCE_SECONDS)
        return self._look

    def _renew(self) -> None:
        outcomes = run_checks()
        ends = {name: datetime.fromtimestamp(moment, UTC) for name, moment in certificate_ends().items()}
        if chain := last_authority_chain():
            ends["timestamp"] = x509.load_der_x509_certificate(chain[0]).not_valid_after_utc
        connections.close_all()
        self._look = Look(clock.now(), outcomes, ends)


LATEST = LatestLook()


MOST_FAILURES = 20
_KINDS = {"finalize": "seals", "send_rows": "bulk sends"}
_TOLD = ("settings", "key")  # causes of these kinds name settings and hosts, and never a document
# At most 2000 jobs are looked at: an outage may leave a million.
_DUE = """
    SELECT queue_name, task_name, count(*), min(due) FROM (
        (SELECT queue_name, task_name, scheduled_at AS due FROM procrastinate_jobs
         WHERE status = 'todo' AND scheduled_at <= now() ORDER BY scheduled_at LIMIT 1000)
        UNION ALL
        (SELECT queue_name, task_name, (SELECT min(at) FROM procrastinate_events
                                        WHERE job_id = job.id AND type = 'deferred') FROM procrastinate_jobs AS job
         WHERE status = 'todo' AND scheduled_at IS NULL ORDER BY id LIMIT 1000)
    ) AS waiting GROUP BY 1, 2
"""


@dataclass
class Work:
    """``due``: how many jobs could begin now; ``since``: when the first of them could; ``gave_up``: how many are not
    tried again."""

    due: int = 0
    since: datetime | None = None
    gave_up: int = 0


def work() -> dict[str, Work]:
    found = {kind: Work() for kind in ("mails", *_KINDS.values(), "upkeep")}
    with connection.cursor() as cursor:
        cursor.execute(_DUE)
        for queue, task, count, since in cursor.fetchall():
            kind = found[_kind(queue, task)]
            kind.due, kind.since = kind.due + count, min(filter(None, (kind.since, since)), default=None)
    failed = ProcrastinateJob.objects.filter(status="failed").values_list("queue_name", "task_name")
    for queue, task, count in failed.annotate(Count("id")):
        found[_kind(queue, task)].gave_up += count
    return found


def _kind(queue: str, task: str) -> str:
    return _KINDS.get(task.rpartition(".")[2], "mails" if queue == MAIL else "upkeep")


def failures() -> list[tuple[SealingFailure, bool, str]]:
    """Return the requests whose files could not be sealed, whether the service has given up on each, and its cause as
    far as it is shown: a cause may quote a document."""
    rows = list(SealingFailure.objects.select_related("request__organization").order_by("failed_at")[:MOST_FAILURES])
    gave_up = given_up([row.request_id for row in rows])
    return [(row, row.request_id in gave_up, row.cause if row.kind in _TOLD else "") for row in rows]
