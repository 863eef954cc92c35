"""Filling in by hand: by keyboard, on small screens, on two devices, without a network."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from paraph.words import LOCALES
from tests.browser.journey import Journey
from tests.browser.test_accessibility import checked
from tests.browser.world import SIDEWAYS, World
from tests.scenarios.people import at

pytestmark = pytest.mark.thorough

PHONE = {"viewport": {"width": 320, "height": 640}}
DESK = {"viewport": {"width": 1280, "height": 900}}
FIELDS: list[dict[str, Any]] = [
    {"type": "text", "name": "IBAN", "label": "Your IBAN", "max_length": 34},
    {"type": "multiline", "name": "address", "required": False},
    {"type": "number", "name": "rent", "minimum": 10, "maximum": 5000.5},
    {"type": "date", "name": "begin", "minimum": "2026-01-01"},
    {"type": "checkbox", "name": "pets"},
    {"type": "choice", "name": "floor", "options": ["ground", "first"]},
    {"type": "text", "name": "flat", "value": "4b", "read_only": True},
]
_HAS_FOCUS = "each => each === document.activeElement"


@pytest.fixture
def url(world: World) -> str:
    """The address of a signer who has the fields, one under the other, on the first of two pages."""
    fields = [field | {"placement": at(1, 60, 660 - 24 * number)} for number, field in enumerate(FIELDS)]
    return world.asked_for((world.document(2), [at(2)]), fields=fields)


class Device:
    """A browser on which the signer's page is open."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def input(self, name: str) -> Any:
        return self.page.locator(f"[name^='field-'][name$='-{name}']")

    def problem(self, name: str) -> Any:
        return self.page.locator(".entry", has=self.input(name)).locator(".problem")

    def place(self, name: str) -> Any:
        return self.page.locator(f'[data-field="{name}"]')

    def is_filled(self, name: str) -> bool:
        return "filled" in str(self.place(name).get_attribute("class"))

    def shown(self, name: str) -> None:
        """Wait for the value at its place on the page."""
        self.page.locator(f'.fields:has(> image) [data-field="{name}"].filled').wait_for()

    def begin(self) -> None:
        self.page.locator(".bar a.primary").click()

    def go_on(self) -> None:
        self.page.locator("#fill [data-continue]").click()


@pytest.fixture
def device(visit: Callable[..., Any], url: str) -> Callable[..., Device]:
    """Return a function that opens a device of this size, at the address with ``more`` behind it."""
    return lambda size=DESK, more="": Device(visit(f"{url}{more}", statuses=(422,), lost=True, **size))


def kept(url: str) -> dict[str, Any]:
    """Return what was entered, as the service has it."""
    fields = httpx.get(f"{url}/fields").json()["fields"]
    return {each["name"]: each["value"] for each in fields if not each["read_only"] and each["value"] is not None}


@pytest.mark.parametrize("screen", [DESK, PHONE])
def test_the_whole_way_with_scripts(device: Callable[..., Device], world: World, screen: Any) -> None:
    here = device(screen)
    here.begin()
    here.input("IBAN").fill("DE02 1203")
    here.input("rent").fill("1.250,50")
    here.input("begin").fill("2026-05-01")
    here.input("pets").check()
    here.input("floor").select_option("first")
    here.go_on()
    here.page.locator("#sign h1").wait_for()
    Journey(here.page).to_confirm().confirm()
    [signed] = [entry for entry in world.backend.journal(world.newest) if entry["event_type"] == "signer.signed"]
    values = {each["name"]: each["value"] for each in signed["metadata"]["fields"]}
    entered = {"IBAN": "DE02 1203", "rent": "1250.50", "begin": "2026-05-01", "pets": True, "floor": "first"}
    assert values == entered | {"address": None, "flat": "4b"}


def test_a_value_is_seen_where_it_will_stand_within_a_second_of_leaving_its_input(
    device: Callable[..., Device],
) -> None:
    here = device()
    here.page.wait_for_load_state("networkidle")
    here.begin()
    here.input("IBAN").fill("DE02 1203")
    assert here.place("IBAN").is_visible() and not here.is_filled("IBAN")  # beside the step
    here.page.keyboard.press("Tab")
    here.shown("IBAN")
    assert here.place("IBAN").get_attribute("aria-label") == "Your IBAN: DE02 1203"
    here.input("IBAN").fill("")
    here.page.keyboard.press("Tab")
    here.page.locator('[data-field="IBAN"]:not(.filled)').wait_for()


def test_by_keyboard(device: Callable[..., Device], url: str) -> None:
    """Enter goes from input to input, the space bar ticks a box, a first letter selects a choice."""
    here = device()
    here.page.goto(f"{here.page.url}#fill")
    here.input("IBAN").focus()
    keyboard = here.page.keyboard
    keyboard.type("DE02")
    keyboard.press("Enter")
    assert here.input("address").evaluate(_HAS_FOCUS)
    keyboard.type("Oslo")
    for _ in range(2):  # past the link to the place
        keyboard.press("Tab")
    keyboard.type("12,5")
    keyboard.press("Enter")
    keyboard.type("05012026")
    keyboard.press("Enter")
    keyboard.press("Space")
    keyboard.press("Enter")
    keyboard.type("f")
    keyboard.press("Enter")
    assert here.page.locator("[data-continue]").evaluate(_HAS_FOCUS)
    keyboard.press("Enter")
    here.page.locator("#sign h1").wait_for()
    assert kept(url) == {
        "IBAN": "DE02", "address": "Oslo", "rent": "12,5", "begin": "2026-05-01", "pets": True, "floor": "first",
    }  # fmt: skip


def test_the_next_empty_field_is_one_tap_away(device: Callable[..., Device]) -> None:
    here = device(PHONE)
    here.begin()
    step = here.page.locator("#fill")
    visited = []
    for name, value in (("IBAN", "DE02"), ("rent", "12"), ("begin", "2026-05-01")):
        step.locator("[data-next-empty]").click()
        visited.append(here.input(name).evaluate(_HAS_FOCUS))
        here.input(name).fill(value)
    assert visited == [True, True, True]
    assert step.locator("[data-still]").inner_text() == "Still to fill in: 2"
    here.input("pets").check()
    here.input("floor").select_option("first")
    assert step.locator("[data-still]").inner_text() == "Everything is filled in."
    assert not step.locator("[data-next-empty]").is_visible()


def test_what_is_missing_or_wrong_stops_the_step_and_is_said_beside_it(device: Callable[..., Device]) -> None:
    here = device()
    here.begin()
    here.input("rent").fill("many")
    here.go_on()
    here.problem("pets").wait_for()
    assert here.problem("rent").inner_text() == "Please enter a number, such as 1250.50."
    assert here.input("IBAN").evaluate(_HAS_FOCUS)
    assert here.problem("IBAN").inner_text() == "Please fill this in."
    here.input("IBAN").press_sequentially("D")
    here.page.route("**/fields", lambda route: route.abort())  # without an answer from the service
    here.input("pets").check()
    assert not here.problem("IBAN").is_visible() and not here.problem("pets").is_visible()
    here.page.unroute("**/fields")
    here.page.goto(f"{here.page.url.partition('#')[0]}#confirm")
    here.page.locator("[data-sign]").click()
    assert here.page.url.endswith("#fill") and here.input("rent").is_visible()


def test_what_was_entered_is_there_after_a_reload_in_another_language_and_on_a_second_device(
    device: Callable[..., Device],
) -> None:
    here = device()
    here.begin()
    with here.page.expect_response("**/fields"):
        here.input("IBAN").fill("DE02")
        here.input("rent").focus()
    here.page.reload()
    assert here.input("IBAN").input_value() == "DE02"
    there = device(PHONE, "?lang=ar")
    assert there.input("IBAN").input_value() == "DE02"
    assert there.is_filled("IBAN") and there.page.locator(".fields > image").count() == 1
    here.input("address").fill("one\ntwo")
    here.page.locator(".languages summary").click()
    here.page.locator(".languages button[value=fr]").click()
    here.page.locator("html[lang=fr]").wait_for()
    assert here.page.url.endswith("#fill") and here.input("address").is_visible()
    assert here.input("address").input_value() == "one\ntwo"


def test_nothing_is_lost_without_a_network(device: Callable[..., Device], url: str) -> None:
    here = device()
    here.page.wait_for_load_state("networkidle")
    here.begin()
    here.page.context.set_offline(True)
    here.input("IBAN").fill("DE02")
    here.input("rent").focus()
    here.page.locator("[data-still]").filter(has_text="nothing is lost").wait_for()
    here.page.context.set_offline(False)
    here.shown("IBAN")
    assert kept(url) == {"IBAN": "DE02"}


def test_the_step_is_no_wider_than_a_phone_in_any_language(device: Callable[..., Device], url: str) -> None:
    wider = {}
    here = device(PHONE)
    for locale in LOCALES:
        here.page.goto(f"{url}?lang={locale}#fill")
        here.page.locator("html[data-scripted]").wait_for()
        for width in (320, 375, 430, 500, 577):
            here.page.set_viewport_size({"width": width, "height": 800})
            wider[locale, width] = here.page.evaluate(SIDEWAYS)
    assert {where: found for where, found in wider.items() if found} == {}


@pytest.mark.parametrize("language", ["en", "ar"])
def test_axe_finds_nothing(device: Callable[..., Device], language: str) -> None:
    for screen in (DESK, PHONE):
        here = device(screen, f"?lang={language}")
        here.page.locator("html[data-scripted]").wait_for()
        checked(here.page)
        here.begin()
        checked(here.page)
        here.input("rent").fill("many")
        here.go_on()
        here.problem("rent").wait_for()
        checked(here.page)
