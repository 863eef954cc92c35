"""A page on a kind of screen, and pictures of it."""

from pathlib import Path
from typing import Any

from playwright.sync_api import expect

SCREENS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 375, "height": 740}},
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 375, "height": 740}, "color_scheme": "dark"},
    "arabic": {"viewport": {"width": 375, "height": 740}},
    "landscape": {"viewport": {"width": 740, "height": 360}},
    "narrow": {"viewport": {"width": 320, "height": 640}},
    "no-scripts": {"viewport": {"width": 375, "height": 740}, "java_script_enabled": False},
}


def opened(browser: Any, url: str, screen: str) -> Any:
    return visited(context(browser, screen), url, screen)


def context(browser: Any, screen: str) -> Any:
    return browser.new_context(**SCREENS.get(screen, SCREENS["phone"]), reduced_motion="reduce")


def visited(context: Any, url: str, screen: str) -> Any:
    page = context.new_page()
    page.goto(f"{url}?lang=ar" if screen == "arabic" else url)
    page.wait_for_load_state("networkidle")
    return page


def printed(page: Any, folder: Path, name: str, screen: str) -> None:
    if screen in ("desk", "arabic", "no-scripts"):
        page.pdf(path=folder / f"{name}.{screen}.print.pdf", format="A4")


def picture(page: Any, folder: Path, name: str, screen: str, *, whole: bool = True) -> None:
    if whole:
        for each in page.locator("img").all():
            if each.is_visible():
                _loaded(each)
        page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=folder / f"{name}.{screen}.png", full_page=whole, animations="disabled")


def _loaded(image: Any) -> None:
    """Wait for an image, which is loaded only when it comes near the view."""
    image.scroll_into_view_if_needed()
    expect(image).to_have_js_property("complete", True, timeout=30_000)
