"""Pictures of the page that verifies: the form, what it refuses, and verdicts."""

from pathlib import Path
from typing import Any

from lab.pictures.camera import SCREENS, opened, picture, printed
from tests.browser.world import World
from tests.pdf.verification.test_evidence_check_seals import ISSUED_BEFORE


def verify_page(world: World, browser: Any, folder: Path) -> None:
    """By somebody unknown, altered, and of a proof with what was only compared."""
    proof, signed, uploaded = (ISSUED_BEFORE / f"{name}.pdf" for name in ("proof", "signed", "uploaded"))
    for screen in SCREENS:
        page = opened(browser, f"{world.base_url}/verify", screen)
        picture(page, folder, "verify", screen)
        page.locator("#file").set_input_files([proof, signed])
        if screen != "no-scripts":
            page.locator("#compared").set_input_files([uploaded])
        page.locator("button[type=submit]").click()
        page.locator("[data-verdict] h1").wait_for()
        picture(page, folder, "verify-verdict", screen)
        printed(page, folder, "verify-verdict", screen)
