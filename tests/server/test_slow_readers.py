"""Whose time is over, of those who are sent something. Real connections; the time between two looks is made up."""

import socket
import sys
import time
from collections.abc import Iterator

import pytest

from paraph.server import slow_readers
from paraph.server.connections import connections_to
from paraph.server.slow_readers import GRACE, PATIENCE, RATE, SlowReaders

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at connections as Linux tells of them")


class Reader:
    """A client that has been sent more than it and both kernels take."""

    def __init__(self, server: socket.socket) -> None:
        self.client = socket.socket()
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.client.connect(server.getsockname())
        self.ours, _ = server.accept()
        self.ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.ours.setblocking(False)
        self.ours.send(bytes(1 << 20))

    def read(self, size: int) -> None:
        while size > 0:
            size -= len(self.client.recv(size))
        time.sleep(0.3)  # until its machine has said so


@pytest.fixture
def port() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def readers(port: socket.socket) -> Iterator[list[Reader]]:
    made = [Reader(port) for _ in range(2)]
    time.sleep(0.3)
    yield made
    for reader in made:
        reader.client.close()
        reader.ours.close()


def over(looks: SlowReaders, port: socket.socket, now: float, *, crowded: bool = False) -> list[str]:
    with connections_to(port.getsockname()[1]) as found:
        return [each.name for each in looks.among(found, now, crowded=crowded)]


def name(reader: Reader) -> str:
    return str(reader.client.getsockname())


def test_who_takes_nothing_has_its_time(port: socket.socket, readers: list[Reader]) -> None:
    looks = SlowReaders()
    assert over(looks, port, 0) == []
    assert over(looks, port, PATIENCE - 1) == []
    assert sorted(over(looks, port, PATIENCE + 1)) == sorted(map(name, readers))


def test_where_others_wait_it_has_less(port: socket.socket, readers: list[Reader]) -> None:
    looks = SlowReaders()
    over(looks, port, 0)
    assert over(looks, port, GRACE - 0.5, crowded=True) == []
    assert len(over(looks, port, GRACE + 0.5, crowded=True)) == len(readers)


def test_who_takes_enough_may_take_long(port: socket.socket, readers: list[Reader]) -> None:
    """What was taken long ago does not count for ever: who stops is as late as who never began."""
    looks = SlowReaders()
    over(looks, port, 0)
    readers[0].read(5 * RATE)
    assert over(looks, port, 5, crowded=True) == [name(readers[1])]
    readers[0].read(20 * RATE)
    assert over(looks, port, 6, crowded=True) == [name(readers[1])]
    assert sorted(over(looks, port, 6 + GRACE + 0.5, crowded=True)) == sorted(map(name, readers))


def test_of_many_none_has_much_time(
    port: socket.socket, readers: list[Reader], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is sent to them lies in our memory."""
    monkeypatch.setattr(slow_readers, "FEW", 1)
    looks = SlowReaders()
    over(looks, port, 0)
    assert len(over(looks, port, GRACE + 0.5)) == len(readers)


def test_who_has_been_told_everything_is_not_waited_for(port: socket.socket) -> None:
    client = socket.create_connection(port.getsockname())
    ours, _ = port.accept()
    with client, ours:
        ours.sendall(b"HTTP/1.1 200 OK")
        time.sleep(0.1)
        looks = SlowReaders()
        over(looks, port, 0)
        assert over(looks, port, 1000, crowded=True) == []


def test_a_reset_is_an_end_for_both_sides(port: socket.socket, readers: list[Reader]) -> None:
    with connections_to(port.getsockname()[1]) as found:
        for each in found:
            each.reset()
    with pytest.raises(BrokenPipeError):
        readers[0].ours.send(b"more")
    readers[0].ours.close()
    with pytest.raises(ConnectionResetError):
        while readers[0].client.recv(1 << 20):
            pass
