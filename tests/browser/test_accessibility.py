"""axe finds nothing on any state, in English and Arabic, in the default palette, light and dark, and a branded one."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.journey import Journey
from tests.browser.world import SIDEWAYS, World

pytestmark = pytest.mark.thorough

_OTHERWISE = {"sealed": "already_signed", "approve": "ready", "declined": "expired"}  # the state that the page names
STATES = {
    "ready": 200,
    "not_your_turn": 200,
    "expired": 410,
    "already_signed": 200,
    "sealed": 200,
    "locked": 429,
    "not_found": 404,
    "ask": 200,
    "approve": 200,
    "decline": 200,
    "declined": 410,
    "withdrawn": 410,
    "replaced": 410,
    "copies": 200,
    "text": 200,
}
_LOOKS = pytest.mark.parametrize(("language", "branded"), [("en", False), ("ar", True), ("en", True), ("ar", False)])
_ALL = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
_COLORS = {"runOnly": ["cat.color", "cat.sensory-and-visual-cues"]}


@pytest.fixture(scope="module")
def address(world: World) -> Callable[[str, bool], str]:
    """Return a function that gives the address of a page in the state; each page is made once."""
    return cache(lambda name, branded: world.state(name, branded=branded))


def checked(page: Any) -> None:
    """Check the page in light, and then in dark, where nothing changes but colours."""
    page.evaluate("scrollTo(0, 0)")  # what a sticky bar covers at the moment is no fault
    for scheme, rules in (("light", _ALL), ("dark", _COLORS)):
        page.emulate_media(color_scheme=scheme)
        results = Axe().run(page, options=rules)
        assert results.violations_count == 0, results.generate_report()
    assert page.evaluate(SIDEWAYS) == 0


@_LOOKS
@pytest.mark.parametrize("state", STATES)
def test_states(visit: Callable[..., Any], address: Any, state: str, language: str, branded: bool) -> None:
    page = visit(f"{address(state, branded)}?lang={language}", statuses=(STATES[state],))
    assert page.locator("body").get_attribute("data-state") == _OTHERWISE.get(state, state)
    assert page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
    checked(page)


@_LOOKS
def test_the_steps_and_what_follows(visit: Callable[..., Any], world: World, language: str, branded: bool) -> None:
    url = world.asked(branded=branded, initials_required=True)[0]
    page = visit(f"{url}?lang={language}")
    journey = Journey(page).to_signature()
    journey.draw("signature")
    journey.draw("initials")
    checked(page)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    checked(page)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    journey.to_confirm()
    page.locator("[data-sign]").click()
    checked(page)  # with its errors shown
    with world.sealing_paused():
        journey.confirm()
        page.locator("[data-progress=sealing]").wait_for()
        checked(page)
    page.locator("[data-progress=ready]").wait_for()
    checked(page)


def test_a_code_that_cannot_be_delivered(world: World, visit: Callable[..., Any]) -> None:
    page = visit(world.asked()[0], statuses=(503,))
    error = {"code": "delivery_failed", "message": "We could not reach your mailbox or phone."}
    page.route("**/otp", lambda route: route.fulfill(status=503, json={"error": error}))
    Journey(page).to_signature().to_confirm()
    page.locator("[data-send]").click()
    page.locator("#problem-code").filter(has_text="could not reach").wait_for()
    checked(page)
    page.unroute("**/otp")
    page.route("**/otp", lambda route: route.fulfill(status=503, body="<html>"))
    page.locator("[data-send]").click()
    page.locator("#problem-code").filter(has_text="The code could not be sent. That did not work.").wait_for()


@pytest.mark.parametrize(("background", "text"), [("#ffffff", "#767676"), ("#767676", "#ffffff")])
def test_a_brand_whose_colours_have_no_contrast_to_spare(
    world: World, visit: Callable[..., Any], background: str, text: str
) -> None:
    """The contrast is just 4.5 to 1, so quiet words must not be fainter than others."""
    page = visit(world.asked(branded=True)[0])
    surface = "#767676" if text == "#ffffff" else text
    for name, color in (("background", background), ("text", text), ("surface-text", surface)):
        page.evaluate(
            "([name, color]) => document.documentElement.style.setProperty(name, color)", [f"--{name}", color]
        )
    for step in ("#read", "#sign", "#confirm"):
        page.evaluate("step => { location.hash = step }", step)
        results = Axe().run(page, options=_ALL)
        assert results.violations_count == 0, results.generate_report()
