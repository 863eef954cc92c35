"""The first five minutes in Chromium: from the link that a start prints through both doors to signed, sealed PDFs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.chromium import launch
from tests.cli.service import Service, remove
from tests.dashboard.newcomer import Newcomer


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    served = Service(tmp_path / "data", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    served.begin()
    yield served
    served.stop()
    remove(served.data_dir)


@pytest.fixture
def page() -> Iterator[Page]:
    """Fails the test where a page logs an error."""
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        yield page
        browser.close()
    assert wrong == []


@pytest.mark.thorough
def test_a_newcomer_goes_through_both_doors_and_gets_sealed_files(service: Service, page: Page, tmp_path: Path) -> None:
    Newcomer(service, page, tmp_path).whole()
