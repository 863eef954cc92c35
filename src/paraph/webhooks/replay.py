"""Send deliveries again, and send tests."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from paraph.audit_trail.models import EventType
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.url import origin_of
from paraph.tenants.models import Application
from paraph.tenants.scope import existing
from paraph.webhooks.models import FINISHED, Delivery, DeliveryStatus, Destination
from paraph.webhooks.payload import TEST_EVENT, payload_of_test


def replay_delivery(delivery_id: int, application: Application | None = None) -> int:
    """Send one delivery again, or at once if it waits for a retry. Return 1, or 0 while it is being sent. With an
    ``application``, the deliveries of others are as if they did not exist.

    Raise ``DomainError``: ``not_found`` for an unknown id, ``conflict`` while its PDFs are not sealed, or once they
    are deleted, and for what was caught.
    """
    chosen = Delivery.objects.filter(pk=delivery_id)
    if application is not None:
        chosen = chosen.filter(application=application)
    delivery = existing(chosen, f"There is no delivery {delivery_id}.")
    if delivery.destination == Destination.CATCHER:
        raise DomainError("conflict", f"Delivery {delivery_id} was caught: its application had no webhook URL.")
    if delivery.status == DeliveryStatus.HELD:
        raise DomainError("conflict", f"Delivery {delivery_id} is held until the request's PDFs are sealed.")
    if _without_files(chosen).exists():
        raise DomainError("conflict", f"Delivery {delivery_id} would link to files that are deleted.")
    return _replay(chosen.filter(status__in=[*FINISHED, DeliveryStatus.WAITING], claimed_at=None))


def replay_request(request_id: int) -> int:
    """Send every delivery of a request again that was delivered or has failed; return how many.

    Raise ``DomainError("not_found", …)`` where the request has no delivery.
    """
    chosen = Delivery.objects.filter(request=request_id).exclude(destination=Destination.CATCHER)
    if not chosen.exists():
        raise DomainError("not_found", f"Request {request_id} has no deliveries.")
    return _replay(chosen.filter(status__in=FINISHED))


def replay_since(moment: datetime, *, delivered_too: bool = False) -> int:
    """Send the failed deliveries of events since ``moment`` again, and with ``delivered_too`` the delivered ones (for a
    receiver that lost its data); return how many."""
    statuses = FINISHED if delivered_too else [DeliveryStatus.FAILED]
    return _replay(Delivery.objects.filter(occurred_at__gte=moment, status__in=statuses))


def _replay(chosen: QuerySet[Delivery]) -> int:
    """Start the retries anew, but for those that would link to deleted files. Earlier attempts stay on record until the
    delivery is pruned."""
    sent = chosen.exclude(pk__in=_without_files(chosen).values("pk"))
    return sent.update(status=DeliveryStatus.WAITING, failures=0, due_at=clock.now(), finished_at=None)


def _without_files(chosen: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return chosen.filter(event_type=EventType.COMPLETED, request__files_deleted_at__isnull=False)


@transaction.atomic
def record_test(application: Application) -> Delivery:
    """Record a delivery of :data:`TEST_EVENT` to the application's URL, which the workers then send.

    Raise ``DomainError("conflict", …)`` without a URL, or while the test before has not had its first attempt.
    """
    locked = Application.objects.select_for_update(no_key=True).get(pk=application.pk)
    if not locked.webhook_url:
        raise DomainError("conflict", _("The application has no webhook URL yet."))
    tests = Delivery.objects.filter(application=locked, event_type=TEST_EVENT, failures=0)
    if tests.filter(status=DeliveryStatus.WAITING).exists():
        raise DomainError("conflict", _("A test is already on its way."))
    moment = clock.now()
    return Delivery.objects.create(
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
