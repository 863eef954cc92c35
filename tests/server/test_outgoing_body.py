"""Small files are sent in one piece, and large ones from a place that they have to wait for."""

import gc
import io
import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import RequestFactory

from paraph.kernel import places
from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError
from paraph.server.bodies import IncomingBody
from paraph.server.middleware import AT_ONCE, OutgoingBodies

pytestmark = pytest.mark.django_db  # closing an answer checks the connection to the database


class File(io.BytesIO):
    """``closes``: how often the file was closed."""

    closes = 0

    def close(self) -> None:
        self.closes += not self.closed
        super().close()


@pytest.fixture(autouse=True)
def afterwards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.01)
    yield
    places.configure(None)


@pytest.fixture
def only() -> "Only":
    """The only place for sending files in a process of four threads, for which nobody waits long."""
    places.configure(4)
    return Only()


class Only:
    def __init__(self) -> None:
        self._held = ExitStack()

    def take(self) -> bool:
        """Take the place until the end of the test. Return whether it was free."""
        try:
            self._held.enter_context(places.sending_file("another"))
        except NoPlaceError:
            return False
        return True


def sent(file: File, method: str = "GET") -> Any:
    def answer(_request: HttpRequest) -> HttpResponseBase:
        response = FileResponse(file)
        response.headers["Content-Length"] = str(len(file.getvalue()))
        return response

    return OutgoingBodies(answer)(RequestFactory().generic(method, "/files/key"))


def test_a_small_file_leaves_in_one_piece_and_needs_no_place(only: Only) -> None:
    assert only.take()
    file = File(bytes(AT_ONCE))
    response = sent(file)
    assert response.status_code == 200 and [len(piece) for piece in response] == [AT_ONCE]
    response.close()
    assert file.closes == 1


def test_what_is_no_file_or_sends_none_needs_no_place(only: Only) -> None:
    assert only.take()
    assert sent(File(bytes(AT_ONCE + 1)), "HEAD").status_code == 200
    plain = HttpResponse(b"x" * (AT_ONCE + 1))
    assert OutgoingBodies(lambda _: plain)(RequestFactory().get("/")) is plain


def test_a_large_file_has_its_place_until_it_is_closed(only: Only) -> None:
    first, second = File(bytes(AT_ONCE + 1)), File(bytes(AT_ONCE + 1))
    response = sent(first)
    refused = sent(second)
    assert (response.status_code, refused.status_code) == (200, 503)
    assert int(refused.headers["Retry-After"]) > 0
    assert second.closes == 1, "a refused file is not left open"
    assert b"".join(response) == bytes(AT_ONCE + 1)
    response.close()
    response.close()
    assert first.closes == 1
    assert only.take() and not only.take(), "it was given back once"


def test_a_file_that_is_never_sent_gives_the_place_back_closed_or_not(only: Only) -> None:
    sent(File(bytes(AT_ONCE + 1))).close()
    response = sent(File(bytes(AT_ONCE + 1)))
    assert response.status_code == 200 and not only.take()
    del response
    gc.collect()
    assert only.take()


def test_one_party_never_has_all_places() -> None:
    places.configure(16)
    slow = [sent(File(bytes(AT_ONCE + 1))) for _ in range(3)]
    assert [each.status_code for each in slow] == [200, 200, 503], "all from one address"
    with places.on_behalf_of_nobody():
        places.name_tenant("another")
        assert sent(File(bytes(AT_ONCE + 1))).status_code == 200
    slow[0].close()
    assert sent(File(bytes(AT_ONCE + 1))).status_code == 200


CONTENT = bytes(range(256)) * 782
PIECE = 64 * 1024


@pytest.mark.parametrize("length", [None, 200_000])
def test_it_comes_as_it_is(length: int | None) -> None:
    body = IncomingBody(io.BytesIO(CONTENT[:200_000]), length)
    assert body.left == (length or math.inf)
    assert body.read(5) == CONTENT[:5]
    assert body.read(100_000) == CONTENT[5:100_005]
    assert body.read() == CONTENT[100_005:200_000]
    assert (body.read(1), body.left) == (b"", 0)


def test_nothing_beyond_the_declared_length_is_asked_for() -> None:
    stream = io.BytesIO(CONTENT)
    assert len(IncomingBody(stream, 100_000).read(len(CONTENT))) == 100_000
    assert stream.tell() == 100_000


def test_one_that_ends_early_was_cut() -> None:
    body = IncomingBody(io.BytesIO(CONTENT[:1000]), 2000)
    assert body.read(900) == CONTENT[:900]
    with pytest.raises(DomainError, match="too slowly") as refused:
        body.read(900)
    assert refused.value.code == "request_timeout"
    assert body.left == 0
    chunked = IncomingBody(io.BytesIO(CONTENT[:1000]), None)
    assert (chunked.read(2000), chunked.left) == (CONTENT[:1000], 0), "it ends where it ends"


class Endless:
    asked = 0

    def read(self, size: int = -1, /) -> bytes:
        self.asked += size
        return bytes(size)


@pytest.mark.parametrize(("length", "asked"), [(None, 20), (5 * PIECE, 5), (20 * PIECE, 20), (21 * PIECE, 0)])
def test_as_much_is_drained_as_is_said_and_nothing_of_what_announces_more(length: int | None, asked: int) -> None:
    stream = Endless()
    IncomingBody(stream, length).drain(20 * PIECE)
    assert stream.asked == asked * PIECE


def test_draining_what_ends_is_no_fault() -> None:
    body = IncomingBody(io.BytesIO(b"abc"), 2000)
    body.drain(2000)
    assert body.left == 0
