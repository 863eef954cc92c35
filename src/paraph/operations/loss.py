"""What was acknowledged, and the database does not have: after a standby that was behind took over, or the database
went back to an earlier moment."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from paraph.audit_trail.models import Entry
from paraph.audit_trail.witness import NotedEntry, NotedWebhook, noted_since
from paraph.documents import objects_to_delete
from paraph.evidence.models import Timeline
from paraph.evidence.named_objects import PREFIXES, named_among
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store

_BEFORE = timedelta(days=1)  # so far a standby may have been behind
_CLOCKS = timedelta(minutes=1)  # by which those of several machines may differ
_AT_ONCE = 500


@dataclass
class Loss:
    """``entries``: of journals, noted by this machine when they were committed. ``webhooks``: sent from this machine,
    of requests that do not exist. ``objects``: keys that no row names; some are of uploads that were never
    acknowledged. ``complete``: there was time to look at all."""

    timeline: int
    began_at: datetime
    entries: list[NotedEntry] = field(default_factory=list)
    webhooks: list[NotedWebhook] = field(default_factory=list)
    objects: list[str] = field(default_factory=list)
    complete: bool = True

    @property
    def requests(self) -> list[int]:
        """Requests that lost an entry of their journal, or all of it."""
        return sorted({entry.request_id for entry in self.entries})

    @property
    def anything(self) -> bool:
        return bool(self.entries or self.webhooks or self.objects)


def loss(timeline: Timeline, seconds: float = float("inf")) -> Loss:
    """Return what the day before the timeline noted and stored without a row; look for objects so many seconds."""
    until = time.monotonic() + seconds
    found = Loss(timeline.number, timeline.began_at)
    since = timeline.began_at - _BEFORE
    noted = (each for each in noted_since(since) if each.noted_at <= timeline.began_at + _CLOCKS)
    for some in _some(noted):
        found.entries += _lost_entries([each for each in some if isinstance(each, NotedEntry)])
        found.webhooks += _of_no_request([each for each in some if isinstance(each, NotedWebhook)])
    for prefix in PREFIXES:
        keys = store.keys_written_before(prefix, timeline.began_at, since)
        for chosen in _some(keys):
            known = named_among(prefix, chosen) | objects_to_delete.noted_among(chosen)
            found.objects += [key for key in chosen if key not in known]
            if time.monotonic() > until:
                found.complete = False
                return found
    return found


def _lost_entries(noted: list[NotedEntry]) -> list[NotedEntry]:
    rows = Entry.objects.filter(request__in={each.request_id for each in noted})
    known = {
        (request_id, position, bytes(digest).hex())
        for request_id, position, digest in rows.values_list("request_id", "position", "hash")
    }
    return [each for each in noted if (each.request_id, each.position, each.hash) not in known]


def _of_no_request(noted: list[NotedWebhook]) -> list[NotedWebhook]:
    known = set(
        SignatureRequest.objects.filter(pk__in={each.request_id for each in noted}).values_list("pk", flat=True)
    )
    return [each for each in noted if each.request_id not in known]


def _some(all_of_them: Iterable[Any]) -> Iterator[list[Any]]:
    them = iter(all_of_them)
    while some := list(islice(them, _AT_ONCE)):
        yield some
