"""Filling in by hand: by keyboard, on small screens, with and without scripts, on two devices, without a network."""

import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from paraph.messaging.models import CapturedMessage
from paraph.words import LOCALES
from tests.chromium import CHROMIUM, launch
from tests.factories import Scene, scene
from tests.signer.test_fields import EVERY_TYPE, final, stored

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(shutil.which(CHROMIUM) is None, reason=f"{CHROMIUM} is missing: apt install chromium"),
    pytest.mark.django_db(transaction=True),
]
PHONE = {"viewport": {"width": 320, "height": 640}}
DESK = {"viewport": {"width": 1280, "height": 900}}
EXPECTED = ("the server responded with a status of 422", "net::ERR_")


class Device:
    """A browser on which the page of the first signer is open."""

    def __init__(self, made: Scene, page: Any) -> None:
        self.made, self.page = made, page

    def input(self, name: str) -> Any:
        return self.page.locator(f'[name="field-{self.made.request_documents[0].document_id}-{name}"]')

    def problem(self, name: str) -> Any:
        return self.page.locator(".entry", has=self.input(name)).locator(".problem")

    def place(self, name: str) -> Any:
        return self.page.locator(f'[data-field="{name}"]')

    def is_filled(self, name: str) -> bool:
        return "filled" in str(self.place(name).get_attribute("class"))

    def shown(self, name: str) -> None:
        """Wait for the value at its place on the page."""
        self.page.locator(f'.fields:has(> image) [data-field="{name}"].filled').wait_for()

    def fill(self) -> None:
        self.page.locator(".bar a.primary").click()
        self.input("IBAN").fill("DE02 1203")
        self.input("rent").fill("1.250,50")
        self.input("begin").fill("2026-05-01")
        self.input("pets").check()
        self.input("floor").select_option("first")

    def go_on(self) -> None:
        self.page.locator("#fill [data-continue]").click()

    def sign(self) -> None:
        self.page.locator("#sign a[href='#confirm']").click()
        self.page.locator("[data-send]").click()
        self.page.locator("#code-status").filter(has_text=re.compile(r"\d{6}|Sent to")).wait_for()
        self.page.locator("#consent").check()
        self.page.locator("#code").fill(code())
        self.page.locator("[data-sign]").click()


def code() -> str:
    """Return the newest code, read in another thread: Django takes the browser's event loop for its own."""
    with ThreadPoolExecutor(1) as apart:
        found = re.search(r"\b\d{6}\b", apart.submit(_newest_message).result())
    assert found
    return found.group()


def _newest_message() -> str:
    try:
        return CapturedMessage.objects.latest("id").text
    finally:
        connection.close()


@pytest.fixture
def made() -> Scene:
    return scene(fields=EVERY_TYPE, pages=2)


@contextmanager
def browser(live_server: Any, made: Scene) -> Iterator[Any]:
    """Yield a function that opens a device; errors and warnings on a device's console fail the test."""
    wrong: list[str] = []

    def heard(message: Any) -> None:
        if message.type in ("error", "warning") and not any(part in message.text for part in EXPECTED):
            wrong.append(message.text)

    with sync_api.sync_playwright() as playwright:
        chromium = launch(playwright)

        def device(query: str = "", **options: Any) -> Device:
            page = chromium.new_context(**DESK | options, reduced_motion="reduce").new_page()
            page.on("console", heard)
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.goto(f"{live_server.url}{made.url()}{query}")
            return Device(made, page)

        yield device
        for context in chromium.contexts:
            for page in context.pages:
                page.wait_for_load_state("networkidle")
        chromium.close()
    assert wrong == []


@pytest.mark.parametrize("screen", [DESK, PHONE])
def test_the_whole_way_with_scripts(live_server: Any, made: Scene, screen: Any) -> None:
    with browser(live_server, made) as device:
        here = device(**screen)
        here.fill()
        here.go_on()
        here.page.locator("#sign h1").wait_for()
        here.sign()
        here.page.locator("body[data-state=signed]").wait_for()
    assert stored() == final()


def test_a_value_is_seen_where_it_will_stand_within_a_second_of_leaving_its_input(
    live_server: Any, made: Scene
) -> None:
    with browser(live_server, made) as device:
        here = device()
        here.page.wait_for_load_state("networkidle")
        here.page.locator(".bar a.primary").click()
        here.input("IBAN").fill("DE02 1203")
        assert here.place("IBAN").is_visible() and not here.is_filled("IBAN")  # beside the step
        here.page.keyboard.press("Tab")
        here.shown("IBAN")
        assert here.place("IBAN").get_attribute("aria-label") == "Your IBAN: DE02 1203"
        here.input("IBAN").fill("")
        here.page.keyboard.press("Tab")
        here.page.locator('[data-field="IBAN"]:not(.filled)').wait_for()


def test_by_keyboard(live_server: Any, made: Scene) -> None:
    """Enter goes from input to input, the space bar ticks a box, a first letter selects a choice."""
    with browser(live_server, made) as device:
        here = device()
        here.page.goto(f"{here.page.url}#fill")
        here.input("IBAN").focus()
        keyboard = here.page.keyboard
        keyboard.type("DE02")
        keyboard.press("Enter")
        assert here.input("address").evaluate("each => each === document.activeElement")
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
        assert here.page.locator("[data-continue]").evaluate("each => each === document.activeElement")
        keyboard.press("Enter")
        here.page.locator("#sign h1").wait_for()
    assert stored() == {
        "IBAN": "DE02", "address": "Oslo", "rent": "12,5", "begin": "2026-05-01", "pets": True, "floor": "first",
    }  # fmt: skip


def test_the_next_empty_field_is_one_tap_away(live_server: Any, made: Scene) -> None:
    with browser(live_server, made) as device:
        here = device(**PHONE)
        here.page.locator(".bar a.primary").click()
        step = here.page.locator("#fill")
        visited = []
        for name, value in (("IBAN", "DE02"), ("rent", "12"), ("begin", "2026-05-01")):
            step.locator("[data-next-empty]").click()
            visited.append(here.input(name).evaluate("each => each === document.activeElement"))
            here.input(name).fill(value)
        assert visited == [True, True, True]
        assert step.locator("[data-still]").inner_text() == "Still to fill in: 2"
        here.input("pets").check()
        here.input("floor").select_option("first")
        assert step.locator("[data-still]").inner_text() == "Everything is filled in."
        assert not step.locator("[data-next-empty]").is_visible()


def test_what_is_missing_or_wrong_stops_the_step_and_is_said_beside_it(live_server: Any, made: Scene) -> None:
    with browser(live_server, made) as device:
        here = device()
        here.page.locator(".bar a.primary").click()
        here.input("rent").fill("many")
        here.go_on()
        here.problem("pets").wait_for()
        assert here.problem("rent").inner_text() == "Please enter a number, such as 1250.50."
        assert here.input("IBAN").evaluate("each => each === document.activeElement")
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
    live_server: Any, made: Scene
) -> None:
    with browser(live_server, made) as device:
        here = device()
        here.page.locator(".bar a.primary").click()
        with here.page.expect_response("**/fields"):
            here.input("IBAN").fill("DE02")
            here.input("rent").focus()
        here.page.reload()
        assert here.input("IBAN").input_value() == "DE02"
        there = device("?lang=ar", **PHONE)
        assert there.input("IBAN").input_value() == "DE02"
        assert there.is_filled("IBAN") and there.page.locator(".fields > image").count() == 1
        here.input("address").fill("one\ntwo")
        here.page.locator(".languages summary").click()
        here.page.locator(".languages button[value=fr]").click()
        here.page.locator("html[lang=fr]").wait_for()
        assert here.page.url.endswith("#fill") and here.input("address").is_visible()
        assert here.input("address").input_value() == "one\ntwo"


def test_nothing_is_lost_without_a_network(live_server: Any, made: Scene) -> None:
    with browser(live_server, made) as device:
        here = device()
        here.page.wait_for_load_state("networkidle")
        here.page.locator(".bar a.primary").click()
        here.page.context.set_offline(True)
        here.input("IBAN").fill("DE02")
        here.input("rent").focus()
        here.page.locator("[data-still]").filter(has_text="nothing is lost").wait_for()
        here.page.context.set_offline(False)
        here.shown("IBAN")
    assert stored() == {"IBAN": "DE02"}


def test_the_step_is_no_wider_than_a_phone_in_any_language(live_server: Any, made: Scene) -> None:
    over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    wider = {}
    with browser(live_server, made) as device:
        here = device(**PHONE)
        for locale in LOCALES:
            here.page.goto(f"{live_server.url}{made.url()}?lang={locale}#fill")
            here.page.locator("html[data-scripted]").wait_for()
            for width in (320, 375, 430, 500, 577):
                here.page.set_viewport_size({"width": width, "height": 800})
                wider[locale, width] = here.page.evaluate(over)
    assert {where: found for where, found in wider.items() if found} == {}


@pytest.mark.parametrize("language", ["en", "ar"])
def test_axe_finds_nothing(live_server: Any, made: Scene, language: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    rules = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
    with browser(live_server, made) as device:
        for screen in (DESK, PHONE):
            here = device(f"?lang={language}", **screen)
            here.page.locator("html[data-scripted]").wait_for()
            for step in ("read", "fill", "wrong"):
                if step == "fill":
                    here.page.locator(".bar a.primary").click()
                if step == "wrong":
                    here.input("rent").fill("many")
                    here.go_on()
                    here.problem("rent").wait_for()
                here.page.evaluate("scrollTo(0, 0)")
                for scheme in ("light", "dark"):
                    here.page.emulate_media(color_scheme=scheme)
                    results = axe.run(here.page, options=rules)
                    assert results.violations_count == 0, (step, scheme, results.generate_report())
                over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
                assert here.page.evaluate(over) == 0
