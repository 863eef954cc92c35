"""Pictures of signing pages: every state and step, on every kind of screen."""

from pathlib import Path
from typing import Any

from tests.browser.journey import Journey
from tests.browser.world import World

SCREENS: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 375, "height": 740}},
    "desk": {"viewport": {"width": 1280, "height": 900}},
    "dark": {"viewport": {"width": 375, "height": 740}, "color_scheme": "dark"},
    "arabic": {"viewport": {"width": 375, "height": 740}},
    "landscape": {"viewport": {"width": 740, "height": 360}},
    "narrow": {"viewport": {"width": 320, "height": 640}},
    "no-scripts": {"viewport": {"width": 375, "height": 740}, "java_script_enabled": False},
}
LONG_WORDS = ["de", "el", "fi", "tr", "uk", "hu"]
STATES = ["not_your_turn", "expired", "already_signed", "sealed", "locked", "not_found", "ask", "text"]


def states(world: World, browser: Any, folder: Path) -> None:
    """What stands there instead of something to sign."""
    for state in STATES:
        for branded in (False, True):
            url = world.state(state, branded=branded)
            for screen in ["branded"] if branded else SCREENS:
                page = _open(browser, url, screen)
                _picture(page, folder, state, screen)


def steps(world: World, browser: Any, folder: Path) -> None:
    """The journey, step by step."""
    for screen in [*SCREENS, "branded"]:
        url = world.asked(branded=screen == "branded", initials_required=True, more={"phone": "+46701740605"})[0]
        _steps(_open(browser, url, screen), folder, screen)


def _steps(page: Any, folder: Path, screen: str) -> None:
    _picture(page, folder, "step-1-read", screen, whole=False)
    _picture(page, folder, "step-1-read-whole", screen)
    _print(page, folder, "step-1-read", screen)
    journey = Journey(page)
    journey.to_signature()
    _picture(page, folder, "step-2-typed", screen)
    if screen == "no-scripts":
        page.locator("#sign [href='#confirm']").click()
        page.locator("[data-sign]").click()
        _picture(page, folder, "step-3-problems", screen)
        return
    journey.draw("signature")
    page.wait_for_load_state("networkidle")
    _picture(page, folder, "step-2-drawn", screen)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    _picture(page, folder, "step-2-full-screen", screen, whole=False)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    page.goto(f"{page.url.partition('#')[0]}#read")
    page.locator("[data-next]").click()
    page.wait_for_load_state("networkidle")
    _picture(page, folder, "step-1-place", screen, whole=False)
    journey.to_signature()
    journey.to_confirm()
    page.locator("[data-sign]").click()
    _picture(page, folder, "step-3-problems", screen)
    journey.confirm()
    page.locator("[data-progress=ready]").wait_for()
    _picture(page, folder, "done", screen)
    _print(page, folder, "done", screen)


def languages(world: World, browser: Any, folder: Path) -> None:
    """Long words, on a narrow screen."""
    url = world.asked(initials_required=True, more={"phone": "+46701740605"})[0]
    for language in LONG_WORDS:
        page = _open(browser, f"{url}?lang={language}", "narrow")
        _picture(page, folder, "language-1-read", language, whole=False)
        for number, step in enumerate(("sign", "confirm"), 2):
            page.goto(f"{url}?lang={language}#{step}")
            _picture(page, folder, f"language-{number}-{step}", language)


def _open(browser: Any, url: str, screen: str) -> Any:
    context = browser.new_context(**SCREENS.get(screen, SCREENS["phone"]), reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{url}?lang=ar" if screen == "arabic" else url)
    page.wait_for_load_state("networkidle")
    return page


def _print(page: Any, folder: Path, name: str, screen: str) -> None:
    if screen in ("desk", "arabic", "no-scripts"):
        page.pdf(path=folder / f"{name}.{screen}.print.pdf", format="A4")


def _picture(page: Any, folder: Path, name: str, screen: str, *, whole: bool = True) -> None:
    if whole:  # pictures of pages are loaded when they come near
        for picture in page.locator("img").all():
            if picture.is_visible():
                picture.scroll_into_view_if_needed()
        page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=folder / f"{name}.{screen}.png", full_page=whole, animations="disabled")
