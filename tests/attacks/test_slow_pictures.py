"""One signer asks for one picture that takes long, on 20 connections at once."""

import httpx
import pytest

from tests.attacks.bystander import SOON, Attack, Bystander, readers, request
from tests.attacks.conftest import Target
from tests.pdf import hostile

pytestmark = pytest.mark.thorough

CONNECTIONS = 20


def test_one_slow_picture_stops_nobody_and_is_drawn_once(target: Target) -> None:
    bystander = Bystander(target)
    sound = hostile.nested_forms(2, page=2)
    made = request(target.backend(), sound)
    for file in (target.data_dir / "objects").rglob("*"):  # as an upload that was checked less
        if file.is_file() and file.read_bytes() == sound:
            file.write_bytes(hostile.nested_forms(page=2))
    picture = f"{made['signers'][0]['signing_url']}/documents/{made['document']}/pages/2.webp"

    def look(connection: httpx.Client) -> httpx.Response:
        return connection.get(picture)

    with Attack(target, look, CONNECTIONS) as attack:
        seen = bystander.watch(5)
        busy = readers(target)

    for name, calls in seen.items():
        assert {status for status, _ in calls} <= {200, 201}, name
        assert max(seconds for _, seconds in calls) < SOON, name
    # One for the picture and, once that one comes last, an ordinary one in its stead; one for the other organization;
    # and the worker's own for its seals.
    assert len(busy) <= 4
    told = {answer.status_code for answer in attack.answers}
    assert told == {503, 422}
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in attack.answers if answer.status_code == 503)
    again = httpx.get(picture, timeout=60)
    assert (again.status_code, again.json()["error"]["page_number"]) == (422, 2)
    assert again.elapsed.total_seconds() < 2
