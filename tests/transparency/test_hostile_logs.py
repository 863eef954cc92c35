"""A log that wants to use up the machine of whoever audits it, or to make the audit end without a sentence."""

import gzip

import pytest

from paraph.kernel.errors import DomainError
from paraph.transparency import audit
from paraph.transparency.audit import fetching
from paraph.transparency.merkle import ProofRefused
from paraph.transparency.notes import LONGEST_NOTE, Checkpoint, of_log
from tests import receiver
from tests.receiver import Behaviour
from tests.transparency.test_witnesses import OTHER, signed

BOMB = gzip.compress(gzip.compress(bytes(64 << 20)))


HOSTILE: list[tuple[Behaviour, str]] = [
    (receiver.silent, "no complete answer within 0.5 s"),
    (receiver.trickle_body, "no complete answer within 0.5 s"),
    (receiver.trickle_headers, "no complete answer within 0.5 s"),
    (receiver.endless, "HTTP status 200, 65537 bytes or more"),
    (receiver.answer(200, bytes(LONGEST_NOTE + 1)), "HTTP status 200, 65537 bytes or more"),
    (receiver.answer(302, Location="http://127.0.0.1:22/"), "HTTP status 302"),
    (receiver.answer(206, b"x"), "HTTP status 206"),
    (receiver.not_http, "checkpoint cannot be had: .+"),
    (receiver.hang_up, "checkpoint cannot be had: .+"),
]


def test_what_a_log_answers_is_bounded_in_size_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "_SECONDS", 0.5)
    for behave, sentence in HOSTILE:
        with receiver.receiver(behave) as log, fetching(log.url(path="")) as fetch:
            with pytest.raises(ProofRefused, match=sentence):
                fetch("checkpoint", LONGEST_NOTE)
            assert log.sent < 64 << 20


def test_what_it_packs_is_not_unpacked() -> None:
    packed = receiver.answer(200, BOMB, **{"Content-Encoding": "gzip, gzip"})
    with receiver.receiver(packed) as log, fetching(log.url(path="")) as fetch:
        assert fetch("checkpoint", LONGEST_NOTE) == BOMB
        assert log.received[0].headers["Accept-Encoding"] == "identity"


def test_one_connection_takes_all() -> None:
    with receiver.receiver(receiver.answer(200, b"x"), keeps=True) as log:
        with fetching(log.url(path="")) as fetch:
            assert [fetch("checkpoint", 1) for _ in range(3)] == [b"x"] * 3
        assert log.connections == 1


@pytest.mark.parametrize("host", ["a" * 64 + ".invalid", ".", "a..b", "xn--a.invalid", "*.invalid"])
def test_a_host_that_cannot_be_is_told_of(host: str) -> None:
    with fetching(f"https://{host}/transparency") as fetch, pytest.raises(ProofRefused, match=r"key cannot be had: .+"):
        fetch("key", 1024)


@pytest.mark.parametrize("url", ["", "log", "file:///etc/passwd", "http://[::1", "https://\0x", "http://a.b:99999"])
def test_an_address_that_is_none_is_told_of(url: str) -> None:
    with pytest.raises(DomainError, match=r"The address of the log .+\."), fetching(url):
        pass


def test_a_log_larger_than_any_is_not_read() -> None:
    asked: list[str] = []

    def fetch(path: str, most: int) -> bytes:
        asked.append(path)
        assert path == "checkpoint" and most == LONGEST_NOTE
        return signed(Checkpoint(OTHER.name, 10**18 - 1, b"r" * 32)).encode()

    with pytest.raises(ProofRefused, match=r"has 999999999999999999 entries\. At most 100000000 are read"):
        audit.audit(fetch, of_log(OTHER))
    assert asked == ["checkpoint"]
