"""Pictures of signing pages: every state and step, on every kind of screen."""

from pathlib import Path
from typing import Any

from lab.pictures.camera import SCREENS, opened, picture, printed
from paraph.words import LOCALES
from tests.browser.journey import Journey
from tests.browser.world import World

STATES = ["not_your_turn", "expired", "already_signed", "sealed", "locked", "not_found", "ask", "text"]
STATES += ["approve", "decline", "declined", "withdrawn", "replaced", "copies"]


def states(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of what pages show instead of something to sign."""
    for state in STATES:
        for branded in (False, True):
            url = world.state(state, branded=branded)
            for screen in ["branded"] if branded else SCREENS:
                page = opened(browser, url, screen)
                picture(page, folder, state, screen)


def steps(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of the journey of a signer, step by step."""
    for screen in [*SCREENS, "branded"]:
        url = world.asked(branded=screen == "branded", initials_required=True, more={"phone": "+46701740605"})[0]
        _steps(opened(browser, url, screen), folder, screen)


def _steps(page: Any, folder: Path, screen: str) -> None:
    picture(page, folder, "step-1-read", screen, whole=False)
    picture(page, folder, "step-1-read-whole", screen)
    printed(page, folder, "step-1-read", screen)
    journey = Journey(page)
    journey.to_signature()
    picture(page, folder, "step-2-typed", screen)
    if screen == "no-scripts":
        page.locator("#sign [href='#confirm']").click()
        page.locator("[data-sign]").click()
        picture(page, folder, "step-3-problems", screen)
        return
    page.locator("[name=signature-type][value=drawn]").check()
    picture(page, folder, "step-2-no-ink", screen)
    journey.draw("signature")
    page.wait_for_load_state("networkidle")
    picture(page, folder, "step-2-drawn", screen)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    picture(page, folder, "step-2-full-screen", screen, whole=False)
    page.locator("[data-pad=signature] [data-tool=full]").click()
    page.goto(f"{page.url.partition('#')[0]}#read")
    page.locator("[data-next]").click()
    page.wait_for_load_state("networkidle")
    picture(page, folder, "step-1-place", screen, whole=False)
    journey.to_signature()
    journey.to_confirm()
    page.locator("[data-sign]").click()
    picture(page, folder, "step-3-problems", screen)
    journey.confirm()
    page.locator("[data-progress=ready]").wait_for()
    picture(page, folder, "done", screen)
    printed(page, folder, "done", screen)


def printed_names(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of names with letters that no handwriting has."""
    for first, last in (("太郎", "山田"), ("محمد", "الأحمد")):
        url = world.asked(more={"first_name": first, "last_name": last})[0]
        for screen in ("phone", "desk", "arabic"):
            page = opened(browser, url, screen)
            Journey(page).to_signature()
            picture(page, folder, f"step-2-printed-{first}", screen)


def languages(world: World, browser: Any, folder: Path) -> None:
    """Each step in every language, on a narrow screen, where words are longest."""
    url = world.asked(initials_required=True, more={"phone": "+46701740605"})[0]
    for language in LOCALES:
        page = opened(browser, f"{url}?lang={language}", "narrow")
        picture(page, folder, "language-1-read", language, whole=False)
        for number, step in enumerate(("sign", "confirm"), 2):
            page.goto(f"{url}?lang={language}#{step}")
            picture(page, folder, f"language-{number}-{step}", language)
