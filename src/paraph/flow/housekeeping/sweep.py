"""Removing what crashes left in storage, page pictures that can be drawn again, and counts of windows that are over."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice

from paraph.counts import counting
from paraph.documents import objects_to_delete
from paraph.drafts.editing import delete_unused_drafts
from paraph.evidence.named_objects import PREFIXES, named_among
from paraph.evidence.shared_content import forget_unused
from paraph.flow.messages.limits import forget_put_off
from paraph.idempotency import held_key
from paraph.kernel import clock
from paraph.messaging import inbox
from paraph.request_templates.bulk.checking import delete_old_bulk_sends
from paraph.storage import store

ORPHANED_FOR = timedelta(days=30)  # long, so that a database restored from an old backup can still be replaced
PICTURES_FOR = timedelta(days=7)

_AT_ONCE = 500


def sweep() -> int:
    """Remove objects that no row names (after 30 days), page pictures (after 7 days; the signing page draws them
    again), counts, notes of mails put off, idempotency keys, drafts, bulk sends and captured messages, when their
    time is over, and what no seal or timestamp shares any more. Return the number of removed objects and rows.

    Safe to run beside everything else: an object is written before the row that names it, minutes at most.
    """
    removed = counting.forget() + forget_put_off() + held_key.prune()
    removed += delete_unused_drafts() + delete_old_bulk_sends() + inbox.forget() + forget_unused()
    for prefix in PREFIXES:
        removed += _remove(_orphans(prefix))
    return removed + _remove(store.keys_written_before("pages/", clock.now() - PICTURES_FOR))


def _orphans(prefix: str) -> Iterator[str]:
    old = store.keys_written_before(prefix, clock.now() - ORPHANED_FOR)
    while keys := list(islice(old, _AT_ONCE)):
        known = named_among(prefix, keys)
        yield from (key for key in keys if key not in known)


def _remove(keys: Iterator[str]) -> int:
    removed = 0
    while chosen := list(islice(keys, _AT_ONCE)):
        with objects_to_delete.may_delete() as may:
            if not may:
                break
            for key in chosen:
                store.delete(key)
        removed += len(chosen)
    return removed
