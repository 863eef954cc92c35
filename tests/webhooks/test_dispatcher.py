"""Real deliveries to real servers by the worker's dispatcher, including one that is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction

from paraph.outbound.exchange import NetworkAccess
from paraph.webhooks.delivery_queue import LEASE
from paraph.webhooks.dispatcher import Dispatcher, route
from paraph.webhooks.models import Attempt, Delivery
from paraph.webhooks.outbox import release, signature
from tests import receiver as receivers
from tests.cli.service import wait_until
from tests.factories import seal_everything
from tests.receiver import answer, own_authority, receiver
from tests.webhooks.parties import record, told

pytestmark = pytest.mark.django_db(transaction=True)

LOCAL = NetworkAccess(allow_private=True)


@contextmanager
def dispatching(way: NetworkAccess = LOCAL, *, slots: int = 40, seconds: float = 5) -> Iterator[None]:
    dispatcher = Dispatcher(way, slots=slots, seconds=seconds)
    dispatcher.start()
    try:
        yield
    finally:
        dispatcher.stop()


def delivered(number: int) -> Callable[[], bool]:
    return lambda: Delivery.objects.filter(status="delivered").count() == number


def has_failed() -> bool:
    return Delivery.objects.filter(failures=1).exists()


def expired(hooks: receivers.Receiver) -> None:
    """Record one event that is to be delivered to this receiver."""
    made, _ = told(hooks.url())
    record(made.request, "request.expired")


def test_application_and_callback_each_get_their_own(tmp_path: Path) -> None:
    authority = own_authority(tmp_path, "callback.example")

    async def resolve(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    with receiver() as hooks, receiver(tls=authority.server) as callback:
        made, secret = told(hooks.url("hooks.example"), callback_url=callback.url("callback.example", "/done"))
        record(made.request, "request.completed")
        seal_everything(made.request)
        release(made.request.pk)
        with dispatching(NetworkAccess(allow_private=True, resolve=resolve, tls=authority.client)):
            wait_until(delivered(2))
    [first], [second] = hooks.received, callback.received
    for received in (first, second):
        assert received.headers["X-Service-Signature"] == signature(secret, received.body)
        assert received.headers["X-Service-Event"] == "request.completed"
        assert received.headers["Content-Type"] == "application/json"
        assert b"signed_url" in received.body
    ids = {received.headers["X-Service-Delivery"] for received in (first, second)}
    assert ids == {str(pk) for pk in Attempt.objects.values_list("pk", flat=True)}
    assert second.path == "/done"


def test_hanging_endpoints_delay_nobody() -> None:
    """More deliveries to hanging endpoints than there are slots do not hold up those to a healthy endpoint."""
    with receiver(receivers.silent) as dead, receiver() as alive:
        for _ in range(3):
            sick, _ = told(dead.url())
            for _ in range(30):
                record(sick.request, "signer.notified", sick.signers[0])
            Delivery.objects.filter(request=sick.request).update(failures=1)
        well, _ = told(alive.url())
        with dispatching(slots=20, seconds=60):
            wait_until(lambda: len(dead.received) == 10)
            for _ in range(20):
                record(well.request, "signer.notified", well.signers[0])
            wait_until(delivered(20))
            assert len(dead.received) == 10
            dead.released.set()


def test_stopping_waits_for_what_is_under_way() -> None:
    def slow(handler: receivers.Handler) -> None:
        time.sleep(0.5)
        answer()(handler)

    with receiver(slow) as hooks:
        expired(hooks)
        with dispatching():
            wait_until(lambda: bool(hooks.received))
    assert Delivery.objects.get().status == "delivered"


def test_what_cannot_be_packed_fails_alone() -> None:
    with receiver() as hooks:
        made, _ = told(hooks.url())
        record(made.request, "request.completed")
        release(made.request.pk)  # although nothing is sealed
        record(made.request, "signer.notified", made.signers[0])
        with dispatching():
            wait_until(delivered(1))
            wait_until(has_failed)
    assert Attempt.objects.get(delivery__failures=1).error == "not sent: ProofFile.DoesNotExist"


def test_the_route_is_that_of_the_settings_and_private_addresses_are_refused_by_default(settings: Any) -> None:
    with receiver() as hooks:
        expired(hooks)
        with dispatching(NetworkAccess()):
            wait_until(has_failed)
    assert "has an address that is not public" in Attempt.objects.get().error and hooks.received == []
    proxied = {"allow_private_addresses": False, "outbound_proxy": "http://proxy.example:3128"}
    settings.PARAPH = settings.PARAPH.model_copy(update=proxied)
    assert route() == NetworkAccess(allow_private=False, proxy="http://proxy.example:3128")


def test_an_outcome_survives_the_database_session_that_was_to_store_it() -> None:
    locked = threading.Event()

    def answer_once_locked(handler: receivers.Handler) -> None:
        locked.wait(5)
        answer()(handler)

    def kill_the_waiting_session() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            return bool(cursor.fetchone()[0])

    with receiver(answer_once_locked) as hooks:
        expired(hooks)
        with dispatching():
            wait_until(lambda: bool(hooks.received))
            with transaction.atomic():
                Delivery.objects.select_for_update().get()
                locked.set()
                wait_until(kill_the_waiting_session)
            wait_until(delivered(1))
    assert len(hooks.received) == 1


@pytest.mark.thorough
def test_an_answer_takes_five_seconds_at_most() -> None:
    with receiver(receivers.silent) as hooks:
        expired(hooks)
        with dispatching():
            wait_until(has_failed)
    attempt = Attempt.objects.get()
    assert attempt.error == "no complete answer within 5 seconds"
    assert attempt.duration_ms is not None and 5000 <= attempt.duration_ms < 6000


_PROCESS = """
import django; django.setup()
from paraph.outbound.exchange import NetworkAccess
from paraph.webhooks.dispatcher import Dispatcher
Dispatcher(NetworkAccess(allow_private=True)).start()
import time; time.sleep(60)
"""


def test_killed_while_sending_then_sent_by_another_under_the_same_id() -> None:
    with receiver(receivers.silent) as hooks:
        expired(hooks)
        settings = connection.get_connection_params()
        url = f"postgresql://{settings['user']}@/{settings['dbname']}?host={settings['host']}"
        process = subprocess.Popen(
            [sys.executable, "-c", _PROCESS],
            env={**os.environ, "DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "paraph.config.settings"},
        )
        wait_until(lambda: len(hooks.received) == 1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        hooks.behave = answer()
        delivery = Delivery.objects.get()
        assert delivery.claimed_at
        Delivery.objects.update(claimed_at=delivery.claimed_at - LEASE - timedelta(seconds=1))  # the lease passes
        with dispatching():
            wait_until(delivered(1))
    ids = [received.headers["X-Service-Delivery"] for received in hooks.received]
    assert ids == [str(Attempt.objects.get().pk)] * 2
