"""A body is what came of it, and one that ends early says so."""

import io
import math

import pytest

from paraph.kernel.errors import DomainError
from paraph.server.bodies import IncomingBody

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


def test_one_in_chunks_ends_where_it_ends() -> None:
    body = IncomingBody(io.BytesIO(CONTENT[:1000]), None)
    assert (body.read(2000), body.left) == (CONTENT[:1000], 0)


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
