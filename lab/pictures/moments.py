"""Pictures of what signing pages show only for a while."""

from pathlib import Path
from typing import Any

from lab.pictures.camera import context, opened, picture, visited
from tests.browser.journey import Journey
from tests.browser.world import World, wrong_for
from tests.loopback import site


def moments(world: World, browser: Any, folder: Path) -> None:
    """Take pictures of codes, refusals, lost connections, scripts that fail, an enlarged page, waiting and a frame."""
    for screen in ("phone", "dark", "arabic", "desk"):
        _codes(world, browser, folder, screen)
        _unreachable(opened(browser, world.state("unreachable"), screen), folder, screen)
        _zoomed(opened(browser, world.asked()[0], screen), folder, screen)
        _failing(browser, world.asked(initials_required=True)[0], folder, screen)
        _waiting(world, opened(browser, world.asked(signers=2)[0], screen), folder, screen)
        _asked(opened(browser, world.state("ask"), screen), folder, screen)
    _framed(world, browser, folder)


def _codes(world: World, browser: Any, folder: Path, screen: str) -> None:
    page = opened(browser, world.asked()[0], screen)
    _to_confirm(page)
    code = Journey(page).code()
    picture(page, folder, "step-3-code-sent", screen)
    page.locator("#consent").check()
    page.locator("#code").fill(wrong_for(code))
    page.locator("[data-sign]").click()
    page.locator("#problem-code").wait_for()
    picture(page, folder, "step-3-wrong-code", screen)
    page.context.set_offline(True)
    page.locator("[data-sign]").click()
    page.locator("#problem").wait_for()
    page.screenshot(path=folder / f"step-3-offline.{screen}.png", full_page=True)
    page.context.set_offline(False)
    for _ in range(4):
        page.locator("#code").fill(wrong_for(code))
        with page.expect_response("**/signature"):
            page.locator("[data-sign]").click()
    page.locator("[data-send]:enabled").wait_for()
    picture(page, folder, "step-3-code-used-up", screen)


def _unreachable(page: Any, folder: Path, screen: str) -> None:
    _to_confirm(page)
    page.locator("[data-send]").click()
    page.locator("#problem-code").wait_for()
    picture(page, folder, "step-3-unreachable", screen)


def _to_confirm(page: Any) -> None:
    Journey(page).to_signature()
    Journey(page).to_confirm()


def _zoomed(page: Any, folder: Path, screen: str) -> None:
    page.locator("[data-zoom='1']").click(click_count=2)
    page.locator("img[data-sharp]").first.wait_for()
    picture(page, folder, "step-1-zoomed", screen, whole=False)
    page.locator(".languages summary").click()
    page.locator(".languages").scroll_into_view_if_needed()
    picture(page, folder, "step-1-languages", screen, whole=False)


def _failing(browser: Any, url: str, folder: Path, screen: str) -> None:
    """None of the scripts arrives."""
    window = context(browser, screen)
    window.route("**/*.js", lambda route: route.abort())
    page = visited(window, url, screen)
    page.wait_for_timeout(6000)
    picture(page, folder, "failing-1-read", screen)
    for number, step in enumerate(("sign", "confirm"), 2):
        page.locator(f".steps [href='#{step}']").click()
        picture(page, folder, f"failing-{number}-{step}", screen)


def _waiting(world: World, page: Any, folder: Path, screen: str) -> None:
    Journey(page).whole()
    page.locator("[data-progress=waiting]").wait_for()
    picture(page, folder, "done-waiting", screen)
    with world.sealing_paused():
        page = opened(page.context.browser, world.asked()[0], screen)
        Journey(page).whole()
        page.locator("[data-progress=sealing]").wait_for()
        picture(page, folder, "done-sealing", screen)


def _asked(page: Any, folder: Path, screen: str) -> None:
    page.locator("form button.primary").click()
    page.locator("#problems").wait_for()
    picture(page, folder, "ask-problems", screen)
    page.locator("#message").fill("May I keep two cats?")
    page.locator("form button.primary").click()
    page.locator("[role=status]").wait_for()
    picture(page, folder, "ask-sent", screen)


def _framed(world: World, browser: Any, folder: Path) -> None:
    """Take a picture of a signing page within a page of another site."""
    url = world.asked()[0]
    with site(
        lambda: f'<!doctype html><title>Host</title><iframe src="{url}" width="600" height="700"></iframe>'
    ) as host:
        page = opened(browser, host, "desk")
        page.frame_locator("iframe").locator("body[data-state=ready]").wait_for()
        picture(page, folder, "framed", "desk", whole=False)
