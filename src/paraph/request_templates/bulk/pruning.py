"""Forgetting bulk sends."""

from datetime import timedelta

from paraph.request_templates.models import BulkSend, BulkStatus
from paraph.tenants.retention import over

KEPT_FOR = timedelta(days=90)


def delete_old_bulk_sends() -> int:
    """Delete those that were uploaded 90 days ago, or as long as files are kept where that is shorter, and are not
    under way, with the rows that were not sent; return how many. Requests stay."""
    count = 0
    for old in over(BulkSend.objects.exclude(status=BulkStatus.SENDING), "created_at", KEPT_FOR):
        count += old.count()
        old.delete()
    return count
