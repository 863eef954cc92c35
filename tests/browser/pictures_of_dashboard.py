"""Pictures of the dashboard: every page, on a phone, at a desk, and in the dark."""

from pathlib import Path
from typing import Any

from tests.browser.pictures_of_pages import SCREENS
from tests.browser.world import World
from tests.dashboard.served_pages import served_pages


def dashboard(world: World, browser: Any, folder: Path) -> None:
    """With something on each page; then what strangers see."""
    pages = served_pages(world)
    for screen in ("phone", "desk", "dark"):
        context = browser.new_context(**SCREENS[screen], reduced_motion="reduce")
        context.add_cookies(pages.cookies)
        for name, address in pages.addresses.items():
            _picture(context, address, folder / f"dashboard-{name}.{screen}.png")
        context.clear_cookies()
        for name in ("login", "signup", "password/reset"):
            file = folder / f"account-{name.replace('/', '-')}.{screen}.png"
            _picture(context, f"{pages.base_url}/account/{name}/", file)
        context.close()


def _picture(context: Any, address: str, file: Path) -> None:
    page = context.new_page()
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=file, full_page=True, animations="disabled")
    page.close()
