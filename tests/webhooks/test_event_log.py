"""A reader that goes on from where it left off misses no event and sees none twice, whoever commits meanwhile."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from paraph.audit_trail.models import Entry
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.scope import TenantScope
from paraph.webhooks.event_log import BEGINNING, Cursor, EventPage, page_after
from paraph.webhooks.models import Event
from tests.factories import Scene, scene
from tests.webhooks.parties import record

pytestmark = pytest.mark.django_db(transaction=True)

WRITERS = 16


def read(scope: TenantScope, after: Cursor, limit: int = 100) -> EventPage:
    return page_after(scope, after, limit)


def scenes(count: int) -> list[Scene]:
    """Requests of one organization."""
    made = [scene() for _ in range(count)]
    SignatureRequest.objects.update(organization=made[0].request.organization)
    for each in made:
        each.request.refresh_from_db()
    return made


def test_whoever_began_first_and_commits_last_is_not_missed() -> None:
    first, second = scenes(2)
    scope, recorded, go_on = first.scope(), threading.Event(), threading.Event()

    def slowly() -> None:
        with transaction.atomic():
            record(first.request, "signer.notified", first.signers[0])
            recorded.set()
            assert go_on.wait(30)
        connection.close()

    with ThreadPoolExecutor(1) as other:
        slow = other.submit(slowly)
        assert recorded.wait(30)
        record(second.request, "signer.signed", second.signers[0])  # does not wait for the first, and precedes it
        seen = read(scope, BEGINNING)
        go_on.set()
        slow.result()
    assert [each.event_type for each in seen.events] == ["signer.signed"]
    assert [each.event_type for each in read(scope, seen.following).events] == ["signer.notified"]
    assert list(Event.objects.order_by("entry_id").values_list("position", flat=True)) == [2, 1]


@pytest.mark.parametrize("count", [320, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_sixteen_writers_and_a_reader(count: int) -> None:
    """Each transaction records one to four events, may pause, and is rolled back one time in ten."""
    made = scenes(WRITERS)
    scope, left, lock = made[0].scope(), [count], threading.Lock()

    def some() -> int:
        with lock:
            taken = min(left[0], random.randint(1, 4))
            left[0] -= taken
            return taken

    def write(mine: Scene) -> None:
        while number := some():
            for rolled_back in (random.random() < 0.1, False):
                with transaction.atomic():
                    for _ in range(number):
                        record(mine.request, "signer.notified", mine.signers[0])
                        if random.random() < 0.2:
                            threading.Event().wait(random.random() / 100)
                    transaction.set_rollback(rolled_back)
                if not rolled_back:
                    break
        connection.close()

    seen, at = list[int](), BEGINNING
    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, each) for each in made]
        done, page = False, None
        while not done or page is None or page.events:
            done = all(each.done() for each in writers)  # asked before reading: nothing can follow then
            page = read(scope, at, random.choice((1, 7, 100)))
            seen, at = seen + [each.id for each in page.events], page.following
        for each in writers:
            each.result()
    assert len(seen) == len(set(seen)) == count
    assert set(seen) == set(Entry.objects.filter(event_type="signer.notified").values_list("pk", flat=True))
    places = list(Event.objects.order_by("position").values_list("position", "entry_id", "published_at"))
    assert [place for place, _, _ in places] == list(range(1, count + 1))
    assert [entry_id for _, entry_id, _ in places] == seen
    moments = [moment for _, _, moment in places if moment]
    assert moments == sorted(moments) and len(moments) == count


def test_a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() -> None:
    assert Cursor.read(str(BEGINNING)) == BEGINNING and len(str(BEGINNING)) == 22
    for text in ("", "1", "latest", "A" * 21, "A" * 23, "_" * 22, "AAAAAAAAAAAAAAAAAAAAAB"):
        assert Cursor.read(text) is None
