"""Approving and declining on a narrow screen, in both directions, as hands do it."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.journey import Journey
from tests.browser.test_journey import fits
from tests.browser.world import World

_NARROW = {"viewport": {"width": 320, "height": 640}, "has_touch": True, "is_mobile": True}


@pytest.mark.parametrize(
    ("language", "title"),
    [pytest.param("en", "You have approved", marks=pytest.mark.thorough), ("ar", "تمت الموافقة")],
)
def test_an_approver_reads_and_confirms(visit: Callable[..., Any], world: World, language: str, title: str) -> None:
    page = visit(world.asked(signers=2, approvers=1, language=language)[0], **_NARROW)
    fits(page)
    page.locator(".bar a.primary").click()
    page.locator("#confirm").wait_for()
    fits(page)
    Journey(page).confirm()
    assert page.locator("#done h1").inner_text() == title
    fits(page)


@pytest.mark.parametrize(
    ("language", "title"),
    [("en", "You have declined"), pytest.param("ar", "لقد رفضت", marks=pytest.mark.thorough)],
)
def test_a_signer_declines(visit: Callable[..., Any], world: World, language: str, title: str) -> None:
    page = visit(world.asked(decline_allowed=True, language=language)[0], **_NARROW, statuses=(200, 410))
    page.locator("a[href$='/decline']").click()
    page.locator("textarea[name=reason]").fill("The rent is wrong.")
    fits(page)
    page.locator("form button.primary").click()
    page.locator("body[data-state=expired]").wait_for()
    assert page.locator("h1").inner_text() == title
