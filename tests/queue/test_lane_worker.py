"""A lane that is asked to stop, at any moment."""

import asyncio
import time

import pytest

from paraph.queue.lane_worker import LaneWorker
from paraph.queue.lanes import MAIL

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 3, 5, 8, 13, 21, 34, 55])
def test_a_lane_stops_at_whatever_moment_of_its_start(milliseconds: int) -> None:
    """While it connects or registers, a cancellation could get lost."""

    async def start_and_stop() -> float:
        lane = LaneWorker(MAIL, 1)
        running = asyncio.create_task(lane.run())
        await asyncio.sleep(milliseconds / 1000)
        lane.stop()
        began = time.monotonic()
        await asyncio.wait_for(running, 30)
        return time.monotonic() - began

    assert asyncio.run(start_and_stop()) < 10
