"""``python -m lab.pictures.screenshots FOLDER``: a picture of everything people see, to be looked at.

Each entry of :data:`SUBJECTS` writes the pictures of one part; a new part is a function there."""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from lab.pictures import (
    accounts,
    dashboard,
    filling,
    moments,
    operators,
    pages,
    papers,
    refused,
    verify_page,
)
from tests.browser.world import World
from tests.chromium import launch
from tests.cli.service import remove

Subject = Callable[[World, Any, Path], None]

SUBJECTS: list[Subject] = [
    pages.states,
    pages.steps,
    pages.printed_names,
    filling.filling,
    moments.moments,
    pages.languages,
    verify_page.verify_page,
    dashboard.dashboard,
    accounts.dashboard_accounts,
    refused.refused,
    papers.mails,
    papers.stamps,
    papers.proofs,
    papers.values,
    operators.operators,
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
