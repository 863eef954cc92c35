"""The worker of a queue that is asked to stop, at any moment."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest
from asgiref.sync import sync_to_async
from django.db import connection, connections
from procrastinate.contrib.django import app
from procrastinate.contrib.django.models import ProcrastinateJob

from paraph.flow.jobs import give_up
from paraph.queue.jobs import MAIL, defer
from paraph.queue.queue_worker import LONGEST_SECONDS, STILL_SECONDS, QueueWorker
from paraph.queue.stalled_jobs import rescue_jobs

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("milliseconds", [0, 1, 3, 8, 21, 55])
def test_it_stops_at_whatever_moment_of_its_start(milliseconds: int) -> None:
    """While it connects or registers, a cancellation could get lost."""

    async def start_and_stop() -> float:
        worker = QueueWorker(MAIL, 1)
        running = asyncio.create_task(worker.run())
        await asyncio.sleep(milliseconds / 1000)
        worker.stop()
        began = time.monotonic()
        await asyncio.wait_for(running, 30)
        seconds = time.monotonic() - began
        await sync_to_async(connections.close_all)()  # the connection of periodic jobs
        return seconds

    assert asyncio.run(start_and_stop()) < 10


def invitations_take_long(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Have invitations take long. Return two events: one has begun; it may go on."""
    begun, go_on = threading.Event(), threading.Event()

    def take_long(**_: int) -> None:
        begun.set()
        connection.close()
        assert go_on.wait(60)

    monkeypatch.setattr(app.tasks["paraph.flow.jobs.invite"], "func", take_long)
    return begun, go_on


def test_jobs_at_hand_can_be_given_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that ends hands its jobs back: another worker takes them at once, and suspects none of them."""
    begun, go_on = invitations_take_long(monkeypatch)
    defer("invite", signer_id=0)

    async def begin_and_leave() -> None:
        worker = QueueWorker(MAIL, 1)
        running = asyncio.create_task(worker.run())
        await asyncio.to_thread(begun.wait, 60)
        await worker.hand_back()
        try:
            await asyncio.to_thread(rescue_and_look)
        finally:
            go_on.set()
            worker.stop()
            await asyncio.wait_for(running, 60)
            await sync_to_async(connections.close_all)()

    asyncio.run(begin_and_leave())


def rescue_and_look() -> None:
    try:
        assert rescue_jobs(give_up) == 1
        [job] = ProcrastinateJob.objects.filter(task_name="paraph.flow.jobs.invite")
        assert (job.status, job.priority) == ("todo", 0)
    finally:
        connection.close()


def test_it_says_by_when_it_has_to_turn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker with a place looks for jobs every few seconds; without one, it waits for its jobs, but not for ever."""
    begun, go_on = invitations_take_long(monkeypatch)

    async def work() -> None:
        workers = one, two = QueueWorker(MAIL, 1), QueueWorker(MAIL, 2)
        for worker in workers:
            worker._turned_at = 0.0  # as if the worker had never looked
        running = [asyncio.create_task(worker.run()) for worker in workers]
        await until(lambda: all(worker._turned_at for worker in workers))
        now = time.monotonic()
        assert all(now < worker.due <= now + STILL_SECONDS for worker in workers)
        await sync_to_async(defer)("invite", signer_id=0)
        await asyncio.to_thread(begun.wait, 60)
        busy = next(worker for worker in workers if worker._begun)
        [job] = busy._begun
        busy._turned_at = 0.0  # it looks for no further job where it has no place, and goes on looking where it has
        if busy is one:
            assert busy.due == job + LONGEST_SECONDS
        else:
            await until(lambda: two.due > time.monotonic())
        busy._begun[0] = job - LONGEST_SECONDS
        assert busy.due < time.monotonic()
        busy._begun[0] = job
        go_on.set()
        await until(lambda: not busy._begun and busy.due > time.monotonic())
        for worker in workers:
            worker.stop()
        await asyncio.gather(*running)
        await sync_to_async(connections.close_all)()

    asyncio.run(work())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.01)
