"""Forgetting bulk sends."""

from datetime import timedelta

from django.conf import settings

from paraph.request_templates.models import BulkRow, BulkSend, BulkStatus
from paraph.tenants.limits import oldest_beyond
from paraph.tenants.retention import over
from paraph.tenants.scope import TenantScope, scoped

KEPT_FOR = timedelta(days=90)


def delete_old_bulk_sends() -> int:
    """Delete those that were uploaded 90 days ago, or as long as files are kept where that is shorter, and are not
    under way, with the rows that were not sent; return how many. Requests stay."""
    count = 0
    for old in over(BulkSend.objects.exclude(status=BulkStatus.SENDING), "created_at", KEPT_FOR):
        count += old.count()
        old.delete()
    return count


def make_room(scope: TenantScope, new: int) -> None:
    """On the plan Free, make room for so many new rows by deleting the oldest bulk sends that are not under way, as far
    as the operator's setting asks for it. Requests stay."""
    mine = scoped(BulkSend, scope)
    rows = BulkRow.objects.filter(bulk_send__in=mine).order_by("bulk_send_id", "number")
    beyond = oldest_beyond(scope, rows, settings.PARAPH.kept_bulk_rows, new)
    old = set(BulkRow.objects.filter(pk__in=beyond).values_list("bulk_send_id", flat=True))
    mine.filter(pk__in=old).exclude(status=BulkStatus.SENDING).delete()
