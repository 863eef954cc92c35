"""Every page of the dashboard in Chromium: accessible in light and dark, as wide as a phone, light, without errors."""

import gzip
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

from tests.cli.service import Service, remove
from tests.dashboard.matrix import PAGES
from tests.dashboard.served_pages import ServedPages, served_pages

CHROMIUM = "/usr/bin/chromium"
DESK, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 740}
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLORS = ["cat.color"]
_FILES = "[...document.querySelectorAll('script[src], link[rel=stylesheet]')].map((each) => each.src || each.href)"
_SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPages]:
    one = {"PARAPH_WEB_PROCESSES": "1", "PARAPH_WORKER_PROCESSES": "1"}
    service = Service(tmp_path_factory.mktemp("pages") / "data", **one)
    service.begin()
    try:
        yield served_pages(service)
    finally:
        service.stop()
        remove(service.data_dir)


def test_every_page_of_the_map_is_visited(pages: ServedPages) -> None:
    assert set(pages.addresses) >= PAGES


def test_pages_are_accessible_narrow_and_light(pages: ServedPages) -> None:
    wrong: list[Any] = []
    weights: dict[str, int] = {}
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = chromium.new_context(viewport=DESK, reduced_motion="reduce")
        context.add_cookies(pages.cookies)
        page = context.new_page()
        page.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for name, address in pages.addresses.items():
            page.set_viewport_size(DESK)
            answer = page.goto(address)
            assert answer and answer.status == 200 and page.url == address, (name, page.url)
            wrong += [(name, *each) for each in violations(page)]
            page.set_viewport_size(PHONE)
            wrong += [(name, "sideways", width)] if (width := page.evaluate(_SIDEWAYS)) else []
            wrong += [(name, "bytes", heavy)] if (heavy := weight(page, weights)) > 40 * 1024 else []
        chromium.close()
    assert not wrong, "\n".join(map(str, wrong))


def violations(page: Page) -> Iterator[tuple[str, str, str]]:
    """What axe finds in light, and then in dark, where nothing changes but colours."""
    for scheme, rules in (("light", _RULES), ("dark", _COLORS)):
        page.emulate_media(color_scheme=scheme)
        found = Axe().run(page, options={"runOnly": rules, "resultTypes": ["violations"]})
        for each in found.response["violations"]:
            yield scheme, each["id"], str([node["html"] for node in each["nodes"]])


def weight(page: Page, known: dict[str, int]) -> int:
    """Bytes of the page's scripts and styles, each compressed by itself. ``known``: by address."""
    files = page.evaluate(_FILES)
    for file in files:
        if file not in known:
            known[file] = len(gzip.compress(httpx.get(file).content, 9))
    return sum(known[file] for file in files)
