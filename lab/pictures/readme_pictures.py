"""``python -m lab.pictures.readme_pictures``: the README's pictures of the first five minutes, in docs/images."""

import io
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

from tests.chromium import launch
from tests.cli.service import Service, remove
from tests.dashboard.newcomer import Newcomer

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_WINDOW: ViewportSize = {"width": 1200, "height": 740}
_KEPT = ("home", "places", "request")
_MOST_BYTES = 60 * 1024
_LONGEST = 180_000  # milliseconds: a busy machine takes pictures, too
_LOADED = """() => [...document.images].every((image) => image.complete && image.naturalWidth
    || image.getBoundingClientRect().top > innerHeight || image.getBoundingClientRect().bottom < 0)"""


def write() -> None:
    taken = _taken()
    for name in _KEPT:
        _keep(name, taken[name])


def _taken() -> dict[str, bytes]:
    """Pages by name, as a newcomer sees them first."""
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
    """With few colours, which is all that flat pages need."""
    file = IMAGES / f"dashboard-{name}.png"
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(96).save(file, optimize=True)
    size = file.stat().st_size
    assert size <= _MOST_BYTES, f"{file} has {size} bytes"
    sys.stdout.write(f"{file.relative_to(IMAGES.parents[1])}: {size // 1024} KiB\n")


if __name__ == "__main__":
    write()
