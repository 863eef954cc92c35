"""Every page of the dashboard in Chromium: accessible in light and dark, narrow, without errors."""

import itertools
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from lab.pictures.lived_in import asked, signed
from tests.browser.contract import contract
from tests.browser.world import World, until
from tests.dashboard.editor_window import PASSWORD, owner_of
from tests.dashboard.matrix import PAGES
from tests.dashboard.served_pages import ServedPages
from tests.dashboard.test_accounts import code
from tests.pdf.pdf_factory import paper, text
from tests.scenarios.people import Backend, signer

pytestmark = pytest.mark.thorough

DESK, PHONE, NARROW = ({"width": width, "height": height} for width, height in ((1280, 900), (375, 740), (320, 640)))
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLORS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
_AGAIN = "options => axe.run(document, options)"  # axe is in the page already
_SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
_CUT_OFF = "[...document.querySelectorAll('.table')].filter(each => each.scrollWidth > each.clientWidth).length"
_BROKEN = """() => [...document.querySelectorAll("thead th, .steps a, button, .button, .status")].flatMap((each) => {
    const text = [...each.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && each.offsetParent);
    return text.flatMap((node) => [...node.data.matchAll(/[^\\s-]+/g)].filter((word) => {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        return new Set([...range.getClientRects()].map((rectangle) => rectangle.top)).size > 1;
    }).map(([word]) => word));
})"""
_TABLES = ("requests", "documents", "applications", "deliveries", "all_deliveries", "members", "activity", "plan")
_FRAGMENTS = {"key_used"}  # parts of a page, which its script asks for


class Visitor:
    """One window that goes from page to page; ``wrong`` gathers what is wrong with each."""

    def __init__(self, browser: Any, cookies: list[Any]) -> None:
        self.wrong: list[Any] = []
        self.name, self.expected = "", 200
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
        """Examine the open page, in light at a desk, and in dark on a phone."""
        for size, scheme in ((DESK, "light"), (PHONE, "dark")):
            self.page.set_viewport_size(size)
            self.page.emulate_media(color_scheme=scheme)
            self.wrong += [(self.name, scheme, *each) for each in self._violations(first=scheme == "light")]
        for size in (PHONE, NARROW):
            self.page.set_viewport_size(size)
            sideways = self.page.evaluate(_SIDEWAYS)
            self.wrong += [(self.name, "scrolls sideways", size["width"], sideways)] if sideways else []

    def close(self) -> None:
        self._context.close()

    def _violations(self, *, first: bool) -> Iterator[tuple[str, str]]:
        if first:
            found = Axe().run(self.page, options={"runOnly": _RULES, "resultTypes": ["violations"]}).response
        else:
            found = self.page.evaluate(_AGAIN, {"runOnly": _COLORS, "resultTypes": ["violations"]})
        for each in found["violations"]:
            yield each["id"], str([node["html"] for node in each["nodes"]])

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


@pytest.fixture
def window(browser: Any, dashboard: ServedPages) -> Iterator[Callable[..., Any]]:
    """Return a function that opens a window of the owner; options are those of Playwright's ``new_context``."""
    contexts = []

    def opened(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": DESK, "reduced_motion": "reduce", "locale": "en"} | options)
        context.add_cookies(dashboard.cookies)
        contexts.append(context)
        return context.new_page()

    yield opened
    for context in contexts:
        context.close()


def test_every_page_is_among_those_looked_at(dashboard: ServedPages) -> None:
    assert set(dashboard.addresses) >= PAGES - _FRAGMENTS


def test_pages_of_members(visitor: Visitor, dashboard: ServedPages) -> None:
    for name, address in dashboard.addresses.items():
        dashboard.keep_proven()
        visitor.visit(name, address)


@pytest.mark.parametrize(
    ("locale", "width"), [*((each, 1280) for each in ("de", "es", "fr", "it", "nl", "pt")), ("de", 390), ("de", 320)]
)
def test_words_have_room(window: Callable[..., Any], dashboard: ServedPages, locale: str, width: int) -> None:
    """No header or button breaks within a word, however long it is in a language, and tables have room at a desk."""
    page = window(viewport={"width": width, "height": 800}, locale=locale)
    wrong: list[Any] = []
    for name in (*_TABLES, "request", "draft_documents", "draft_places"):
        page.goto(dashboard.addresses[name])
        assert page.locator("html").get_attribute("lang") == locale
        wrong += [(name, word) for word in page.evaluate(_BROKEN)]
        if name in _TABLES and width == 1280:
            assert page.locator(".table").count()
            wrong += [name] if page.evaluate(_CUT_OFF) else []
    assert wrong == []


def test_an_open_page_of_a_request_tells_what_happens_by_itself(
    visitor: Visitor, dashboard: ServedPages, world: World
) -> None:
    of_one = ["--organization", "1", "--environment", "sandbox", "--name", "live"]
    backend = Backend(world.base_url, world.command("application", "create", *of_one)["api_key"])
    made = asked(backend, contract(2), "live.pdf", [signer("ada", "Ada", "King")])
    page = visitor.page
    polls: list[float] = []
    page.on("request", lambda sent: polls.append(time.monotonic()) if "seen=" in sent.url else None)
    page.goto(f"{dashboard.base_url}/app/1/requests/{made['id']}")
    page.evaluate("window.kept = true")
    expect(page.locator(".outcome").get_by_role("status")).to_have_text("Ready to sign. Waiting for Ada King.")
    verify = page.locator("a", has_text="Verify")
    expect(verify).to_have_count(0)
    expect(page.locator("#pages g.place")).to_have_count(1)
    page.evaluate("document.querySelector('#pages').scrollTop = 99")
    signed(backend, made)
    sealed = page.locator(".outcome").get_by_role("status")
    expect(sealed).to_have_text("Everyone has signed. The documents are sealed.", timeout=60_000)
    first = page.locator(".outcome .button").first
    expect(first).to_have_text("Download the signed PDF")
    expect(verify).to_have_count(1)
    expect(page.locator("#pages g.place")).to_have_count(0)
    expect(page.locator("#pages")).to_have_js_property("scrollTop", 99)
    assert page.evaluate("window.kept") and polls
    assert all(later - earlier > 2.8 for earlier, later in itertools.pairwise(polls))
    visitor.look()


def test_the_pages_of_a_request_are_large_and_beside_its_signers(
    window: Callable[..., Any], dashboard: ServedPages
) -> None:
    page = window(viewport={"width": 1280, "height": 720})
    page.goto(dashboard.addresses["request"])
    picture, signers = page.locator("#pages img").first, page.locator("section", has=page.locator("#signers"))
    pictured, people = picture.bounding_box(), signers.bounding_box()
    assert pictured["width"] > 500 and pictured["x"] + pictured["width"] < people["x"]
    assert max(pictured["y"], people["y"]) < 720 - 200, "both are in view"
    assert picture.evaluate("(image) => image.naturalWidth") > 1000
    page.locator("#pages").focus()
    page.keyboard.press("End")
    expect(page.locator("#pages")).not_to_have_js_property("scrollTop", 0)
    menu = page.locator(".line .menu").first
    menu.locator("summary").press("Enter")
    expect(menu.get_by_role("button", name="Show the signing link")).to_be_visible()
    page.keyboard.press("Escape")
    expect(menu.get_by_role("button", name="Show the signing link")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    page.set_viewport_size({"width": 390, "height": 844})
    assert signers.bounding_box()["y"] < picture.bounding_box()["y"], "on a phone the signers come first"


def test_moments_are_told_in_the_readers_zone(window: Callable[..., Any], dashboard: ServedPages) -> None:
    page = window(timezone_id="Asia/Tokyo")
    page.goto(dashboard.addresses["request"])
    time_of = page.locator("dl.facts time").first
    utc = datetime.fromisoformat(time_of.get_attribute("datetime") or "")
    expect(time_of).to_contain_text(f"{utc + timedelta(hours=9):%H:%M}")
    assert f"{utc:%Y-%m-%d %H:%M} UTC" == time_of.get_attribute("title")
    for locale, form in {"en": "%d %b %Y", "en-GB": "%d %b %Y", "en-US": "%b %d, %Y"}.items():
        other = window(locale=locale, timezone_id="UTC")
        other.goto(dashboard.addresses["request"])
        written = re.sub(r"\b0(?=\d)", "", f"{utc:{form}}")
        expect(other.locator("dl.facts time").first).to_have_text(re.compile(f"^{re.escape(written)}"))
    page.goto(dashboard.addresses["requests"])
    assert page.evaluate(
        "[...document.querySelectorAll('td > time')].every((each) => each.getClientRects().length === 1)"
    )


def test_keys_search_begin_a_request_and_show_themselves(window: Callable[..., Any], dashboard: ServedPages) -> None:
    page = window()
    page.goto(dashboard.addresses["requests"])
    page.keyboard.press("/")
    search = page.get_by_role("searchbox")
    expect(search).to_be_focused()
    page.keyboard.type("n?/")
    expect(search).to_have_value("n?/")
    search.blur()
    sheet = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.keyboard.press("?")
    expect(sheet).to_be_visible()
    page.keyboard.press("Escape")
    expect(sheet).to_be_hidden()
    page.goto(dashboard.addresses["members"])
    page.keyboard.press("/")
    page.wait_for_url("**/requests")
    page.keyboard.press("n")
    page.wait_for_url("**/drafts/*/documents")


@pytest.mark.parametrize("size", [(1280, 720, 2500), (1440, 900, 2900)])
def test_send_is_in_view_beside_the_pages_wherever_they_are_read(
    window: Callable[..., Any], dashboard: ServedPages, size: tuple[int, int, int]
) -> None:
    width, height, longest = size
    page = window(viewport={"width": width, "height": height})
    page.goto(dashboard.addresses["draft_review"])
    controls = [page.get_by_label(name) for name in ("Subject", "Message", "Expires in", "Remind every", "Language")]
    for part in (0, 0.5, 1):
        page.evaluate("(part) => scrollTo(0, part * document.documentElement.scrollHeight)", part)
        for each in [
            page.get_by_role("button", name="Send", exact=True),
            page.get_by_text("code by e-mail"),
            *controls,
        ]:
            expect(each.first).to_be_in_viewport(ratio=1)
    assert page.evaluate("document.documentElement.scrollHeight") < longest
    assert page.evaluate("document.querySelector('.sheet').clientWidth") > 480, "large enough to read"


@pytest.mark.parametrize("scripts", [True, False])
def test_a_page_of_the_review_is_enlarged_and_left_by_keyboard(
    window: Callable[..., Any], dashboard: ServedPages, scripts: bool
) -> None:
    page = window(java_script_enabled=scripts)
    page.goto(dashboard.addresses["draft_review"])
    button = page.get_by_role("button", name="Enlarge page 2")
    button.press("Enter")
    large = page.get_by_role("dialog", name="Page 2")
    expect(large.locator("use")).to_be_visible()
    if scripts:
        page.wait_for_function(
            "() => [...document.querySelectorAll('.large img')].some((each) => each.naturalWidth > 1200)"
        )
    page.keyboard.press("Escape")
    expect(large).to_be_hidden()
    expect(button).to_be_focused()


def test_what_is_written_on_review_stays_without_a_press(window: Callable[..., Any], dashboard: ServedPages) -> None:
    page = window()
    page.goto(dashboard.addresses["draft_review"])
    with page.expect_response(lambda answer: answer.request.method == "POST") as saved:
        page.get_by_label("Subject").fill("Your lease")
        page.get_by_label("Message").focus()
    assert saved.value.status == 204
    page.reload()
    expect(page.get_by_label("Subject")).to_have_value("Your lease")


def test_adding_somebody_leads_to_the_next_row(window: Callable[..., Any], dashboard: ServedPages) -> None:
    page = window()
    page.goto(dashboard.addresses["draft_signers"])
    for button in ("Add signer", "Move up"):
        page.get_by_role("button", name=button).first.click()
        row = page.locator("[data-signer]").nth(2 if button == "Add signer" else 0)
        expect(row.get_by_label("E-mail")).to_be_focused()
    page.get_by_role("button", name="Move up").first.click()


def test_pages_that_forms_lead_to(visitor: Visitor, dashboard: ServedPages) -> None:
    """One page shows secrets once, the other a form with its errors."""
    page = visitor.page
    visitor.name = "secrets"
    page.goto(dashboard.addresses["new_application"])
    page.get_by_label("Name", exact=True).fill("Shop")
    page.get_by_role("button", name="Create the application").click()
    assert page.locator("[data-secret]").count() == 2
    visitor.look()
    visitor.name, visitor.expected = "a form with errors", 422
    page.goto(dashboard.addresses["applications"])
    page.get_by_label("API key", exact=True).fill("nobody's")
    page.get_by_role("button", name="Look up").click()
    page.locator("[role=alert]").wait_for()
    visitor.look()


def test_pages_of_strangers(visitor: Visitor, dashboard: ServedPages, world: World) -> None:
    visitor.page.context.clear_cookies()
    for path in ("account/login/", "account/password/reset/", "account/signup/"):
        visitor.visit(path, f"{dashboard.base_url}/{path}")
    visitor.visit("no invitation", f"{dashboard.base_url}/invitations/unknown", 404)
    visitor.visit("not found", f"{dashboard.base_url}/app/nowhere", 404)
    visitor.visit("first owner", f"{dashboard.base_url}/account/first/unknown/", 410)


def test_a_pdf_is_uploaded_placed_and_sent_without_scripts(
    visit: Callable[..., Any], world: World, dashboard: ServedPages, tmp_path: Path
) -> None:
    """A member logs in and uses plain forms; the signatures stand under the tags."""
    page = visit(f"{dashboard.base_url}/account/login/?next=/app/1/drafts", java_script_enabled=False)
    page.locator("[name=login]").fill(owner_of(1))
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.get_by_role("button", name="New request").click()

    file = tmp_path / "rent.pdf"
    file.write_bytes(paper(text("{{ada}}", 72, 500), text("{{grace}}", 72, 300)))
    page.get_by_label("PDF file", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("link", name="rent.pdf").wait_for()
    go_on(page, "signers")

    enter_signer(page, 0, "Ada", "Byron", "ada@rent.example")
    page.get_by_role("button", name="Add signer").click()
    enter_signer(page, 1, "Grace", "Hopper", "grace@rent.example")
    go_on(page, "places")

    go_on(page, "review")
    assert page.locator("g.place").count() == 2
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/app/1/requests/*")
    assert page.locator(".line li", has_text="Grace Hopper").count() == 1
    until(lambda: {"ada@rent.example", "grace@rent.example"} <= {message["to"] for message in world.inbox()})


def enter_signer(page: Any, number: int, *values: str) -> None:
    signer = page.locator("[data-signer]").nth(number)
    for label, value in zip(("First name", "Last name", "E-mail"), values, strict=True):
        signer.get_by_label(label, exact=True).fill(value)


def go_on(page: Any, step: str) -> None:
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_url(f"**/{step}")


def test_the_page_of_operators(browser: Any, world: World) -> None:
    """A new operator arrives by a link, then sets up an authenticator app, then enters its code in this session."""
    link = world.command("operator", "add", "olga@operators.example")["link"]
    visitor = Visitor(browser, [])
    page, base = visitor.page, world.base_url
    page.goto(link)
    for name in ("password1", "password2"):
        page.locator(f"[name={name}]").fill(PASSWORD)
    page.locator("main button.primary").click()
    page.goto(f"{base}/account/2fa/totp/activate/")
    if "/reauthenticate/" in page.url:
        page.locator("[type=password]").fill(PASSWORD)
        page.locator("main button.primary").click()
    page.locator("[name=code]").fill(code(page.locator("dd code").inner_text()))
    page.locator("main button.primary").click()
    page.goto(f"{base}/account/2fa/recovery-codes/")
    [spare, *_] = re.findall(r"\b\d{8}\b", page.content())
    visitor.name = "operator"
    page.goto(f"{base}/operator")
    page.locator("[name=code]").fill(spare)
    page.locator("main button.primary").click()
    page.wait_for_url(f"{base}/operator")
    until(lambda: page.goto(f"{base}/operator") and "Database" in page.content())  # the checks are done
    for language in ("en", "pt"):
        page.set_extra_http_headers({"Accept-Language": language})
        visitor.visit("operator", f"{base}/operator")
        visitor.visit("operator_organization", f"{base}/operator/organizations/1")
    visitor.close()
    world.command("operator", "remove", "olga@operators.example")
    assert not visitor.wrong, "\n".join(map(str, visitor.wrong))
