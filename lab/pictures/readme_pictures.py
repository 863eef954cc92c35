"""``python -m lab.pictures.readme_pictures``: the README's pictures of the first five minutes, in docs/images."""

import io
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, ViewportSize, expect, sync_playwright

from tests.browser.journey import Journey
from tests.chromium import launch
from tests.cli.service import Service, remove, wait_until
from tests.contract import contract

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_WINDOW: ViewportSize = {"width": 1200, "height": 740}
PASSWORD = "a long enough phrase"
_KEPT = ("home", "places", "request")
_MOST_BYTES = 60 * 1024
_LONGEST = 180_000  # milliseconds: this must do on a busy machine, too
_LOADED = """() => [...document.images].every((image) => image.complete && image.naturalWidth
    || image.getBoundingClientRect().top > innerHeight || image.getBoundingClientRect().bottom < 0)"""


@dataclass
class Newcomer:
    """Somebody who knows nothing but the link that a first start prints. ``folder`` is where their files are; ``seen``
    is called with the name of each page that a picture is made of."""

    service: Service
    page: Page
    folder: Path
    seen: Callable[[str], None]

    def whole(self) -> None:
        self.begin()
        request = self.send()
        self.sign()
        self.page.goto(request)
        link = self.page.get_by_role("link", name="Download lease.pdf")
        wait_until(lambda: bool(self.page.reload() and link.count()))
        self.seen("request")

    def begin(self) -> None:
        """Become the first owner."""
        wait_until(lambda: "/account/first/" in "".join(self.service.output))
        link = next(line.strip() for line in self.service.output if "/account/first/" in line)
        assert link.startswith(f"http://localhost:{self.service.port}/"), "passkeys belong to a name"
        self.page.goto(link)
        self.page.get_by_label("Your name").fill("Ada Lovelace")
        self.page.get_by_label("E-mail").fill("ada@example.com")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Create my account").click()
        self.page.get_by_role("heading", name="Send a document").wait_for()
        self.seen("home")

    def send(self) -> str:
        """Send a document to oneself. Return the address of the request."""
        page = self.page
        (self.folder / "lease.pdf").write_bytes(contract())
        page.get_by_label("PDF file").set_input_files(self.folder / "lease.pdf")
        page.get_by_role("button", name="Only I sign").click()
        expect(page.locator("[data-stamp]"), "the tag of the one signer is found").to_have_count(1)
        page.locator(".box").evaluate("(box) => box.scrollIntoView({ block: 'center' })")
        page.locator(".box").focus()
        self.seen("places")
        page.locator("button.primary[value=next]").click()
        page.locator("button.primary[value=send]").click()
        page.wait_for_url(re.compile(r"/requests/\d+$"))
        return page.url

    def sign(self) -> None:
        """Sign with the link and the code that were mailed."""
        page = self.page
        page.goto(self._mailed(r"http\S+/sign/[\w-]+"))
        journey = Journey(page)
        journey.to_signature()
        journey.to_confirm()
        page.locator("[data-send]").click()
        expect(page.locator("#code")).to_be_focused()
        page.locator("#consent").check()
        page.locator("#code").fill(self._mailed(r"\b\d{6}\b"))
        page.locator("[data-sign]").click()
        page.locator("body[data-state=signed]").wait_for()

    def _mailed(self, pattern: str) -> str:
        """Wait for mails that match the pattern; return the last match."""
        found: list[str] = []

        def look() -> bool:
            for message in self.service.inbox():
                found.extend(re.findall(pattern, message["text"]))
            return bool(found)

        wait_until(look)
        return found[-1]


def write() -> None:
    taken = _taken()
    for name in _KEPT:
        _keep(name, taken[name])


def _taken() -> dict[str, bytes]:
    """Return pictures of pages by name, as a newcomer first sees them."""
    seen: dict[str, bytes] = {}
    folder = Path(tempfile.mkdtemp(prefix="paraph-pictures-"))
    service = Service(folder / "data", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1")
    try:
        service.start()
        with sync_playwright() as playwright:
            browser = launch(playwright)
            page = browser.new_page(viewport=_WINDOW, reduced_motion="reduce")
            page.set_default_timeout(_LONGEST)

            def look(name: str) -> None:
                page.wait_for_function(_LOADED)
                seen.setdefault(name, page.screenshot(animations="disabled"))

            Newcomer(service, page, folder, look).whole()
            browser.close()
    finally:
        service.stop()
        remove(service.data_dir)
        for left in folder.iterdir():
            left.unlink()
        folder.rmdir()
    return seen


def _keep(name: str, picture: bytes) -> None:
    """Save the picture with few colours, which is all that flat pages need."""
    file = IMAGES / f"dashboard-{name}.png"
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(96).save(file, optimize=True)
    size = file.stat().st_size
    assert size <= _MOST_BYTES, f"{file} has {size} bytes"
    sys.stdout.write(f"{file.relative_to(IMAGES.parents[1])}: {size // 1024} KiB\n")


if __name__ == "__main__":
    write()
