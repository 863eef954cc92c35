"""Chromium, one for this package, and what it sees of the shared service."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.world import World
from tests.chromium import CHROMIUM, launch
from tests.cli.service import Service
from tests.dashboard.served_pages import ServedPages, served_pages


@pytest.fixture(autouse=True, scope="session")
def _chromium() -> None:
    if not Path(CHROMIUM).exists():
        pytest.skip(f"{CHROMIUM} is missing: apt install chromium")


@pytest.fixture(scope="session")
def world(shared_service: Service) -> World:
    return World.like(shared_service)


@pytest.fixture(scope="session")
def filled_dashboard(world: World) -> Iterator[ServedPages]:
    pages = served_pages(world)
    yield pages
    pages.draft.browser.close()


@pytest.fixture
def dashboard(filled_dashboard: ServedPages) -> ServedPages:
    """The dashboard's pages of the first organization, with its owner logged in and something on each of them."""
    filled_dashboard.keep_proven()
    return filled_dashboard


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium, closed after this package: while it runs, Django takes its loop for the one of asynchronous views."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright, "--test-third-party-cookie-phaseout")
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Return a function that opens an address in a window of its own, with options of Playwright's ``new_context``. The
    test fails when a page breaks its policy, throws or logs an error, apart from answers whose status is in
    ``statuses``, and from lost connections where ``lost`` is set."""
    contexts, wrong = [], []

    def opened(url: str, *, statuses: tuple[int, ...] = (), lost: bool = False, **options: Any) -> Any:
        usual = {"viewport": {"width": 375, "height": 740}, "reduced_motion": "reduce"}
        context = browser.new_context(**usual | options)
        contexts.append(context)
        page = context.new_page()
        expected = tuple(f"the server responded with a status of {status} " for status in statuses)
        expected += ("net::ERR_",) * lost

        def heard(message: Any) -> None:
            if message.type in ("error", "warning") and not any(part in message.text for part in expected):
                wrong.append(f"{message.text} {message.location['url']}")

        page.on("console", heard)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []
