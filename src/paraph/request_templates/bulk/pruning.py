"""Forgetting bulk sends."""

from datetime import timedelta

from paraph.kernel import clock
from paraph.request_templates.models import BulkSend, BulkStatus

KEPT_FOR = timedelta(days=90)


def delete_old_bulk_sends() -> int:
    """Deletes those that were uploaded 90 days ago and are not under way, with the rows that were not sent; returns how
    many. Requests stay."""
    old = BulkSend.objects.filter(created_at__lt=clock.now() - KEPT_FOR).exclude(status=BulkStatus.SENDING)
    count = old.count()
    old.delete()
    return count
