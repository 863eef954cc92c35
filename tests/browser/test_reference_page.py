"""``/docs`` in a browser: it can be searched, copied from, tried with a sandbox key, and read by everybody."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.world import SIDEWAYS, World

CREATION = "createSignatureRequest"
OF_EACH_KIND = ["", "/errors", "/documents", "/webhooks", "/signer-endpoints", "/plans"]
PHONE, DESK = {"width": 375, "height": 760}, {"width": 1280, "height": 900}


class Reader:
    """Somebody with the page open. ``calls``: the calls that it made."""

    def __init__(self, page: Any, base_url: str, path: str) -> None:
        self.page, self.url, self.calls = page, f"{base_url}/docs", list[tuple[str, str]]()
        page.set_default_timeout(120_000)  # machines that run tests are busy
        page.on("request", lambda request: self.calls.append((request.method, request.url.removeprefix(base_url))))
        page.goto(self.url + path)

    def try_it(self, operation: str, key: str = "", **values: Any) -> Any:
        """Send the form of the operation; return the outcome once it is there."""
        panel = self.page.locator(".try", has=self.page.locator(f"form[data-operation={operation}]"))
        if not panel.evaluate("each => each.open"):
            panel.locator("summary").first.click()
        if key:
            panel.get_by_label("Sandbox key").fill(key)
        for name, value in values.items():
            field = panel.locator(f"[name={name}]")
            field.set_input_files(value) if name == "file" else field.fill(value)
        panel.get_by_role("button", name="Send").click()
        outcome = panel.locator(".outcome")
        outcome.locator("p").first.wait_for()
        panel.get_by_role("status").filter(has_text=re.compile(r"\S")).wait_for(state="attached")  # for screen readers
        return outcome

    def api_calls(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.calls if path.startswith("/api/")]


OpenPage = Callable[..., Reader]


@pytest.fixture
def open_page(visit: Callable[..., Any], world: World) -> Iterator[OpenPage]:
    """Yield a function that opens the page; refusals are wanted, and nothing may be loaded from elsewhere."""
    readers: list[Reader] = []

    def opened(path: str = "", **context: Any) -> Reader:
        page = visit("about:blank", statuses=(401, 402, 415, 422), **{"viewport": DESK, **context})
        readers.append(Reader(page, world.base_url, path))
        return readers[-1]

    yield opened
    for reader in readers:
        assert all(path.startswith("/") for _, path in reader.calls), "something was loaded from elsewhere"


@pytest.mark.thorough
@pytest.mark.parametrize(("viewport", "scheme"), [(PHONE, "dark"), (DESK, "light")], ids=["phone", "desk"])
def test_everybody_can_read_it(open_page: OpenPage, viewport: dict[str, int], scheme: str) -> None:
    """No violation, no sideways scroll, no sample cut off at the right."""
    reader = open_page(viewport=viewport, color_scheme=scheme)
    page = reader.page
    for path in OF_EACH_KIND:
        page.goto(reader.url + path)
        page.evaluate("for (const each of document.querySelectorAll('.code details')) each.open = true")
        assert page.evaluate(SIDEWAYS) == 0
        cut = page.evaluate("""[...document.querySelectorAll("pre, code, figure, .code")]
            .filter((each) => each.clientWidth && each.scrollWidth > each.clientWidth + 1)
            .map((each) => each.outerHTML.slice(0, 200))""")
        assert cut == []
        page.get_by_role("searchbox").fill("signers")
        page.locator(".results a").first.wait_for()
        list_ = page.locator(".results").bounding_box()
        assert list_["x"] >= 0 and list_["x"] + list_["width"] <= viewport["width"]
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.thorough
@pytest.mark.parametrize("path", ["/signature-requests", ""])
def test_on_a_slow_phone(open_page: OpenPage, path: str) -> None:
    """Slow 4G, and a processor four times as slow. An idle machine takes two seconds, one that runs tests more."""
    reader = open_page("/all", viewport=PHONE)
    page = reader.page.context.new_page()
    session = page.context.new_cdp_session(page)
    slow_4g = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 94_000}
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.send("Network.emulateNetworkConditions", slow_4g)
    session.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    page.goto(reader.url + path)
    paint = page.evaluate("""() => new Promise((resolve) => new PerformanceObserver((list) =>
        resolve(list.getEntries().at(-1).startTime)).observe({ type: "largest-contentful-paint", buffered: true }))""")
    loaded = page.evaluate("""performance.getEntriesByType("resource").reduce((sum, each) => sum + each.encodedBodySize,
        performance.getEntriesByType("navigation")[0].encodedBodySize)""")
    assert 0 < paint < 6_000
    assert loaded < 50_000


@pytest.mark.thorough
def test_anchors_of_other_topics_lead_to_their_pages(open_page: OpenPage) -> None:
    """Links from the time when everything was on one page still work."""
    reader = open_page()
    for old, page in (
        ("#uploadDocument", "/documents#uploadDocument"),
        ("#error-rate_limited", "/errors#error-rate_limited"),
        ("#webhooks", "/webhooks"),
        ("/plans#start", ""),
        ("#createSignatureRequest-body-signature_request.validity_days",
         "/signature-requests#createSignatureRequest-body-signature_request.validity_days"),
    ):  # fmt: skip
        reader.page.goto("about:blank")
        reader.page.goto(reader.url + old)
        reader.page.wait_for_url(reader.url + page)


def test_search_finds_calls_fields_errors_and_messages(open_page: OpenPage) -> None:
    page = open_page("/documents").page
    field, results = page.get_by_role("searchbox"), page.locator(".results a")
    page.keyboard.press("/")
    assert field.evaluate("each => each === document.activeElement")
    for asked, title, target in (
        ("audit log", "List the audit log of a request", "/docs/signature-requests#listAuditLogs"),
        ("validity_days", "signature_request.validity_days",
         f"/docs/signature-requests#{CREATION}-body-signature_request.validity_days"),
        ("429 rate limited", "429 rate_limited", "/docs/errors#error-rate_limited"),
        ("invalid_otp", "422 invalid_otp", "/docs/signer-endpoints#signer-error-invalid_otp"),
        ("The file is not a PDF.", "422 validation_error", "#uploadDocument-error-validation_not_a_pdf"),
        ("request.completed", "request.completed", "/docs/webhooks#webhook-request-completed"),
        ("POST /sign/{token}/otp", "Send a one-time code", "/docs/signer-endpoints#sendCode"),
        ("rate limits", "Rate limits", "/docs/rate-limits"),
    ):  # fmt: skip
        field.fill(asked)
        page.locator(".results:not([hidden])").get_by_text(title, exact=True).first.wait_for()
        first = results.first
        assert (first.locator(".title").inner_text(), first.get_attribute("href")) == (title, target)
    field.fill("nothing is called so")
    page.get_by_text("No results for “nothing is called so”.").wait_for()
    assert results.count() == 0
    field.fill("")
    page.keyboard.type("signer")
    results.nth(1).wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate("document.activeElement.getAttribute('href')")
    assert chosen == results.nth(1).get_attribute("href")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{chosen}")
    assert not page.locator(".results").is_visible()
    page.keyboard.press("/")
    page.keyboard.press("Escape")
    assert not page.locator(".results").is_visible()


def test_samples_are_copied_and_the_language_is_kept(open_page: OpenPage) -> None:
    reader = open_page("/documents", permissions=["clipboard-read", "clipboard-write"])
    page = reader.page
    panel = page.locator("article", has=page.locator("#uploadDocument"))
    assert panel.locator("#curl-uploadDocument").is_visible()
    assert not panel.locator("#typescript-uploadDocument").is_visible()
    panel.get_by_role("tab", name="TypeScript").click()
    assert (
        page.locator("#typescript-listDocuments").is_visible() and not page.locator("#curl-listDocuments").is_visible()
    )
    panel.get_by_role("button", name="Copy: Upload a PDF with TypeScript").click()
    panel.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#typescript-uploadDocument").text_content()
    panel.get_by_role("tab", name="TypeScript").press("ArrowLeft")
    assert page.locator("#python-uploadDocument").is_visible()
    page.goto(f"{reader.url}/events")
    assert page.locator("#python-listEvents").is_visible()


def test_the_whole_way_can_be_tried(open_page: OpenPage, world: World) -> None:
    reader = open_page("/documents")
    key = world.new_key("free", "sandbox")
    assert "201 Created" in reader.try_it("uploadDocument", key).inner_text()  # the empty PDF that the page brings
    assert "422" in reader.try_it("listDocuments", created_after="yesterday").inner_text()  # with the key from above
    reader.page.goto(f"{reader.url}/signature-requests")
    outcome = reader.try_it("createSignatureRequest", key)  # with the document uploaded above
    assert "201 Created" in outcome.inner_text()
    signing = outcome.get_by_role("link").filter(has_text="/sign/")
    assert (
        signing.get_attribute("href").startswith(world.base_url)
        and signing.get_attribute("rel") == "noopener noreferrer"
    )
    read = reader.try_it("readSignatureRequest")
    assert '"pending"' in read.inner_text()
    read.get_by_text("Headers of the answer").click()
    read.get_by_text("Request", exact=True).click()
    assert "x-ratelimit-remaining: " in read.inner_text() and "GET /api/v1/signature_requests/" in read.inner_text()
    assert key not in reader.page.locator("main").inner_text()


def test_a_file_can_be_chosen(open_page: OpenPage, world: World, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG")
    reader = open_page("/documents", viewport=PHONE)
    outcome = reader.try_it("uploadDocument", world.new_key("free", "sandbox"), file=picture)
    assert "415" in outcome.inner_text() or "422" in outcome.inner_text()
    assert "image/png" in outcome.inner_text()


@pytest.mark.parametrize("plan", ["pro", pytest.param("free", marks=pytest.mark.thorough)])
def test_a_production_key_is_refused_and_forgotten(open_page: OpenPage, world: World, plan: str) -> None:
    """The page uses the key only to ask for its environment."""
    reader = open_page("/documents")
    key = world.new_key(plan, "production")
    outcome = reader.try_it("uploadDocument", key)
    assert "This is a production key." in outcome.inner_text()
    assert reader.api_calls() == [("GET", "/api/v1/health")]
    assert {each.input_value() for each in reader.page.locator(".key").all()} == {""}


def test_what_is_no_key_is_sent_nowhere_and_a_key_is_kept_nowhere(open_page: OpenPage, world: World) -> None:
    reader = open_page("/service")
    assert "64 hexadecimal characters" in reader.try_it("readHealth", "secret").inner_text()
    assert reader.api_calls() == []
    assert "The call was not made" in reader.try_it("readHealth", "0" * 64).inner_text()
    key = world.new_key("free", "sandbox")
    assert "200 OK" in reader.try_it("readHealth", key).inner_text()
    state = reader.page.context.storage_state()
    assert state["cookies"] == [] and key not in str(state)
    reader.page.reload()
    assert {each.input_value() for each in reader.page.locator(".key").all()} == {""}


def test_without_scripts_it_is_whole(open_page: OpenPage) -> None:
    page = open_page("/documents", java_script_enabled=False).page
    for part in ("#curl-uploadDocument", "#python-uploadDocument", "#typescript-uploadDocument", "nav .list", ".turns"):
        assert page.locator(part).is_visible()
    assert not page.locator(".search").is_visible() and not page.locator(".try").first.is_visible()
