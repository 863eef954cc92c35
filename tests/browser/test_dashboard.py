"""Every page of the dashboard in Chromium: accessible in light and dark, narrow, light, without errors."""

import gzip
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.world import World
from tests.dashboard.matrix import PAGES
from tests.dashboard.served_pages import ServedPages

DESK, PHONE, NARROW = ({"width": width, "height": height} for width, height in ((1280, 900), (375, 740), (320, 640)))
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLORS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
_AGAIN = "options => axe.run(document, options)"  # axe is in the page already
_SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_FILES = "[...document.querySelectorAll('script[src], link[rel=stylesheet]')].map(each => each.src || each.href)"
_CUT_OFF = "[...document.querySelectorAll('.table')].filter(each => each.scrollWidth > each.clientWidth).length"
_TABLES = ("requests", "documents", "applications", "deliveries", "members", "activity", "plan")
_FRAGMENTS = {"key_used"}  # parts of a page, which its script asks for


class Visitor:
    """One window that goes from page to page; ``wrong`` gathers what is wrong with each."""

    def __init__(self, browser: Any, cookies: list[Any]) -> None:
        self.wrong: list[Any] = []
        self.name, self.expected = "", 200
        self._weights: dict[str, int] = {}
        self._context = browser.new_context(viewport=DESK, reduced_motion="reduce")
        self._context.add_cookies(cookies)
        self.page = self._context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.wrong.append((self.name, str(error))))

    def visit(self, name: str, address: str, expected: int = 200) -> None:
        self.name, self.expected = name, expected
        self.page.set_viewport_size(DESK)
        answer = self.page.goto(address)
        assert answer.status == expected and self.page.url == address, (name, answer.status, self.page.url)
        self.look()

    def look(self) -> None:
        """At the page that is open, in light at a desk, and in dark on a phone."""
        for size, scheme in ((DESK, "light"), (PHONE, "dark")):
            self.page.set_viewport_size(size)
            self.page.emulate_media(color_scheme=scheme)
            self.wrong += [(self.name, scheme, *each) for each in self._violations(first=scheme == "light")]
        for size in (PHONE, NARROW):
            self.page.set_viewport_size(size)
            sideways = self.page.evaluate(_SIDEWAYS)
            self.wrong += [(self.name, "scrolls sideways", size["width"], sideways)] if sideways else []
        weight = self._weight()
        self.wrong += [(self.name, "bytes of scripts and styles", weight)] if weight > 40 * 1024 else []

    def close(self) -> None:
        self._context.close()

    def _violations(self, *, first: bool) -> Iterator[tuple[str, str]]:
        if first:
            found = Axe().run(self.page, options={"runOnly": _RULES, "resultTypes": ["violations"]}).response
        else:
            found = self.page.evaluate(_AGAIN, {"runOnly": _COLORS, "resultTypes": ["violations"]})
        for each in found["violations"]:
            yield each["id"], str([node["html"] for node in each["nodes"]])

    def _weight(self) -> int:
        """Each file compressed by itself, as it is served."""
        files = self.page.evaluate(_FILES)
        for file in files:
            if file not in self._weights:
                self._weights[file] = len(gzip.compress(httpx.get(file).content, 9))
        return sum(self._weights[file] for file in files)

    def _heard(self, message: Any) -> None:
        of_status = self.expected != 200 and f"a status of {self.expected}" in message.text
        if message.type in ("error", "warning") and not of_status:
            self.wrong.append((self.name, message.text))


@pytest.fixture
def visitor(browser: Any, dashboard: ServedPages) -> Iterator[Visitor]:
    visitor = Visitor(browser, dashboard.cookies)
    yield visitor
    visitor.close()
    assert not visitor.wrong, "\n".join(map(str, visitor.wrong))


def test_every_page_is_among_those_looked_at(dashboard: ServedPages) -> None:
    assert set(dashboard.addresses) >= PAGES - _FRAGMENTS


def test_pages_of_members(visitor: Visitor, dashboard: ServedPages) -> None:
    for name, address in dashboard.addresses.items():
        visitor.visit(name, address)


@pytest.mark.parametrize("locale", ["de", "es", "fr", "it", "nl", "pt"])
def test_tables_have_room_at_a_desk(browser: Any, dashboard: ServedPages, locale: str) -> None:
    """However long the words of a language are."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce", locale=locale)
    context.add_cookies(dashboard.cookies)
    page = context.new_page()
    cut = []
    for name in _TABLES:
        page.goto(dashboard.addresses[name])
        assert page.locator("html").get_attribute("lang") == locale and page.locator(".table").count()
        cut += [name] if page.evaluate(_CUT_OFF) else []
    context.close()
    assert cut == []


def test_pages_that_forms_lead_to(visitor: Visitor, dashboard: ServedPages) -> None:
    """Secrets shown once, and a form with what was wrong with it."""
    page = visitor.page
    visitor.name = "secrets"
    page.goto(dashboard.addresses["new_application"])
    page.get_by_label("Name", exact=True).fill("Shop")
    page.get_by_role("button", name="Make the application").click()
    assert page.locator("[data-secret]").count() == 2
    visitor.look()
    visitor.name, visitor.expected = "a form with errors", 422
    page.goto(dashboard.addresses["applications"])
    page.get_by_label("API key", exact=True).fill("nobody's")
    page.get_by_role("button", name="Look it up").click()
    page.locator("[role=alert]").wait_for()
    visitor.look()


def test_pages_of_strangers(visitor: Visitor, dashboard: ServedPages, world: World) -> None:
    visitor.page.context.clear_cookies()
    for path in ("account/login/", "account/password/reset/", "account/signup/"):
        visitor.visit(path, f"{dashboard.base_url}/{path}")
    visitor.visit("no invitation", f"{dashboard.base_url}/invitations/unknown", 404)
    visitor.visit("not found", f"{dashboard.base_url}/app/nowhere", 404)
    visitor.visit("first owner", f"{dashboard.base_url}/account/first/unknown/", 410)
