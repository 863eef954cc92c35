"""Connections are kept for the next exchange with a server, and only at addresses that were judged for it."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from paraph.outbound import exchange
from paraph.outbound.exchange import KeptConnections, NetworkAccess, PostResult, post
from tests.receiver import Behaviour, Handler, Receiver, answer, endless, own_authority, receiver

LOCAL = NetworkAccess(allow_private=True)


def send(*urls: str, way: NetworkAccess = LOCAL, between: Callable[[], object] = lambda: None) -> list[PostResult]:
    """The results, one after the other over connections that are kept."""

    async def all_of_them() -> list[PostResult]:
        kept, results = KeptConnections(), list[PostResult]()
        for url in urls:
            results.append(await post(url, b"{}", {}, replace(way, kept=kept)))
            between()
            await kept.close_expired()
        await kept.close_expired(all_of_them=True)
        return results

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(("status", "tls"), [(200, False), (200, True), (204, False), (500, False)])
def test_one_connection_serves_many_exchanges(status: int, tls: bool, tmp_path: Path) -> None:
    authority = own_authority(tmp_path, "localhost")
    behave = answer(status, b"" if status == 204 else b"said")
    with receiver(behave, authority.server if tls else None, keeps=True) as server:
        results = send(*[server.url()] * 3, way=replace(LOCAL, tls=authority.client))
    assert [result.status for result in results] == [status] * 3
    assert (len(server.received), server.connections) == (3, 1)


def test_another_host_has_another_connection() -> None:
    with receiver(keeps=True) as server:
        send(server.url("localhost"), server.url("127.0.0.1"))
    assert server.connections == 2


def _told_to_close(handler: Handler) -> None:
    answer(200, b"", Connection="close")(handler)


@pytest.mark.parametrize(("behave", "keeps"), [(answer(), False), (_told_to_close, True), (endless, True)])
def test_a_server_that_does_not_keep_it(behave: Behaviour, keeps: bool) -> None:
    with receiver(behave, keeps=keeps) as server:
        results = send(*[server.url()] * 2)
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
        results = send(*[server.url()] * 2)
    assert [result.status for result in results] == [200, 200]
    assert server.connections == 2


def test_nothing_is_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.outbound.exchange.SECONDS", 0.0)
    with receiver(keeps=True) as server:
        send(*[server.url()] * 2)
    assert server.connections == 2
    assert exchange.SECONDS < 5  # which a delivery may take


def test_a_name_that_moves_is_called_where_it_was_judged() -> None:
    answers = [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.2"]]

    async def moving(host: str, port: int) -> list[str]:
        return answers.pop(0)

    with receiver(keeps=True) as server:
        url = server.url("moving.example")
        results = send(url, url, url, way=NetworkAccess(allow_private=True, resolve=moving))
    assert [result.status for result in results] == [200, 200, None]
    assert server.connections == 1


def test_a_name_that_moves_to_a_private_address_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [["127.0.0.1"], ["127.0.0.1", "10.0.0.1"]]

    async def moving(host: str, port: int) -> list[str]:
        return answers.pop(0)

    monkeypatch.setattr(
        "paraph.outbound.exchange.reason_not_public", lambda address: "" if address == "127.0.0.1" else "private"
    )
    with receiver(keeps=True) as server:
        url = server.url("moving.example")
        results = send(url, url, way=NetworkAccess(resolve=moving))
    assert results[0].accepted
    assert results[1].error == "Refused: moving.example has an address that is not public."
    assert len(server.received) == 1


def test_a_connection_that_failed_is_not_kept() -> None:
    with receiver(keeps=True) as server:
        url = server.url()
    results = send(url, url)
    assert all("ConnectError" in result.error for result in results)
