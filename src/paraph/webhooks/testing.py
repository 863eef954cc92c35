"""A test of an application's webhook: a delivery like any other, of an event that nothing has caused."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.outbound.url import origin_of
from paraph.tenants.models import Application
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination
from paraph.webhooks.payload import TEST_EVENT, payload_of_test


@transaction.atomic
def record_test(application: Application) -> Delivery:
    """Records a delivery of :data:`TEST_EVENT` to the application's URL, which the workers then send.

    Raises ``DomainError("conflict", …)`` without a URL, or while the test before has not had its first attempt.
    """
    locked = Application.objects.select_for_update(no_key=True).get(pk=application.pk)
    if not locked.webhook_url:
        raise DomainError("conflict", _("The application has no webhook URL yet."))
    tests = Delivery.objects.filter(application=locked, event_type=TEST_EVENT, failures=0)
    if tests.filter(status__in=[DeliveryStatus.WAITING, DeliveryStatus.SENDING]).exists():
        raise DomainError("conflict", _("A test is on its way already."))
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
