"""The page that verifies, in Chromium: what it says was not sent, was not; and axe finds nothing."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.test_accessibility import checked
from tests.browser.world import World
from tests.pdf.verification.test_evidence_check_seals import ISSUED_BEFORE

PROOF, SIGNED, UPLOADED = (str(ISSUED_BEFORE / f"{name}.pdf") for name in ("proof", "signed", "uploaded"))


def chosen(page: Any, *, compared: bool = True) -> None:
    page.locator("#file").set_input_files([PROOF, SIGNED])
    if compared:
        page.locator("#compared").set_input_files([UPLOADED])


def test_what_is_only_compared_never_leaves_the_browser(visit: Callable[..., Any], world: World) -> None:
    page = visit(f"{world.base_url}/verify")
    bodies: list[bytes] = []
    page.context.on("request", lambda request: bodies.append(request.post_data_buffer or b""))
    chosen(page)
    page.locator("button[type=submit]").click()
    page.locator("[data-verdict=unknown]").wait_for()
    uploaded, sent = Path(UPLOADED).read_bytes(), b"".join(bodies)
    assert Path(SIGNED).read_bytes().startswith(uploaded)  # so the file of its own is looked for by its name
    assert sent.count(uploaded[:64]) <= 1 and b'filename="uploaded.pdf"' not in sent
    assert f"{hashlib.sha256(uploaded).hexdigest()} {len(uploaded)} uploaded.pdf".encode() in sent
    kept_back, *_ = page.locator("h2:has-text('Only compared, not sent') + ul").all_inner_texts()
    assert kept_back.strip() == "uploaded.pdf"
    said = page.locator("h2:has-text('Sent to this service') + ul").inner_text()
    assert said.split() == ["proof.pdf", "signed.pdf"]
    assert page.locator("details").inner_text() and page.evaluate("document.activeElement.dataset.verdict") == "unknown"
    assert page.context.cookies() == []


def test_a_file_chosen_before_its_digest_is_known_is_waited_for(visit: Callable[..., Any], world: World) -> None:
    page = visit(f"{world.base_url}/verify")
    page.evaluate(
        "() => { const digest = crypto.subtle.digest.bind(crypto.subtle);"
        " const held = new Promise((go) => { window.go = go });"
        " crypto.subtle.digest = async (...given) => { await held; return digest(...given); } }"
    )
    chosen(page)
    page.locator("button[type=submit]").click()
    assert page.locator("[data-digests] input").count() == 0
    page.evaluate("window.go()")
    page.locator("[data-verdict]").wait_for()
    assert page.locator("h2:has-text('Only compared, not sent')").count() == 1


def test_it_works_without_scripts(visit: Callable[..., Any], world: World) -> None:
    page = visit(f"{world.base_url}/verify", java_script_enabled=False)
    assert not page.locator("#compared").is_visible() and page.locator("[data-without]").is_visible()
    chosen(page, compared=False)
    page.locator("button[type=submit]").press("Enter")
    assert page.locator("[data-verdict=unknown] h1").inner_text() == "It cannot be told whether it holds."


@pytest.mark.thorough
@pytest.mark.parametrize("language", ["en", "ar"])
@pytest.mark.parametrize("width", [375, 1280])
def test_axe_finds_nothing(visit: Callable[..., Any], world: World, language: str, width: int) -> None:
    size = {"width": width, "height": 800}
    page = visit(f"{world.base_url}/verify?lang={language}", statuses=(422,), viewport=size)
    checked(page)
    page.evaluate("document.querySelector('#file').required = false")
    page.locator("button[type=submit]").click()
    page.locator("[role=alert]").first.wait_for()
    checked(page)
    chosen(page)
    page.locator("button[type=submit]").click()
    page.locator("[data-verdict]").wait_for()
    page.locator("summary").first.click()
    checked(page)
