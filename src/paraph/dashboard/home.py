"""``/app/`` and ``/app/{organization}/``: where a member arrives, with what needs somebody there: their own signature,
mails not taken, requests that expire soon, seals that wait, inquiries, declined requests. Each kind is read from an
index of its own, and no more than a few of it; a request is listed once, whatever it needs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import is_valid_path, reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from paraph.dashboard.decorators import actor_of, member_page, refusals_in, see_other, show, shown_scope, switch_to
from paraph.dashboard.documents import limit_mb
from paraph.dashboard.requests.listing import DOCUMENTS, Filters, page
from paraph.evidence.failures import public_cause
from paraph.evidence.models import SealingFailure
from paraph.kernel import clock
from paraph.signature_requests.models import LARGE, Inquiry, Mode, RequestStatus, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.limits import web_sends
from paraph.tenants.members import Right, may
from paraph.tenants.models import ApiKey, Environment, Member, User
from paraph.tenants.organizations import may_open_organization, open_organization
from paraph.tenants.scope import TenantScope, scoped
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
    """Return the latest requests of the status, without those that are shown as needing somebody."""
    chosen = Filters({"status": status})
    chosen.is_valid()
    return [row for row in page(asked, chosen, 2 * _LATEST).rows if row.pk not in known][:_LATEST]


@member_page(Right.BUILD, post_only=True)
def switch_environment(request: HttpRequest, member: Member) -> HttpResponse:
    """``POST …/environment``. Fields: ``to``, the environment to switch on, and ``page``, the address of the page where
    the switch was pressed; the answer leads to the list above that page, or home."""
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
        with refusals_in(form):
            return see_other("home", open_organization(user, actor_of(user, request), form.cleaned_data["name"]).pk)
    return show(request, "new_organization.html", {"form": form})


class Step(NamedTuple):
    """``address``: the name of the page where the step is done."""

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


_MOST = 5
_SOON = timedelta(days=3)
_SHORTLY = timedelta(minutes=10)  # what is under way by itself needs nobody
_LATELY = timedelta(days=14)
_LATEST_REQUESTS = 200  # in which turns, and mails that were not taken, are looked for


class Reason(NamedTuple):
    kind: str
    sentence: str


@dataclass(frozen=True)
class Need:
    """A request and the reasons why it needs somebody, the most urgent first."""

    request: SignatureRequest
    reasons: list[Reason]

    @property
    def is_turn(self) -> bool:
        return any(reason.kind == "turns" for reason in self.reasons)


def attention(member: Member, scope: TenantScope) -> list[Need]:
    """Return the requests that need the member in an environment, the most urgent first, with the names of their
    documents."""
    needs: dict[int, Need] = {}
    for request, reason in _reasons(member, scope):
        needs.setdefault(request.pk, Need(request, [])).reasons.append(reason)
    found = sorted(needs.values(), key=lambda need: not need.is_turn)
    prefetch_related_objects([need.request for need in found], DOCUMENTS)
    return found


def _reasons(member: Member, scope: TenantScope) -> Iterator[tuple[SignatureRequest, Reason]]:
    requests, now = scoped(SignatureRequest, scope), clock.now()
    for signer in _turns(member, scope) if may(member.role, Right.SEND) else ():
        yield signer.request, Reason("turns", _("Your turn to sign"))
    for inquiry in _inquiries(scope):
        name = inquiry.signer.full_name
        yield inquiry.signer.request, Reason("inquiries", _("%(name)s wrote to you") % {"name": name})
    declined = requests.filter(declined_by__isnull=False, ended_early_at__gt=now - _LATELY)
    for request in declined.select_related("declined_by__request").order_by("-ended_early_at")[:_MOST]:
        assert request.declined_by
        yield request, Reason("declined", _("%(name)s declined") % {"name": request.declined_by.full_name})
    refused, waits = _("Not delivered to %(name)s"), _("No mail server has taken the invitation of %(name)s yet")
    for signer in _mails(scope):
        sentence = refused if signer.undelivered else waits
        yield signer.request, Reason("mails", sentence % {"name": signer.full_name})
    soon = requests.filter(status=RequestStatus.PENDING, expires_at__gt=now).filter(expires_at__lt=now + _SOON)
    for request in soon.order_by("expires_at")[:_MOST]:
        yield request, Reason("expiring", _("Expires on %(day)s") % {"day": date_format(request.expires_at)})
    unsealed = requests.filter(status=RequestStatus.COMPLETED, finalized=False, completed_at__lt=now - _SHORTLY)
    late = list(unsealed.order_by("completed_at")[:_MOST])
    causes = {row.request_id: public_cause(row) for row in SealingFailure.objects.filter(request__in=late)}
    for request in late:
        yield request, Reason("unsealed", f"{_('Signed, and not sealed yet')} {causes.get(request.pk, '')}".strip())


def _turns(member: Member, scope: TenantScope) -> Iterable[Signer]:
    """Return the member as the signer of each of the latest requests that they may sign now, the newest first."""
    pending = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    latest = list(pending.values_list("pk", flat=True)[:_LATEST_REQUESTS])
    rows = Signer.objects.filter(request_id__in=latest, email__iexact=member.user.email)
    unsigned = rows.exclude(status=SignerStatus.SIGNED).select_related("request").defer(*LARGE)
    newest = unsigned.order_by("-request_id", "order")[: 2 * _MOST]
    return [signer for signer in newest if signing_eligibility(signer) == SigningEligibility.OPEN][:_MOST]


def _inquiries(scope: TenantScope) -> QuerySet[Inquiry]:
    rows = Inquiry.objects.filter(
        asked_at__gt=clock.now() - _LATELY,
        signer__request__organization_id=scope.organization_id,
        signer__request__environment=scope.environment,
        signer__request__status=RequestStatus.PENDING,
    )
    return rows.select_related("signer__request").order_by("-asked_at")[:_MOST]


def _mails(scope: TenantScope) -> list[Signer]:
    """Return the signers whose turn it is, and to whom a message was refused for good, or whose invitation no mail
    server has taken for a while."""
    latest = scoped(SignatureRequest, scope).filter(status=RequestStatus.PENDING).order_by("-created_at", "-pk")
    pending = {row.pk: row for row in latest[:_LATEST_REQUESTS]}
    unsigned = Signer.objects.filter(request_id__in=pending).exclude(status=SignerStatus.SIGNED).defer(*LARGE)
    waiting, seen, before = list[Signer](), set[int](), clock.now() - _SHORTLY
    for signer in unsigned.order_by("-request_id", "order"):
        signer.request = pending[signer.request_id]
        is_next = signer.request.mode == Mode.PARALLEL or signer.request_id not in seen
        seen.add(signer.request_id)
        is_late = signer.request.send_email and signer.notified_at is None and signer.request.created_at < before
        if is_next and (signer.undelivered or is_late):
            waiting.append(signer)
    return waiting[:_MOST]
