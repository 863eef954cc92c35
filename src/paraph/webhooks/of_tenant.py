"""Deliveries of all applications of an organization, for its members."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from paraph.kernel import clock
from paraph.tenants.models import Application
from paraph.tenants.scope import TenantScope, scoped
from paraph.webhooks.models import Attempt, Delivery, DeliveryStatus
from paraph.webhooks.of_application import AT_ONCE, Filter, before, filtered, with_outcome

_RECENTLY = timedelta(days=14)
_FAILING = Q(status=DeliveryStatus.FAILED) | Q(status=DeliveryStatus.WAITING, failures__gt=0)


@dataclass(frozen=True)
class FailingWebhook:
    """An application whose latest failing delivery is of ``since``. ``next_attempt_at`` is None once it was given
    up."""

    application: Application
    event_type: str
    since: datetime
    next_attempt_at: datetime | None


def for_request(scope: TenantScope, request_id: int) -> QuerySet[Delivery]:
    """Return the deliveries of one of the caller's requests, oldest first, with ``attempts_made``, and ``last_status``
    and ``last_error`` of the last attempt."""
    last = Attempt.objects.filter(delivery=OuterRef("pk")).order_by("-started_at")
    rows = Delivery.objects.filter(
        request_id=request_id,
        request__organization_id=scope.organization_id,
        request__environment=scope.environment,
    ).annotate(
        attempts_made=Count("attempts"),
        last_status=Subquery(last.values("status_code")[:1]),
        last_error=Subquery(last.values("error")[:1]),
    )
    return rows.order_by("pk")


def deliveries_of_all(scopes: Sequence[TenantScope], asked: Filter) -> tuple[list[Any], int | None]:
    """Return the newest deliveries that the filter takes, of all the caller's applications, with the outcome of their
    last attempt, and the one to go on from, None at the end. Of each application its newest are read from its index."""
    applications = [pk for scope in scopes for pk in scoped(Application, scope).values_list("pk", flat=True)]
    known = Delivery.objects.filter(application_id__in=applications)
    ended_with = known.filter(pk=asked.before).first() if asked.before else None
    newest = [_newest(pk, asked, ended_with) for pk in applications]
    if not newest:
        return [], None
    order = ("-occurred_at", "-id")
    merged = newest[0].union(*newest[1:], all=True).order_by(*order) if newest[1:] else newest[0]
    found = [pk for _moment, pk in merged[: AT_ONCE + 1]]
    rows = with_outcome(Delivery.objects.filter(pk__in=found[:AT_ONCE])).select_related("application").order_by(*order)
    return list(rows), found[AT_ONCE - 1] if len(found) > AT_ONCE else None


def _newest(application_id: int, asked: Filter, ended_with: Delivery | None) -> QuerySet[Any]:
    rows = filtered(Delivery.objects.filter(application=application_id), asked)
    if ended_with:
        rows = before(rows, ended_with)
    return rows.order_by("-occurred_at", "-pk").values_list("occurred_at", "id")[: AT_ONCE + 1]


def failing_webhooks(scope: TenantScope) -> list[FailingWebhook]:
    """Return the caller's applications with deliveries of the last fourteen days that fail, in the order of their
    names."""
    latest = Delivery.objects.filter(_FAILING, application=OuterRef("pk")).order_by("-pk")
    applications: Any = scoped(Application, scope).annotate(failing=Subquery(latest.values("pk")[:1]))
    chosen = {each.failing: each for each in applications.filter(failing__isnull=False).order_by("name", "pk")}
    rows = Delivery.objects.in_bulk(list(chosen))
    recent = [(chosen[pk], rows[pk]) for pk in chosen if pk in rows and rows[pk].occurred_at > clock.now() - _RECENTLY]
    return [FailingWebhook(each, row.event_type, row.occurred_at, _next(row)) for each, row in recent]


def _next(row: Delivery) -> datetime | None:
    return row.due_at if row.status == DeliveryStatus.WAITING else None
