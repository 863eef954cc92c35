"""The sender of a worker process: one thread, an event loop of its own, many exchanges at once."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import structlog
from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connections

from paraph.kernel import clock
from paraph.outbound.post import NetworkAccess, PostResult, post
from paraph.webhooks.claim import Claimed, claim, reclaim
from paraph.webhooks.prepared_delivery import Parcel, pack
from paraph.webhooks.record_outcomes import settle

SLOTS = 400  # sockets, not threads; half of them are closed to endpoints in trouble
_LOOK_EVERY = 0.2
_GATHER = 0.1  # endings written down together cost the database less
_RECLAIM_EVERY = 5.0
_PAUSE_AFTER_FAULT = 1.0

_log = structlog.get_logger(__name__)


def route() -> NetworkAccess:
    """How this service reaches the network for its clients' addresses."""
    return NetworkAccess(allow_private=settings.PARAPH.private_addresses_allowed, proxy=settings.PARAPH.outbound_proxy)


class Pump:
    """Sends what is due until it is stopped.

    The loop alternates between one visit to the database, which writes down what has ended and claims what is
    due, and waiting; the exchanges run beside it. Whatever happens to the process, a claimed delivery is sent
    again when its lease is over.
    """

    def __init__(self, way: NetworkAccess | None = None, *, slots: int = SLOTS, seconds: float = 5) -> None:
        self._route = way or route()
        self._slots = slots
        self._seconds = seconds
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="webhooks", daemon=True)
        self._under_way: dict[asyncio.Task[None], Parcel] = {}
        self._ended: list[tuple[UUID, PostResult]] = []
        self._reclaimed_at = 0.0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Claims nothing any more, waits for the exchanges under way (5 s at most) and writes them down."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                asyncio.run(self._pump())
            except Exception:  # noqa: BLE001  a process without its pump would look healthy; leases lose nothing
                _log.exception("webhooks: the pump broke and starts again")
                self._under_way.clear()
                time.sleep(_PAUSE_AFTER_FAULT)

    async def _pump(self) -> None:
        self._something_ended = asyncio.Event()
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="webhooks-database") as database:
            loop = asyncio.get_running_loop()
            while not self._stopping.is_set() or self._under_way or self._ended:
                ended, self._ended = self._ended, []
                try:
                    parcels = await loop.run_in_executor(database, self._visit, ended)
                except (OperationalError, InterfaceError) as fault:  # it restarts: the outcomes wait for it
                    _log.warning("webhooks: the database does not answer", cause=str(fault).strip())
                    self._ended = [] if self._stopping.is_set() else ended + self._ended
                    await asyncio.sleep(_PAUSE_AFTER_FAULT)
                    continue
                for parcel in parcels:
                    self._send_beside(parcel)
                await self._wait(_GATHER if parcels else _LOOK_EVERY)
            await loop.run_in_executor(database, connections.close_all)

    def _visit(self, ended: list[tuple[UUID, PostResult]]) -> list[Parcel]:
        """In the database's thread."""
        close_old_connections()
        now = clock.now()
        if ended:
            settle(ended, now)
        if self._stopping.is_set():
            return []
        if time.monotonic() - self._reclaimed_at > _RECLAIM_EVERY:
            self._reclaimed_at = time.monotonic()
            reclaim(now)
        in_trouble = sum(parcel.trouble for parcel in self._under_way.values())
        return _pack_all(claim(self._slots - len(self._under_way), self._slots // 2 - in_trouble, now))

    def _send_beside(self, parcel: Parcel) -> None:
        task = asyncio.create_task(self._send(parcel))
        self._under_way[task] = parcel
        task.add_done_callback(self._under_way.pop)

    async def _send(self, parcel: Parcel) -> None:
        try:
            answer = await post(
                parcel.url, parcel.body, parcel.headers, self._route, schemes=parcel.schemes, seconds=self._seconds
            )
        except Exception as fault:  # noqa: BLE001  what nobody foresaw is a failed attempt, not a lost slot
            _log.exception("webhooks: an exchange broke", delivery=parcel.delivery_id)
            answer = PostResult(None, b"", f"not sent: {type(fault).__qualname__}", 0)
        self._ended.append((parcel.attempt_id, answer))
        self._something_ended.set()

    async def _wait(self, seconds: float) -> None:
        """Until something ended and others had a moment to end too, or for ``seconds``."""
        self._something_ended.clear()
        if not self._ended:
            try:
                await asyncio.wait_for(self._something_ended.wait(), seconds)
            except TimeoutError:
                return
        await asyncio.sleep(_GATHER)


def _pack_all(everything: list[Claimed]) -> list[Parcel]:
    parcels, broken = [], []
    for claimed in everything:
        try:
            parcels.append(pack(claimed))
        except Exception as fault:  # noqa: BLE001  one that cannot be packed fails by itself, with its cause
            _log.exception("webhooks: a delivery could not be packed", delivery=claimed.delivery_id)
            broken.append((claimed.attempt_id, PostResult(None, b"", f"not sent: {type(fault).__qualname__}", 0)))
    if broken:
        settle(broken, clock.now())
    return parcels
