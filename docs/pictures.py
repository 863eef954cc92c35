"""Makes the README's pictures from what `make demo` leaves, and of the signing page of a service that it starts:
python -m docs.pictures [demo-output]. Needs Chromium and the development requirements."""

import sys
import tempfile
from io import BytesIO
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageOps
from playwright.sync_api import sync_playwright

from benchmarks.started_service import StartedService
from paraph_client import Client, DocumentInput, Placement, SignerInput, under_tag
from tests.contract import contract

IMAGES = Path(__file__).parent / "images"
WIDTH = 900  # pixels
PHONE = {"viewport": {"width": 390, "height": 760}, "device_scale_factor": 2, "is_mobile": True, "has_touch": True}
_LONGEST = 180_000  # milliseconds: a busy machine takes pictures, too
_SHOWN = """() => document.documentElement.dataset.scripted !== undefined && document.fonts.status === "loaded"
    && [...document.querySelectorAll("[data-page] img")].every((image) =>
        image.getBoundingClientRect().top > innerHeight || (image.complete && image.naturalWidth))"""


def pictures(folder: Path) -> None:
    """The signing page on a phone, the last page of signed.pdf, where the demo's stamps are, the first of proof.pdf."""
    IMAGES.mkdir(exist_ok=True)
    save("signing", signing_page(), colors=128)
    for name, source, page in (("signed", "signed.pdf", -1), ("proof", "proof.pdf", 0)):
        save(name, render((folder / source).read_bytes(), page), colors=64)


def save(name: str, picture: Image.Image, colors: int) -> None:
    """Few colours, which is all that black print and one ink need, and a hairline around."""
    framed = ImageOps.expand(picture, border=1, fill=(205, 205, 205))
    framed.quantize(colors).save(IMAGES / f"{name}.png", optimize=True)


def render(pdf: bytes, page: int) -> Image.Image:
    with pdfium.PdfDocument(pdf) as document:
        document.init_forms()
        shown = document[page if page >= 0 else len(document) + page]
        return shown.render(scale=WIDTH / shown.get_width(), may_draw_forms=True).to_pil().convert("RGB")


def signing_page() -> Image.Image:
    """The way to the place to sign in the demo's contract."""
    with tempfile.TemporaryDirectory(prefix="paraph-pictures-") as folder:
        service = StartedService(Path(folder))
        service.start()
        try:
            return first_view(signing_url(service))
        finally:
            service.stop()


def signing_url(service: StartedService) -> str:
    organization = str(service.operate("organization", "create", "Harbour Homes", "--plan", "pro")["id"])
    service.operate("organization", "update", organization, "--contact-email", "office@harbour.example")
    options = ["--organization", organization, "--environment", "production", "--name", "Letting"]
    client = Client(service.url, service.operate("application", "create", *options)["api_key"])
    document = client.upload_document(contract(), "Lease Harbour Street 4.pdf")
    request = client.create_signature_request(
        mode="parallel",
        validity_days=14,
        signers=[SignerInput("landlord", "Zoë", "Lindqvist", "zoe@example.com")],
        documents=[DocumentInput(document.id, [Placement("landlord", [under_tag("{{signature:landlord}}")])])],
    )
    return str(request.signers[0].signing_url)


def first_view(url: str) -> Image.Image:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(**PHONE)
        page.set_default_timeout(_LONGEST)
        page.goto(url)
        page.wait_for_function(_SHOWN)
        picture = page.screenshot(animations="disabled")
        browser.close()
    return Image.open(BytesIO(picture)).convert("RGB")


if __name__ == "__main__":
    pictures(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
