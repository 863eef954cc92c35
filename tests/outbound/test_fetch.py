"""What certificates name is fetched, across redirects, each of which is judged like the first address."""

import pytest

from paraph.outbound.exchange import FetchFailed, NetworkAccess, fetch
from tests.outbound.test_post import LOCAL, Proxy, resolver
from tests.receiver import Handler, answer, receiver


def fetched(url: str, route: NetworkAccess = LOCAL) -> bytes:
    return fetch(url, route, seconds=5, limit=100, body=b"a question")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_followed_with_the_question(status: int) -> None:
    with receiver(answer(200, b"an answer")) as elsewhere:
        location = elsewhere.url(path="/moved")
        with receiver(answer(status, Location=location)) as server:
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
