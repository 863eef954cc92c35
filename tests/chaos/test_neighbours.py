"""What the attacker of ``lab.chaos.neighbours`` tells of a service that hangs up."""

import socket
import threading
from collections import Counter
from collections.abc import Iterator

import httpx
import pytest

from lab.chaos import hostile
from lab.chaos.hostile import LateError, Punctual, unanswered


@pytest.fixture
def hanging_up() -> Iterator[str]:
    """The address of a service that takes a connection and ends it."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for _ in range(2):
                server.accept()[0].close()

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


def test_a_hang_up_is_the_service_s_fault_but_where_the_head_was_late(
    hanging_up: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with httpx.Client(transport=Punctual()) as client:
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError)) as on_time:
            client.post(hanging_up, content=b"body")
        monkeypatch.setattr(hostile, "_HEAD_SECONDS", 0)  # whatever was sent was late
        with pytest.raises(LateError):
            client.post(hanging_up, content=b"body")
    counts = Counter({"200": 3, type(on_time.value).__name__: 1})
    assert list(unanswered({"verdicts": counts})) == [
        f"Some of the verdicts got no answer: {{'{on_time.typename}': 1}}."
    ]
    assert list(unanswered({"verdicts": Counter({"200": 3, "503": 9, "LateError": 2, "done": 1})})) == []
