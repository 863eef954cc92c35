"""Pictures of the page that verifies: the form, what it refuses, and verdicts."""

from itertools import count
from pathlib import Path
from typing import Any

import httpx

from lab.pictures.camera import SCREENS, context, picture, printed, visited
from tests.browser.contract import contract
from tests.browser.world import World
from tests.pdf.verification.test_evidence_check import issued_before
from tests.scenarios.people import at, sign

_Files = dict[str, bytes]
_visitors = count(1)


def verify_page(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of the form, also sent empty and too often, and of each verdict on files."""
    proven = _proven(world)
    signed = proven["signed.pdf"]
    altered = {**proven, "signed.pdf": signed.replace(b"/MediaBox", b"/MediaBax", 1)}
    verdicts = {
        "holds": proven,
        "altered": altered,
        "stranger": issued_before(),
        "unreadable": {"notes.pdf": b"no PDF"},
        "proof-alone": {"proof.pdf": proven["proof.pdf"]},
    }
    for screen in SCREENS:
        page = _opened(world, browser, screen)
        picture(page, folder, "verify", screen)
        _sent(page, {})
        page.locator(".problem:not([hidden])").wait_for()
        picture(page, folder, "verify-empty", screen)
        for name, files in verdicts.items():
            page = _opened(world, browser, screen)
            _sent(page, files)
            page.locator("[data-verdict] h1").wait_for()
            picture(page, folder, f"verify-{name}", screen)
            printed(page, folder, f"verify-{name}", screen)
    _too_often(world, browser, folder)


def _proven(world: World) -> _Files:
    uploaded = contract()
    url = world.asked_for((world.backend.upload(uploaded, "Lease.pdf"), [at(3, 316, 150)]))
    assert sign(url).status_code == 200
    [links] = world.backend.finalized(world.newest)["download_urls"]
    names = {"proof.pdf": links["certificate_url"], "signed.pdf": links["signed_url"]}
    return {name: httpx.get(link, timeout=30).content for name, link in names.items()} | {"uploaded.pdf": uploaded}


def _opened(world: World, browser: Any, screen: str) -> Any:
    """Open the form as a new visitor: from the machine's own address it would soon have been sent too often."""
    window = context(browser, screen)
    window.set_extra_http_headers({"X-Forwarded-For": f"10.0.0.{next(_visitors)}"})
    return visited(window, f"{world.base_url}/verify", screen)


def _sent(page: Any, files: _Files) -> None:
    given = [{"name": name, "mimeType": "application/pdf", "buffer": content} for name, content in files.items()]
    compared = [file for file in given if file["name"] == "uploaded.pdf" and page.locator("#compared").is_visible()]
    page.locator("#file").set_input_files([file for file in given if file not in compared])
    if compared:
        page.locator("#compared").set_input_files(compared)
    page.locator("form").evaluate("(form) => { form.noValidate = true }")
    page.locator("button[type=submit]").click()


def _too_often(world: World, browser: Any, folder: Path) -> None:
    page = _opened(world, browser, "phone")
    for _ in range(11):
        page.goto(f"{world.base_url}/verify")
        _sent(page, {})
        page.locator(".problem:not([hidden])").wait_for()
    picture(page, folder, "verify-too-often", "phone")
