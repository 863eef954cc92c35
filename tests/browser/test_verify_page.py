"""The page that verifies, in Chromium: files that it calls not sent were not sent; and axe finds nothing."""

import hashlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from secrets import token_bytes
from typing import Any

import pytest

from tests.browser.test_accessibility import checked
from tests.browser.world import World
from tests.pdf.verification.test_evidence_check import ISSUED_BEFORE

PROOF, SIGNED, UPLOADED = (str(ISSUED_BEFORE / f"{name}.pdf") for name in ("proof", "signed", "uploaded"))


def chosen(page: Any, *, compared: bool = True) -> None:
    page.locator("#file").set_input_files([PROOF, SIGNED])
    if compared:
        page.locator("#compared").set_input_files([UPLOADED])


@dataclass(frozen=True)
class Recorded:
    """An address of the page; ``sent`` holds all bytes that browsers sent to it."""

    url: str
    sent: bytearray


_visitors = count(1)


@pytest.fixture
def recorded(world: World) -> Iterator[Recorded]:
    """A relay to the service, which takes browsers that come through it for a new visitor."""
    sent, visitor = bytearray(), f"127.0.2.{next(_visitors)}"

    class Relay(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(("127.0.0.1", world.port), source_address=(visitor, 0)) as service:
                answers = threading.Thread(target=_copied, args=(service, self.request))
                answers.start()
                _copied(self.request, service, sent)
                answers.join()

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Relay) as relay:
        relay.daemon_threads, relay.block_on_close = True, False  # browsers keep connections open
        thread = threading.Thread(target=relay.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Recorded(f"http://127.0.0.1:{relay.server_address[1]}/verify", sent)
        relay.shutdown()
        thread.join()


def _copied(source: socket.socket, target: socket.socket, kept: bytearray | None = None) -> None:
    with suppress(OSError):  # either side has gone
        while piece := source.recv(1 << 16):
            if kept is not None:
                kept += piece
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


def test_what_is_only_compared_never_leaves_the_browser(
    visit: Callable[..., Any], recorded: Recorded, tmp_path: Path
) -> None:
    """The bytes of the compared file are random, so that no other file has them."""
    uploaded, sent = b"%PDF-1.7\n" + token_bytes(3000), recorded.sent
    (tmp_path / "uploaded.pdf").write_bytes(uploaded)
    page = visit(recorded.url)
    page.locator("#file").set_input_files([PROOF, SIGNED])
    page.locator("#compared").set_input_files([tmp_path / "uploaded.pdf"])
    page.locator("button[type=submit]").click()
    page.locator("[data-verdict] h1").wait_for()
    said = page.locator("h2:has-text('Sent to this service') + ul").inner_text()
    kept_back = page.locator("h2:has-text('Only compared, not sent') + ul").inner_text()
    assert page.evaluate("document.activeElement.dataset.verdict")
    assert page.context.cookies() == [] and page.evaluate("Object.keys(localStorage).length") == 0
    assert said.split() == ["proof.pdf", "signed.pdf"] and kept_back.strip() == "uploaded.pdf"
    assert Path(PROOF).read_bytes() in sent and Path(SIGNED).read_bytes() in sent
    assert not any(uploaded[at : at + 16] in sent for at in range(9, len(uploaded), 16))
    assert b'filename="uploaded.pdf"' not in sent
    assert f"{hashlib.sha256(uploaded).hexdigest()} {len(uploaded)} uploaded.pdf".encode() in sent


def test_a_file_chosen_before_its_digest_is_known_is_waited_for(visit: Callable[..., Any], recorded: Recorded) -> None:
    page = visit(recorded.url)
    page.evaluate(
        "() => { const digest = crypto.subtle.digest.bind(crypto.subtle);"
        " const held = new Promise((go) => { window.go = go });"
        " crypto.subtle.digest = async (...given) => { await held; return digest(...given); } }"
    )
    chosen(page)
    page.locator("button[type=submit]").click()
    assert page.locator("[data-digests] input").count() == 0
    page.evaluate("window.go()")
    page.locator("[data-verdict] h1").wait_for()
    assert page.locator("h2:has-text('Only compared, not sent')").count() == 1


def test_it_works_without_scripts(visit: Callable[..., Any], recorded: Recorded) -> None:
    page = visit(recorded.url, java_script_enabled=False)
    assert not page.locator("#compared").is_visible() and page.locator("[data-without]").is_visible()
    chosen(page, compared=False)
    page.locator("button[type=submit]").press("Enter")
    assert page.locator("[data-verdict=unknown] h1").inner_text() == "It cannot be told whether it holds."


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing(visit: Callable[..., Any], recorded: Recorded, language: str, width: int) -> None:
    size = {"width": width, "height": 800}
    page = visit(f"{recorded.url}?lang={language}", statuses=(422,), viewport=size)
    checked(page)
    page.evaluate("document.querySelector('#file').required = false")
    page.locator("button[type=submit]").click()
    page.locator("[role=alert]").first.wait_for()
    checked(page)
    chosen(page)
    page.locator("button[type=submit]").click()
    page.locator("[data-verdict] h1").wait_for()
    page.locator("summary").first.click()
    checked(page)
