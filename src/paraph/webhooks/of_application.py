"""The deliveries of one application, for its members. The caller has found the application among their own."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from paraph.tenants.applications import webhook_secrets
from paraph.tenants.models import Application
from paraph.webhooks.models import Attempt, Delivery, DeliveryStatus
from paraph.webhooks.payload import body
from paraph.webhooks.prepared_delivery import headers

AT_ONCE = 50


class Filter(NamedTuple):
    """Which deliveries are asked for: of a state, of an event, of events in a time. ``before`` names the delivery that
    the page before ended with."""

    status: str = ""
    event: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


class Signed(NamedTuple):
    """What is sent: ``body`` are the bytes that the signatures in ``headers`` are made over."""

    headers: dict[str, str]
    body: bytes


def deliveries_page(application: Application, asked: Filter) -> tuple[list[Any], int | None]:
    """Return the newest deliveries that the filter takes, with the outcome of their last attempt, and the one to go on
    from, None at the end."""
    all_rows = for_application(application)
    rows = filtered(all_rows, asked).order_by("-occurred_at", "-pk")
    if asked.before and (ended_with := all_rows.filter(pk=asked.before).first()):
        rows = before(rows, ended_with)
    found = list(with_outcome(rows)[: AT_ONCE + 1])
    shown = found[:AT_ONCE]
    return shown, shown[-1].pk if len(found) > AT_ONCE else None


def with_outcome(rows: QuerySet[Delivery]) -> QuerySet[Any]:
    """Return the deliveries without their bodies, with ``attempts_made``, and ``last_status`` and ``last_error`` of the
    last attempt."""
    last = Attempt.objects.filter(delivery=OuterRef("pk")).order_by("-started_at")
    return rows.annotate(
        attempts_made=Subquery(
            Attempt.objects.filter(delivery=OuterRef("pk")).values("delivery").annotate(n=Count("pk")).values("n")
        ),
        last_status=Subquery(last.values("status_code")[:1]),
        last_error=Subquery(last.values("error")[:1]),
    ).defer("payload")


def for_application(application: Application) -> QuerySet[Delivery]:
    return Delivery.objects.filter(application=application)


def signed(application: Application, delivery: Delivery, attempt_id: str) -> Signed | None:
    """Return what is sent if it is sent now: the same bytes as at every attempt, but that links to results are made
    anew each time and a rotation changes the secret. None while the results are not sealed."""
    if delivery.status == DeliveryStatus.HELD:
        return None
    content = body(delivery.event_type, delivery.payload, delivery.request_id)
    following = application.next_webhook_secret_encrypted
    secrets = webhook_secrets(
        bytes(application.webhook_secret_encrypted),
        None if following is None else bytes(following),
        application.next_webhook_secret_at,
    )
    return Signed(headers(delivery.event_type, delivery.entry_id, attempt_id, secrets, content), content)


def filtered(rows: QuerySet[Delivery], asked: Filter) -> QuerySet[Delivery]:
    """Return the deliveries that the filter takes, apart from where its page begins."""
    if asked.status:
        rows = rows.filter(status=asked.status)
    if asked.event:
        rows = rows.filter(event_type=asked.event)
    if asked.since:
        rows = rows.filter(occurred_at__gte=asked.since)
    if asked.until:
        rows = rows.filter(occurred_at__lt=asked.until)
    return rows


def before(rows: QuerySet[Delivery], last: Delivery) -> QuerySet[Delivery]:
    """Return those that come after the last one shown, the newest first."""
    earlier = Q(occurred_at__lt=last.occurred_at) | Q(occurred_at=last.occurred_at, pk__lt=last.pk)
    return rows.filter(earlier, occurred_at__lte=last.occurred_at)  # the second condition is what an index serves
