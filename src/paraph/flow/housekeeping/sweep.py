"""Removing what crashes left in storage, page pictures that can be drawn again, and counts of windows that are over."""

import time
from datetime import timedelta
from itertools import islice, pairwise

from paraph.counts import counting
from paraph.documents import objects_to_delete
from paraph.drafts.editing import delete_unused_drafts
from paraph.evidence.named_objects import PREFIXES, named_among
from paraph.evidence.preservation import forget_unused
from paraph.flow.due import RUN_SECONDS
from paraph.flow.messages.limits import forget_put_off
from paraph.idempotency import held_key
from paraph.kernel import clock
from paraph.messaging import inbox
from paraph.messaging.models import RefusedAddress
from paraph.otp import codes
from paraph.queue.jobs import defer_last, is_live
from paraph.request_templates.bulk_rows import delete_old_bulk_sends
from paraph.storage import store

ORPHANED_FOR = timedelta(days=30)  # long, so that a database restored from an old backup can still be replaced
PICTURES_FOR = timedelta(days=7)

_PICTURES = "pages/"
_FOLDERS = (*PREFIXES, _PICTURES)
_AFTER = dict(pairwise(_FOLDERS))
_AT_ONCE = 500


def sweep() -> int:
    """Remove counts, notes of mails put off, idempotency keys, drafts, bulk sends, captured messages, refusals of
    mails about accounts and used one-time codes, when their time is over, and what no seal or timestamp shares any
    more, and have jobs sweep the store, unless those of the night before are still at it. Return the number of removed
    rows."""
    removed = counting.forget() + forget_put_off() + held_key.prune()
    removed += delete_unused_drafts() + delete_old_bulk_sends() + inbox.forget() + forget_unused()
    removed += codes.forget_used() + RefusedAddress.objects.filter(at__lt=clock.now() - inbox.KEPT_FOR).delete()[0]
    if not is_live("sweep_store"):
        defer_last("sweep_store", folder=_FOLDERS[0], after="")
    return removed


def sweep_store(folder: str, after: str) -> int:
    """Remove objects of the folder that no row names (after 30 days) or, of page pictures, all (after 7 days; the
    signing page draws them again), from the first key beyond ``after``. Return how many.

    After 5 s another job goes on where this one was, or with the next folder. Safe to be killed, and to run beside
    everything else: an object is written before the row that names it, minutes at most.
    """
    end, removed = time.monotonic() + RUN_SECONDS, 0
    before = clock.now() - (PICTURES_FOR if folder == _PICTURES else ORPHANED_FOR)
    listing = store.listing(folder, after)
    while looked_at := list(islice(listing, _AT_ONCE)):
        after = looked_at[-1][0]
        old = {key for key, _, written in looked_at if written < before}
        removed += _remove(old if folder == _PICTURES else old - named_among(folder, old))
        if time.monotonic() > end:
            break
    else:
        folder, after = _AFTER.get(folder, ""), ""
    if folder:
        defer_last("sweep_store", folder=folder, after=after)
    return removed


def _remove(keys: set[str]) -> int:
    with objects_to_delete.may_delete() as may:
        gone = keys if may else set()
        store.delete(*gone)
    return len(gone)
