"""What members see of the deliveries of their applications, and what they do with them: send one again, send a test.

Where one application is named, the caller has found it among the member's own.
"""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.url import origin_of
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.applications import webhook_secrets
from paraph.tenants.models import Application
from paraph.tenants.organizations import locked_organization
from paraph.tenants.scope import TenantScope, scoped
from paraph.webhooks.all_deliveries import replay_delivery, with_outcome
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination
from paraph.webhooks.outbox import TEST_EVENT, Signed, payload_of_test, sign

AT_ONCE = 50
_NEWEST_FIRST = ("-occurred_at", "-pk")
_RECENTLY = timedelta(days=14)
_FAILING = Q(status=DeliveryStatus.FAILED) | Q(status=DeliveryStatus.WAITING, failures__gt=0)


class Filter(NamedTuple):
    """Which deliveries are asked for: by status, by event, and by when the event happened, ``since`` and ``until``
    included. ``before``: the id of the last delivery on the page before."""

    status: str = ""
    event: str = ""
    since: datetime | None = None
    until: datetime | None = None
    before: int | None = None


def deliveries_page(applications: QuerySet[Application], asked: Filter) -> tuple[list[Any], int | None]:
    """Return the newest deliveries of these applications that match the filter, with the outcome of their last attempt,
    and the id to go on from, None at the end. The newest ones of each application are read from its index."""
    numbers = list(applications.values_list("pk", flat=True))
    if not numbers:
        return [], None
    known = Delivery.objects.filter(application__in=numbers)
    last = known.filter(pk=asked.before).first() if asked.before else None
    newest = [
        _filtered(Delivery.objects.filter(application=pk), asked, last).values_list("occurred_at", "id")[: AT_ONCE + 1]
        for pk in numbers
    ]
    merged = newest[0].union(*newest[1:], all=True).order_by("-occurred_at", "-id") if newest[1:] else newest[0]
    found = [pk for _moment, pk in merged[: AT_ONCE + 1]]
    rows = with_outcome(Delivery.objects.filter(pk__in=found[:AT_ONCE])).defer("payload").select_related("application")
    return list(rows.order_by(*_NEWEST_FIRST)), found[AT_ONCE - 1] if len(found) > AT_ONCE else None


def _filtered(rows: QuerySet[Delivery], asked: Filter, last: Delivery | None) -> QuerySet[Delivery]:
    """Return the deliveries that match the filter and come after ``last``, the newest first."""
    if asked.status:
        rows = rows.filter(status=asked.status)
    if asked.event:
        rows = rows.filter(event_type=asked.event)
    if asked.since:
        rows = rows.filter(occurred_at__gte=asked.since)
    if asked.until:
        rows = rows.filter(occurred_at__lte=asked.until)
    if last:
        earlier = Q(occurred_at__lt=last.occurred_at) | Q(occurred_at=last.occurred_at, pk__lt=last.pk)
        rows = rows.filter(earlier, occurred_at__lte=last.occurred_at)  # an index serves the second
    return rows.order_by(*_NEWEST_FIRST)


def for_request(scope: TenantScope, request_id: int) -> QuerySet[Delivery]:
    """Return the deliveries of one of the caller's requests, oldest first, as :func:`with_outcome` does."""
    rows = Delivery.objects.filter(
        request_id=request_id, request__organization_id=scope.organization_id, request__environment=scope.environment
    )
    return with_outcome(rows).order_by("pk")


def failing_webhooks(scope: TenantScope) -> list[Delivery]:
    """Return the latest failing delivery of each of the caller's applications, of the last fourteen days, in the order
    of their names."""
    latest = Delivery.objects.filter(_FAILING, application=OuterRef("pk")).order_by("-pk")
    applications: Any = scoped(Application, scope).annotate(failing=Subquery(latest.values("pk")[:1]))
    chosen = applications.filter(failing__isnull=False).order_by("name", "pk").values_list("failing", flat=True)
    rows = Delivery.objects.select_related("application").in_bulk(list(chosen))
    found = [rows[pk] for pk in chosen if pk in rows]
    return [row for row in found if row.occurred_at > clock.now() - _RECENTLY]


def signed(application: Application, delivery: Delivery, attempt_id: str) -> Signed | None:
    """Return what would be sent now: the same bytes as at every attempt, except that links to results are made anew
    each time and that a rotation changes the secret. None while the results are not sealed."""
    if delivery.status == DeliveryStatus.HELD:
        return None
    secrets = webhook_secrets(
        application.webhook_secret_encrypted,
        application.next_webhook_secret_encrypted,
        application.next_webhook_secret_at,
    )
    return sign(delivery, attempt_id, secrets)


@transaction.atomic
def send_again(actor: Actor, application: Application, delivery_id: int) -> None:
    """Start the retries of a delivery anew, for a member. Raise ``DomainError``: ``not_found``, ``conflict`` where it
    cannot be sent, or is being sent."""
    locked_organization(application.organization_id)
    if not replay_delivery(delivery_id, application):
        raise DomainError("conflict", _("It is being sent right now."))
    _note(actor, Action.DELIVERY_SENT_AGAIN, application, delivery_id)


@transaction.atomic
def send_test(actor: Actor, application: Application) -> Delivery:
    """Record a delivery of :data:`TEST_EVENT` to the application's URL, which the workers then send.

    Raise ``DomainError("conflict", …)`` without a URL, or while the last test has not had its first attempt.
    """
    locked_organization(application.organization_id)
    locked = Application.objects.select_for_update(no_key=True).get(pk=application.pk)
    if not locked.webhook_url:
        raise DomainError("conflict", _("The application has no webhook URL yet."))
    tests = Delivery.objects.filter(application=locked, event_type=TEST_EVENT, failures=0)
    if tests.filter(status=DeliveryStatus.WAITING).exists():
        raise DomainError("conflict", _("A test is already on its way."))
    moment = clock.now()
    delivery = Delivery.objects.create(
        application=locked,
        request=None,
        destination=Destination.APPLICATION,
        url=locked.webhook_url,
        endpoint=f"{locked.pk} {origin_of(locked.webhook_url)}"[:300],
        event_type=TEST_EVENT,
        occurred_at=moment,
        payload=payload_of_test(moment),
        due_at=moment,
    )
    _note(actor, Action.WEBHOOK_TESTED, application, delivery.pk)
    return delivery


def _note(actor: Actor, action: Action, application: Application, delivery_id: int) -> None:
    about = {"application_id": application.pk, "delivery_id": delivery_id}
    note(application.organization_id, actor, action, application.name, after=about)
