"""A PDF of 3 KB takes all the time that it is granted, on 24 connections at once."""

import re
from collections.abc import Callable
from itertools import count

import httpx
import pytest

from tests.attacks.bystander import SOON, Attack, Bystander, upload
from tests.attacks.conftest import Target
from tests.pdf import hostile

pytestmark = pytest.mark.thorough

SLOW = hostile.nested_forms()
CONNECTIONS = 24


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own: its calls are timed, and its metrics count these files alone."""
    return new_target()


def test_the_files_of_one_organization_stop_nobody_else(target: Target) -> None:
    bystander, number = Bystander(target), count()

    def send(connection: httpx.Client) -> httpx.Response:
        return upload(connection, target.key, SLOW + b"\n%% %d" % next(number))  # no file that was refused before

    with Attack(target, send, CONNECTIONS) as attack:
        seen = bystander.watch(6)

    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
        assert max(seconds for _, seconds in calls) < SOON, name
    busy = [answer for answer in attack.answers if answer.status_code == 503]
    assert len(busy) > CONNECTIONS
    assert {answer.json()["error"]["code"] for answer in busy} == {"unavailable"}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in busy)
    assert {answer.status_code for answer in attack.answers} <= {503, 422, 429}
    told = httpx.get(f"{target.base_url}/metrics", timeout=60).text
    assert re.search(r'paraph_wait_seconds_count{place="(work|reader)",result="busy"} [1-9]', told)
