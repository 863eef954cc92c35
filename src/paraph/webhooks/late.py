"""Whether deliveries leave in time."""

from django.db.models import Min

from paraph.kernel import clock
from paraph.webhooks.models import Delivery, DeliveryStatus


def oldest_due_seconds() -> float:
    """Return for how long the oldest due delivery has been due, 0 when none is. A delivery that waits for its retry is
    not due."""
    due = Delivery.objects.filter(status=DeliveryStatus.WAITING, due_at__lte=clock.now())
    oldest = due.aggregate(oldest=Min("due_at"))["oldest"]
    return (clock.now() - oldest).total_seconds() if oldest else 0.0
