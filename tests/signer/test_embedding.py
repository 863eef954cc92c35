"""Signing pages in frames of other sites: which sites may frame them, and what those sites are told."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Application
from tests.chromium import CHROMIUM, launch
from tests.factories import Scene
from tests.loopback import site

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which(CHROMIUM) is None, reason=f"{CHROMIUM} is missing: apt install chromium"),
    pytest.mark.django_db(transaction=True),
]
DOCUMENT = Path(__file__).parents[2] / "docs" / "embedding.md"
HEAR = """
window.told = [];
addEventListener("message", ({ data, origin }) => window.told.push({ ...data, origin }));
"""


def listing(made: Scene, *origins: str) -> Scene:
    application = made.request.application
    assert application
    Application.objects.filter(pk=application.pk).update(frame_origins=" ".join(origins))
    return made


def example(base_url: str, made: Scene) -> str:
    """The page of docs/embedding.md, with the addresses of this service."""
    found = re.search(r"```html\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found
    html = found.group(1).replace("https://sign.example.com/sign/SIGNING-TOKEN", base_url + made.url())
    return html.replace("https://sign.example.com", base_url)


@contextmanager
def visited(origin: str, *options: str) -> Iterator[Any]:
    """Yield the site's page in Chromium. Touch no row meanwhile: Django takes the browser's event loop for its own."""
    with sync_api.sync_playwright() as playwright:
        browser = launch(playwright, *options)
        page = browser.new_page()
        page.add_init_script(HEAR)
        page.goto(origin)
        yield page
        browser.close()


def told(page: Any, kind: str) -> dict[str, Any]:
    """Wait for a message of this kind to the host, and return it."""
    handle = page.wait_for_function(f"() => window.told.find(({{ type }}) => type === 'paraph:{kind}')")
    found: dict[str, Any] = handle.json_value()
    return found


def sign_within(page: Any) -> None:
    frame = page.frame_locator("iframe")
    frame.locator(".bar a.primary").click()
    frame.get_by_role("link", name="Continue").click()
    frame.get_by_role("button", name="Send code").click()
    status = frame.locator("#code-status").filter(has_text=re.compile(r"\d{6}"))
    code = re.search(r"\b\d{6}\b", status.inner_text())
    assert code
    frame.get_by_role("checkbox", name="I have read").check()
    frame.get_by_role("textbox", name="6-digit code").fill(code.group())
    frame.get_by_role("button", name=re.compile("^Sign .*document")).click()


@pytest.mark.parametrize("options", [(), ("--test-third-party-cookie-phaseout",)])
def test_the_example_of_the_docs_signs_and_hears_of_it(live_server: Any, options: tuple[str, ...], made: Scene) -> None:
    with site(lambda: example(live_server.url, made)) as host:
        listing(made, "https://first.example", host)
        with visited(host, *options) as page:
            told(page, "ready")
            assert told(page, "height")["height"] > 300
            sign_within(page)
            signed = told(page, "signed")
            page.wait_for_function("() => document.title === 'Signed, thank you'")
            assert told(page, "code_sent") and told(page, "activity")
            everything = page.evaluate("JSON.stringify(window.told)")
            size = page.locator("iframe").evaluate("frame => [frame.title, frame.allow, frame.style.height]")
    assert signed == {"type": "paraph:signed", "origin": live_server.url}
    assert made.url().removeprefix("/sign/") not in everything
    assert size[:2] == ["Sign the contract", ""] and re.fullmatch(r"\d+px", size[2])


def test_another_site_sees_and_hears_nothing(live_server: Any, made: Scene) -> None:
    with site(lambda: example(live_server.url, made)) as listed, site(lambda: example(live_server.url, made)) as other:
        listing(made, listed)
        with visited(other) as page:
            refusals: list[str] = []
            page.on("console", lambda message: refusals.append(message.text))
            page.reload(wait_until="networkidle")
            assert any("frame-ancestors" in refusal for refusal in refusals)
            assert page.evaluate("window.told") == []


def test_without_a_list_a_message_is_its_type_alone(live_server: Any, made: Scene) -> None:
    """Only the frame is heard: neither the host's own page nor another frame on it can speak for it."""
    with site(lambda: example(live_server.url, made)) as host, visited(host) as page:
        told(page, "ready")
        assert told(page, "height") == {"type": "paraph:height", "origin": live_server.url}
        page.evaluate("postMessage({ type: 'paraph:expired' }, '*')")
        told(page, "expired")
        assert page.locator("iframe").count() == 1
        sign_within(page)
        assert told(page, "signed") == {"type": "paraph:signed", "origin": live_server.url}


def test_the_host_is_told_why_there_is_nothing_to_sign(live_server: Any, made: Scene) -> None:
    SignatureRequest.objects.update(expires_at=clock.now(), status="expired")
    with site(lambda: example(live_server.url, made)) as host, visited(host) as page:
        told(page, "expired")
        page.locator("iframe").wait_for(state="detached")
