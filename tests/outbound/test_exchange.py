"""One exchange: pinned, bounded in time and size. A delivery is never redirected; what certificates name is fetched
across redirects, each of which is judged like the first address. A connection is kept for the next exchange with the
same server, and only at an address that was judged for that server."""

import asyncio
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paraph.outbound import exchange
from paraph.outbound.exchange import (
    FetchFailed,
    KeptConnections,
    NetworkAccess,
    PostResult,
    fetch,
    post,
    system_resolver,
)
from tests import receiver as receivers
from tests.receiver import Behaviour, Handler, Receiver, answer, endless, own_authority, receiver

LOCAL = NetworkAccess(allow_private=True)


def send(
    url: str, route: NetworkAccess = LOCAL, seconds: float = 5, schemes: tuple[str, ...] = ("https", "http")
) -> PostResult:
    headers = {"Content-Type": "application/json"}
    return asyncio.run(post(url, b'{"a":1}', headers, route, schemes=schemes, seconds=seconds))


def resolver(*answers: list[str]) -> Callable[[str, int], "asyncio.Future[list[str]]"]:
    """A resolver that answers each question with the next list, and from then on with the last one."""
    remaining = list(answers)

    async def resolve(host: str, port: int) -> list[str]:
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    return resolve  # type: ignore[return-value]


def test_what_arrives() -> None:
    with receiver(answer(201, b"thanks")) as server:
        result = send(server.url(path="/hooks?x=1#fragment"))
    assert (result.status, result.body, result.error, result.accepted) == (201, b"thanks", "", True)
    [received] = server.received
    assert received.path == "/hooks?x=1"
    assert received.body == b'{"a":1}'
    assert received.headers["Content-Type"] == "application/json"
    assert received.headers["Host"] == f"localhost:{server.server_port}"
    assert received.headers["Content-Length"] == "7"


@pytest.mark.parametrize("status", [300, 301, 302, 307, 308, 400, 404, 410, 500, 503])
def test_other_codes_are_refusals_and_no_redirect_is_followed(status: int) -> None:
    with receiver() as elsewhere, receiver(answer(status, b"no", Location=elsewhere.url())) as server:
        result = send(server.url())
    assert (result.status, result.body, result.accepted) == (status, b"no", False)
    assert elsewhere.received == []


@pytest.mark.parametrize("behave", [receivers.silent, receivers.trickle_body, receivers.trickle_headers])
def test_slow_in_any_way_is_over_in_time(behave: Behaviour) -> None:
    with receiver(behave) as server:
        result = send(server.url(), seconds=0.4)
    assert (result.status, result.accepted) == (None, False)
    assert result.error == "no complete answer within 0.4 seconds"
    assert 0.4 <= result.seconds < 10  # these receivers never end an answer by themselves


def test_a_slow_name_server_is_over_in_time() -> None:
    async def resolve(host: str, port: int) -> list[str]:
        await asyncio.sleep(10)
        return ["127.0.0.1"]

    result = send("http://slow.example/", NetworkAccess(allow_private=True, resolve=resolve), seconds=0.2)
    assert result.error == "no complete answer within 0.2 seconds"


def test_an_endless_answer_is_cut_off() -> None:
    with receiver(receivers.endless) as server:
        result = send(server.url())
        assert (result.status, result.accepted) == (200, True)
        assert result.body == b"x" * 2048
        assert server.sent < 8 * 1024 * 1024  # as much as the sockets' buffers take


@pytest.mark.parametrize("behave", [receivers.hang_up, receivers.not_http])
def test_broken_answers(behave: Behaviour) -> None:
    with receiver(behave) as server:
        result = send(server.url())
    assert result.status is None and result.error.startswith("RemoteProtocolError")


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        result = send(f"http://127.0.0.1:{taken.getsockname()[1]}/")
    assert result.status is None and "ConnectError" in result.error
    result = send("https://name.invalid/")
    assert result.status is None and result.error.startswith("the host name has no address: ")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_private_addresses_are_refused_however_they_are_written(host: str) -> None:
    with receiver() as server:
        result = send(server.url(host), NetworkAccess(resolve=system_resolver))
    assert result.error.startswith("Refused: ")
    assert server.received == []


@pytest.mark.parametrize(
    "addresses", [["10.20.30.40"], ["169.254.169.254"], ["fd00::12"], ["93.184.215.14", "10.0.0.1"]]
)
def test_a_refusal_tells_nothing_of_what_the_name_means_here(addresses: list[str]) -> None:
    """It does not even tell which address was refused, where one is private and another public."""
    result = send("http://vault.corp.example/", NetworkAccess(resolve=resolver(addresses)))
    assert result.error == "Refused: vault.corp.example has an address that is not public."


def test_a_name_that_is_rebound_is_called_where_it_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of the first answer is judged and connected to; the name is not resolved a second time."""
    asked = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    monkeypatch.setattr(
        "paraph.outbound.exchange.reason_not_public", lambda address: "" if address == "127.0.0.1" else "no"
    )
    with receiver() as server:
        result = send(server.url("rebind.example"), NetworkAccess(resolve=rebinding))
    assert result.accepted
    assert asked == ["rebind.example"]
    assert server.received[0].headers["Host"].startswith("rebind.example:")


def test_the_next_address_is_tried_when_one_is_dead() -> None:
    with receiver() as server:
        route = NetworkAccess(allow_private=True, resolve=resolver(["127.0.0.3", "127.0.0.1"]))
        assert send(server.url("two.example"), route).accepted


def test_tls_is_verified_for_the_name_not_the_address(tmp_path: Path) -> None:
    authority = own_authority(tmp_path, "hooks.example")
    to_loopback = resolver(["127.0.0.1"])
    route = NetworkAccess(allow_private=True, resolve=to_loopback, tls=authority.client)
    with receiver(tls=authority.server) as server:
        assert send(server.url("hooks.example"), route, schemes=("https",)).accepted
        other = send(server.url("other.example"), route)
        unknown = send(server.url("hooks.example"), NetworkAccess(allow_private=True, resolve=to_loopback))
    assert "Hostname mismatch" in other.error
    assert "certificate verify failed" in unknown.error
    assert len(server.received) == 1


def test_a_scheme_that_is_not_allowed_is_not_called() -> None:
    with receiver() as server:
        result = send(server.url(), schemes=("https",))
    assert result.error == "The address must start with https://."
    assert server.received == []


class Proxy(threading.Thread):
    """An HTTP proxy that notes the request in ``asked``, and tunnels to ``to`` or refuses."""

    def __init__(self, to: Receiver, verdict: bytes = b"200 Connection established") -> None:
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.asked = b""
        self.to, self.verdict = to, verdict

    @property
    def url(self) -> str:
        return f"http://user:p%40ss@127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        client, _ = self.listener.accept()
        with client, socket.create_connection(("127.0.0.1", self.to.server_port)) as server:
            while b"\r\n\r\n" not in self.asked:
                self.asked += client.recv(4096)
            client.sendall(b"HTTP/1.1 " + self.verdict + b"\r\n\r\n")
            back = threading.Thread(target=_pipe, args=(server, client), daemon=True)
            back.start()
            _pipe(client, server)
            back.join()
        self.listener.close()


def _pipe(source: socket.socket, sink: socket.socket) -> None:
    try:
        while block := source.recv(65536):
            sink.sendall(block)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def test_through_the_proxy_to_the_judged_address(tmp_path: Path) -> None:
    authority = own_authority(tmp_path, "hooks.example")
    with receiver(tls=authority.server) as server:
        proxy = Proxy(server)
        proxy.start()
        route = NetworkAccess(proxy=proxy.url, resolve=resolver(["93.184.215.14"]), tls=authority.client)
        result = send("https://hooks.example/x", route)
        proxy.join()
    assert result.accepted, result.error
    lines = proxy.asked.decode().split("\r\n")
    assert lines[0] == "CONNECT 93.184.215.14:443 HTTP/1.1"
    assert "Proxy-Authorization: Basic dXNlcjpwQHNz" in lines  # user:p@ss
    assert server.received[0].headers["Host"] == "hooks.example"


def test_a_proxy_that_refuses() -> None:
    with receiver() as server:
        proxy = Proxy(server, b"403 Forbidden")
        proxy.start()
        result = send("http://hooks.example/", NetworkAccess(proxy=proxy.url, resolve=resolver(["93.184.215.14"])))
        proxy.join()
    assert result.error == "ProxyError: the proxy refused: HTTP/1.1 403 Forbidden"
    assert server.received == []


def fetched(url: str, route: NetworkAccess = LOCAL) -> bytes:
    return fetch(url, route, seconds=5, limit=100, body=b"a question")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_followed_with_the_question(status: int) -> None:
    with (
        receiver(answer(200, b"an answer")) as elsewhere,
        receiver(answer(status, Location=elsewhere.url(path="/moved"))) as server,
    ):
        assert fetched(server.url()) == b"an answer"
    assert [(each.path, each.body) for each in elsewhere.received] == [("/moved", b"a question")]


def test_a_redirect_may_be_relative() -> None:
    def behave(handler: Handler) -> None:
        (answer(200, b"an answer") if handler.path == "/b" else answer(302, Location="b"))(handler)

    with receiver(behave) as server:
        assert fetched(server.url(path="/a")) == b"an answer"


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("file:///etc/passwd", "must start with http:// or https://"),
        ("http://127.0.0.1:22/", "names port 22"),
        ("http://me:secret@hooks.example/", "must not contain a user name"),
        ("http://[", "names no host"),
        ("/", "the answer has HTTP status 302"),  # in a circle
        ("", "the answer has HTTP status 302"),
    ],
)
def test_a_redirect_that_leads_nowhere(location: str, reason: str) -> None:
    with receiver(answer(302, Location=location)) as server, pytest.raises(FetchFailed, match=reason):
        fetched(server.url())
    assert len(server.received) == (4 if location == "/" else 1)


def test_a_redirect_to_a_private_address_is_refused() -> None:
    with receiver(answer(302, Location="http://inside.example/")) as server:
        proxy = Proxy(server)
        proxy.start()
        route = NetworkAccess(proxy=proxy.url, resolve=resolver(["93.184.215.14"], ["169.254.169.254"]))
        with pytest.raises(FetchFailed, match=r"inside\.example has an address that is not public"):
            fetched("http://lists.example/", route)
        proxy.join()
    assert len(server.received) == 1


def sent(*urls: str, way: NetworkAccess = LOCAL) -> list[PostResult]:
    """Post to the addresses one after the other over kept connections. Return the results."""

    async def all_of_them() -> list[PostResult]:
        kept, results = KeptConnections(), list[PostResult]()
        for url in urls:
            results.append(await post(url, b"{}", {}, replace(way, kept=kept)))
            await kept.close_expired()
        await kept.close_expired(all_of_them=True)
        return results

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("status", "tls"), [(200, False), (200, True), (204, False), (500, False)])
def test_one_connection_serves_many_exchanges(status: int, tls: bool, tmp_path: Path) -> None:
    authority = own_authority(tmp_path, "localhost")
    behave = answer(status, b"" if status == 204 else b"said")
    with receiver(behave, authority.server if tls else None, keeps=True) as server:
        results = sent(*[server.url()] * 3, way=replace(LOCAL, tls=authority.client))
    assert [result.status for result in results] == [status] * 3
    assert (len(server.received), server.connections) == (3, 1)


def test_another_host_has_another_connection() -> None:
    with receiver(keeps=True) as server:
        sent(server.url("localhost"), server.url("127.0.0.1"))
    assert server.connections == 2


def _told_to_close(handler: Handler) -> None:
    answer(200, b"", Connection="close")(handler)


@pytest.mark.parametrize(("behave", "keeps"), [(answer(), False), (_told_to_close, True), (endless, True)])
def test_a_server_that_does_not_keep_it(behave: Behaviour, keeps: bool) -> None:
    with receiver(behave, keeps=keeps) as server:
        results = sent(*[server.url()] * 2)
    assert [result.status for result in results] == [200, 200]
    assert server.connections == 2


def _hanging_up_at_the_second(server: Receiver) -> Behaviour:
    def behave(handler: Handler) -> None:
        handler.close_connection = server.connections == 1 and len(server.received) == 2
        if not handler.close_connection:
            answer()(handler)

    return behave


def test_a_server_that_closes_it_at_that_moment_is_sent_the_request_again() -> None:
    with receiver(keeps=True) as server:
        server.behave = _hanging_up_at_the_second(server)
        results = sent(*[server.url()] * 2)
    assert [result.status for result in results] == [200, 200]
    assert server.connections == 2


def test_nothing_is_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.outbound.exchange.SECONDS", 0.0)
    with receiver(keeps=True) as server:
        sent(*[server.url()] * 2)
    assert server.connections == 2
    assert exchange.SECONDS < 5  # a delivery may take 5 s


def test_a_name_that_moves_is_called_where_it_was_judged() -> None:
    moving = resolver(["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.2"])
    with receiver(keeps=True) as server:
        url = server.url("moving.example")
        results = sent(url, url, url, way=NetworkAccess(allow_private=True, resolve=moving))
    assert [result.status for result in results] == [200, 200, None]
    assert server.connections == 1


def test_a_name_that_moves_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    moving = resolver(["127.0.0.1"], ["127.0.0.1", "10.0.0.1"])
    monkeypatch.setattr(
        "paraph.outbound.exchange.reason_not_public", lambda address: "" if address == "127.0.0.1" else "private"
    )
    with receiver(keeps=True) as server:
        url = server.url("moving.example")
        results = sent(url, url, way=NetworkAccess(resolve=moving))
    assert results[0].accepted
    assert results[1].error == "Refused: moving.example has an address that is not public."
    assert len(server.received) == 1


def test_a_connection_that_failed_is_not_kept() -> None:
    with receiver(keeps=True) as server:
        url = server.url()
    results = sent(url, url)
    assert all("ConnectError" in result.error for result in results)
