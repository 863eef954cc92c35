"""Files that should be gone by now."""

from collections.abc import Iterator
from datetime import timedelta

from paraph.documents import objects_to_delete
from paraph.flow.ending.delete_files import overdue
from paraph.kernel import clock
from paraph.operations.check.outcome import Outcome, ok, warning
from paraph.tenants.models import Retention

_OBJECTS_LATE = timedelta(hours=1)
_REQUESTS_LATE = timedelta(days=1)


def retention() -> Iterator[Outcome]:
    """``retention``: whether files whose time is over wait for their deletion for long."""
    since = objects_to_delete.waiting_since()
    late = [rule for rule in Retention.objects.all() if overdue(rule, _REQUESTS_LATE).exists()]
    if since and clock.now() - since > _OBJECTS_LATE:
        sentence = f"Files wait to be deleted from the store since {clock.iso(since)}: the log of the workers says why."
        yield warning("retention", sentence)
    elif late:
        where = f"organization {late[0].organization_id}, {late[0].environment}"
        sentence = (
            f"Files are kept for a day or more beyond their retention ({where}): the log of the workers says why."
        )
        yield warning("retention", sentence)
    else:
        yield ok("retention", "No file is kept beyond its retention.")
