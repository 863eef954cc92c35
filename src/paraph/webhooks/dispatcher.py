"""Sending deliveries in a worker process: one thread with an event loop of its own, many exchanges at once."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connections

from paraph.kernel import clock
from paraph.outbound.exchange import KeptConnections, NetworkAccess, PostResult, post
from paraph.tenants.applications import webhook_secrets
from paraph.webhooks.delivery_queue import AT_ONCE, ClaimedDelivery, claim, record_outcomes
from paraph.webhooks.models import Destination
from paraph.webhooks.outbox import sign

SLOTS = 400  # sockets, not threads; half of them are closed to endpoints in trouble
_LOOK_EVERY = 0.4  # each worker; a delivery mostly waits for half of that
_GATHER = 0.2  # outcomes recorded together cost the database less
_GATHER_WITH_MORE_DUE = 0.1  # an endpoint gets no further deliveries meanwhile
_PAUSE_AFTER_FAULT = 1.0

_log = structlog.get_logger(__name__)


def route() -> NetworkAccess:
    """Return the route of the settings to the addresses of clients."""
    return NetworkAccess(allow_private=settings.PARAPH.private_addresses_allowed, proxy=settings.PARAPH.outbound_proxy)


class PreparedDelivery(NamedTuple):
    """A claimed delivery, with what is sent."""

    claimed: ClaimedDelivery
    headers: dict[str, str]
    body: bytes

    @property
    def schemes(self) -> tuple[str, ...]:
        return ("https",) if self.claimed.destination == Destination.CALLBACK else ("https", "http")


class Dispatcher:
    """A thread that sends due deliveries until it is stopped.

    The loop alternates between a visit to the database, which records outcomes and claims due deliveries, and waiting;
    the exchanges run beside it. If the process dies, its deliveries are sent again when their lease is over.
    """

    def __init__(self, way: NetworkAccess | None = None, *, slots: int = SLOTS, seconds: float = 5) -> None:
        self._route = way or route()
        self._slots = slots
        self._seconds = seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self.turned_at = time.monotonic()
        """When the dispatcher last visited the database, or found it away."""
        self._under_way: dict[asyncio.Task[None], ClaimedDelivery] = {}
        self._ended: list[tuple[UUID, PostResult]] = []

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Claim nothing more, and end once the exchanges under way (5 s at most) are over and recorded."""
        self._stopping.set()

    def stop(self) -> None:
        """Finish, and wait for the end."""
        self.finish()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                asyncio.run(self._dispatch())
            except Exception:  # noqa: BLE001  a process without its dispatcher would look healthy; leases lose nothing
                _log.exception("webhooks: the dispatcher broke and starts again")
                self._under_way.clear()
                time.sleep(_PAUSE_AFTER_FAULT)

    async def _dispatch(self) -> None:
        self._something_ended, kept = asyncio.Event(), KeptConnections()
        self._route = replace(self._route, kept=kept)
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhooks-database") as database:
            loop = asyncio.get_running_loop()
            while not self._stopping.is_set() or self._under_way or self._ended:
                ended, self._ended = self._ended, []
                self.turned_at = time.monotonic()
                try:
                    prepared = await loop.run_in_executor(database, self._visit, ended)
                except (OperationalError, InterfaceError) as fault:  # the outcomes wait until it is back
                    _log.warning("webhooks: the database does not answer", cause=str(fault).strip())
                    self._ended = [] if self._stopping.is_set() else ended + self._ended
                    await asyncio.sleep(_PAUSE_AFTER_FAULT)
                    continue
                await kept.close_expired()
                for delivery in prepared:
                    task = asyncio.create_task(self._send(delivery))
                    self._under_way[task] = delivery.claimed
                    task.add_done_callback(self._under_way.pop)
                gather = _GATHER_WITH_MORE_DUE if len(prepared) >= AT_ONCE else _GATHER
                await self._wait(gather if prepared else _LOOK_EVERY, gather)
            await kept.close_expired(all_of_them=True)
            await loop.run_in_executor(database, connections.close_all)

    def _visit(self, ended: list[tuple[UUID, PostResult]]) -> list[PreparedDelivery]:
        """Record outcomes and claim deliveries. Run it in the thread of the database."""
        close_old_connections()
        now = clock.now()
        if ended:
            record_outcomes(ended, now)
        if self._stopping.is_set():
            return []
        in_trouble = sum(delivery.trouble for delivery in self._under_way.values())
        return _prepare_all(claim(self._slots - len(self._under_way), self._slots // 2 - in_trouble, now))

    async def _send(self, delivery: PreparedDelivery) -> None:
        claimed = delivery.claimed
        try:
            answer = await post(
                claimed.url,
                delivery.body,
                delivery.headers,
                self._route,
                schemes=delivery.schemes,
                seconds=self._seconds,
            )
        except Exception as fault:  # noqa: BLE001  an unforeseen fault is a failed attempt, not a lost slot
            _log.exception("webhooks: an exchange broke", delivery=claimed.delivery_id)
            answer = _not_sent(fault)
        self._ended.append((claimed.attempt_id, answer))
        self._something_ended.set()

    async def _wait(self, seconds: float, gather: float) -> None:
        """Wait for at most ``seconds`` until an exchange has ended, and then a moment, ``gather``, for others."""
        self._something_ended.clear()
        if not self._ended:
            try:
                await asyncio.wait_for(self._something_ended.wait(), seconds)
            except TimeoutError:
                return
        await asyncio.sleep(gather)


def _prepare_all(claimed_deliveries: list[ClaimedDelivery]) -> list[PreparedDelivery]:
    prepared, broken = [], []
    for claimed in claimed_deliveries:
        try:
            prepared.append(prepare_delivery(claimed))
        except Exception as fault:  # noqa: BLE001  one that cannot be prepared fails alone, with its cause
            _log.exception("webhooks: a delivery could not be prepared", delivery=claimed.delivery_id)
            broken.append((claimed.attempt_id, _not_sent(fault)))
    if broken:
        record_outcomes(broken, clock.now())
    return prepared


def prepare_delivery(claimed: ClaimedDelivery) -> PreparedDelivery:
    """Add headers and body. Callbacks, too, are signed with the application's secret. While it is being rotated, a
    second header has the signature with the next secret."""
    secrets = webhook_secrets(claimed.secret, claimed.next_secret, claimed.next_secret_at)
    return PreparedDelivery(claimed, *sign(claimed, str(claimed.attempt_id), secrets))


def _not_sent(fault: Exception) -> PostResult:
    return PostResult(None, b"", f"not sent: {type(fault).__qualname__}", 0)
