"""An organization that keeps the processors busy leaves places to the others."""

from collections.abc import Callable
from itertools import count

import httpx
import pytest

from tests.attacks.bystander import SOON, Attack, Bystander, upload
from tests.attacks.conftest import Target
from tests.pdf import hostile

pytestmark = pytest.mark.thorough

SLOW = hostile.nested_forms()
CONNECTIONS = 12


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own, all of whose readers are at hand."""
    return new_target()


def test_slow_files_never_take_all_readers(target: Target) -> None:
    bystander, number = Bystander(target), count()

    def send(connection: httpx.Client) -> httpx.Response:
        return upload(connection, target.key, SLOW + b"\n%% %d" % next(number))

    with Attack(target, send, CONNECTIONS) as attack:
        seen = bystander.watch(5)

    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
        assert max(seconds for _, seconds in calls) < SOON, name
    assert {answer.status_code for answer in attack.answers} <= {503, 422, 429}
