"""Signing pages in frames of other sites: which sites may frame them, and what those sites are told. Browsers of these
tests deny cookies of other sites."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.browser.journey import Journey
from tests.browser.world import World, until
from tests.clients import typescript
from tests.loopback import site

DOCUMENT = Path(__file__).parents[2] / "docs" / "embedding.md"
HEAR = """
window.told = [];
addEventListener("message", ({ data, origin }) => window.told.push({ ...data, origin }));
"""


@pytest.fixture
def listing(world: World) -> Iterator[Callable[[str], object]]:
    """Return a function that lets this site alone frame pages, until the test ends."""
    application = str(world.backend and world.application_id)
    yield lambda origin: world.command("application", "update", application, "--frame-origin", origin)
    world.command("application", "update", application, "--any-frame-origin")


@contextmanager
def other_site(content: str) -> Iterator[str]:
    with site(lambda: content) as origin:
        yield origin.replace("127.0.0.1", "localhost")


def example(world: World, url: str) -> str:
    """The page of docs/embedding.md, with the addresses of this service."""
    found = re.search(r"```html\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    assert found
    html = found.group(1).replace("https://sign.example.com/sign/SIGNING-TOKEN", url)
    return html.replace("https://sign.example.com", world.base_url)


def hearing(page: Any, origin: str) -> Any:
    """Have the page show the site, and note what it is told there."""
    page.add_init_script(HEAR)
    page.goto(origin)
    return page


def told(page: Any, kind: str) -> dict[str, Any]:
    """Wait for a message of this kind to the host, and return it."""
    handle = page.wait_for_function(f"() => window.told.find(({{ type }}) => type === 'paraph:{kind}')")
    found: dict[str, Any] = handle.json_value()
    return found


def test_the_example_of_the_docs_signs_and_hears_of_it(
    visit: Callable[..., Any], world: World, listing: Callable[[str], object]
) -> None:
    url = world.asked()[0]
    with other_site(example(world, url)) as host:
        listing(host)
        page = hearing(visit("about:blank"), host)
        told(page, "ready")
        assert told(page, "height")["height"] > 300
        Journey(page.frame_locator("iframe")).whole()
        signed = told(page, "signed")
        page.wait_for_function("() => document.title === 'Signed, thank you'")
        assert told(page, "code_sent") and told(page, "activity")
        everything = page.evaluate("JSON.stringify(window.told)")
        size = page.locator("iframe").evaluate("frame => [frame.title, frame.allow, frame.style.height]")
    assert signed == {"type": "paraph:signed", "origin": world.base_url}
    assert url.rpartition("/")[2] not in everything
    assert size[:2] == ["Sign the contract", ""] and re.fullmatch(r"\d+px", size[2])


@pytest.mark.thorough
def test_another_site_sees_and_hears_nothing(browser: Any, world: World, listing: Callable[[str], object]) -> None:
    listing("https://listed.example")
    with other_site(example(world, world.asked()[0])) as other, browser.new_page() as page:
        refusals: list[str] = []
        page.on("console", lambda message: refusals.append(message.text))
        hearing(page, other).wait_for_load_state("networkidle")
        assert any("frame-ancestors" in refusal for refusal in refusals)
        assert page.evaluate("window.told") == []


@pytest.mark.thorough
def test_without_a_list_a_message_is_its_type_alone(visit: Callable[..., Any], world: World) -> None:
    """Only the frame is heard: neither the host's own page nor another frame on it can speak for it."""
    with other_site(example(world, world.asked()[0])) as host:
        page = hearing(visit("about:blank"), host)
        told(page, "ready")
        assert told(page, "height") == {"type": "paraph:height", "origin": world.base_url}
        page.evaluate("postMessage({ type: 'paraph:expired' }, '*')")
        told(page, "expired")
        assert page.locator("iframe").count() == 1
        Journey(page.frame_locator("iframe")).whole()
        assert told(page, "signed") == {"type": "paraph:signed", "origin": world.base_url}


@pytest.mark.thorough
def test_the_host_is_told_why_there_is_nothing_to_sign(visit: Callable[..., Any], world: World) -> None:
    with other_site(example(world, world.state("expired"))) as host:
        page = hearing(visit("about:blank", statuses=(410,)), host)
        told(page, "expired")
        page.locator("iframe").wait_for(state="detached")


@pytest.mark.thorough
def test_embedded_by_the_typescript_client(visit: Callable[..., Any], world: World) -> None:
    script = (typescript.compiled_client() / "src" / "embed.js").read_text()
    host = f"""<!doctype html><title>Host</title><main></main><script type="module">{script}
        window.told = [];
        const onEvent = (event) => window.told.push(event.type);
        const signing_url = "{world.asked(signers=2)[0]}", element = document.querySelector("main");
        window.shown = embed({{ element, signing_url, onEvent }});
    </script>"""
    with other_site(host) as origin:
        page = visit(origin)
        Journey(page.frame_locator("iframe[title=Signing]")).whole()
        until(lambda: "paraph:signed" in page.evaluate("told"))
        assert "paraph:height" in page.evaluate("told")
        page.evaluate("shown.remove()")
        assert page.locator("iframe").count() == 0
