"""From a log-in to a sent request in a browser without scripts: by plain forms, places by their numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.contract import contract
from tests.browser.world import World, until
from tests.dashboard.editor_window import PASSWORD, owner_of
from tests.dashboard.served_pages import ServedPages

STAMPS = [("1", "60.5", "120", "200", "80"), ("2", "300", "400.25", "180", "60")]


@pytest.mark.thorough
def test_a_pdf_is_uploaded_placed_and_sent(
    visit: Callable[..., Any], world: World, dashboard: ServedPages, tmp_path: Path
) -> None:
    page = visit(f"{dashboard.base_url}/account/login/?next=/app/1/drafts", java_script_enabled=False)
    page.locator("[name=login]").fill(owner_of(1))
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).click()
    page.get_by_role("button", name="New request").click()

    file = tmp_path / "rent.pdf"
    file.write_bytes(contract(2))
    page.get_by_label("PDF file", exact=True).set_input_files(file)
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("link", name="rent.pdf").wait_for()
    go_on(page, "signers")

    enter_signer(page, 0, "Ada", "Byron", "ada@rent.example")
    page.get_by_role("button", name="Add signer").click()
    enter_signer(page, 1, "Grace", "Hopper", "grace@rent.example")
    go_on(page, "places")

    for number, values in enumerate(STAMPS):
        page.get_by_role("button", name="Add stamp").click()
        stamp = page.locator("[data-stamp]").nth(number)
        stamp.get_by_label("Signer", exact=True).select_option(index=number)
        for label, value in zip(("Page", "X", "Y", "Width", "Height"), values, strict=True):
            stamp.get_by_label(label, exact=True).fill(value)
    go_on(page, "review")

    assert page.locator("g.place").count() == 2
    page.get_by_role("button", name="Send", exact=True).click()
    page.wait_for_url("**/app/1/requests/*")
    assert page.locator("tr", has_text="Grace Hopper").count() == 1
    until(lambda: {"ada@rent.example", "grace@rent.example"} <= {message["to"] for message in world.inbox()})


def enter_signer(page: Any, number: int, *values: str) -> None:
    signer = page.locator("[data-signer]").nth(number)
    for label, value in zip(("First name", "Last name", "E-mail"), values, strict=True):
        signer.get_by_label(label, exact=True).fill(value)
    assert (
        signer.get_by_label("Phone", exact=True).count() == signer.get_by_label("Send code by", exact=True).count() == 1
    )


def go_on(page: Any, step: str) -> None:
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_url(f"**/{step}")
