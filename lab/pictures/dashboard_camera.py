"""A page of the dashboard on each kind of screen, and pictures of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lab.pictures.camera import SCREENS
from tests.dashboard.editor_window import PASSWORD

DASHBOARD_SCREENS = {name: SCREENS[name] for name in ("phone", "desk", "dark")} | {
    "dark-desk": SCREENS["desk"] | {"color_scheme": "dark"},
    "wide": {"viewport": {"width": 1440, "height": 900}},
    "contrast": SCREENS["desk"] | {"forced_colors": "active"},
}
_SUBMIT = """() => {
    const forms = [...document.querySelectorAll("main form[method=post]:not(.actions)")];
    const form = forms.find((each) => each.querySelector("input:not([type=hidden])")) || forms[0];
    form.noValidate = true;
    const kept = "[type=hidden], [type=radio], [type=checkbox], [type=file], [type=color]";
    for (const field of form.querySelectorAll(`input:not(${kept}), textarea`)) field.value = "";
    form.requestSubmit(form.querySelector("button.primary") || form.querySelector("button:not(.hidden)"));
}"""


def windows(browser: Any) -> Iterator[tuple[str, Any]]:
    for screen, options in DASHBOARD_SCREENS.items():
        context = browser.new_context(**options, reduced_motion="reduce")
        yield screen, context
        context.close()


@contextmanager
def opened(context: Any, address: str) -> Iterator[Any]:
    page = context.new_page()
    visit(page, address)
    yield page
    page.close()


def visit(page: Any, address: str) -> None:
    """Open the page, giving the password if asked for it: all pictures take longer than a log-in counts."""
    page.goto(address)
    if "/reauthenticate/" in page.url and "/reauthenticate/" not in address:
        page.locator("[type=password]").fill(PASSWORD)
        page.locator("main button.primary").click()
        page.wait_for_url(address)


def picture(context: Any, address: str, folder: Path, name: str, screen: str) -> None:
    with opened(context, address) as page:
        shot(page, folder, name, screen)


def refusal(context: Any, address: str, folder: Path, name: str, screen: str) -> None:
    """Take a picture of the page after its form was sent empty."""
    with opened(context, address) as page:
        page.evaluate(_SUBMIT)
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(300)
        shot(page, folder, name, screen)


def shot(page: Any, folder: Path, name: str, screen: str) -> None:
    page.wait_for_load_state("networkidle" if page.locator("[loading=lazy], iframe").count() else "load")
    page.screenshot(path=folder / f"{name}.{screen}.png", full_page=True, animations="disabled")


def on_each_screen(page: Any, folder: Path, name: str) -> None:
    """Take pictures on each screen without loading the page again, which would lose what it shows only once."""
    for screen, options in DASHBOARD_SCREENS.items():
        page.set_viewport_size(options["viewport"])
        page.emulate_media(
            color_scheme=options.get("color_scheme", "light"), forced_colors=options.get("forced_colors", "none")
        )
        shot(page, folder, name, screen)
    page.set_viewport_size(DASHBOARD_SCREENS["desk"]["viewport"])
    page.emulate_media(color_scheme="light", forced_colors="none")
