"""``python -m tests.browser.screenshots FOLDER``: a picture of everything people see, to be looked at.

Each entry of :data:`SUBJECTS` writes the pictures of one part; a new part is a function there."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.browser import (
    pictures_of_accounts,
    pictures_of_dashboard,
    pictures_of_filling,
    pictures_of_moments,
    pictures_of_pages,
    pictures_of_papers,
)
from tests.browser.world import World
from tests.chromium import launch
from tests.cli.service import remove

Subject = Callable[[World, Any, Path], None]

SUBJECTS: list[Subject] = [
    pictures_of_pages.states,
    pictures_of_pages.steps,
    pictures_of_filling.filling,
    pictures_of_moments.moments,
    pictures_of_pages.languages,
    pictures_of_dashboard.dashboard,
    pictures_of_accounts.dashboard_accounts,
    pictures_of_papers.mails,
    pictures_of_papers.stamps,
    pictures_of_papers.proofs,
    pictures_of_papers.values,
]


def write(folder: Path, only: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix="paraph-screenshots-")) / "data"
    world = World(data)
    try:
        world.start()
        with sync_playwright() as playwright:
            browser = launch(playwright)
            for subject in SUBJECTS:
                if only in subject.__name__:
                    subject(world, browser, folder)
            browser.close()
    finally:
        world.stop()
        remove(data)
        data.parent.rmdir()
    sys.stdout.write(f"{len(list(folder.iterdir()))} pictures in {folder}\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]), *sys.argv[2:])
