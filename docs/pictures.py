"""Makes the README's pictures from what `make demo` leaves: python docs/pictures.py [demo-output]"""

import sys
from pathlib import Path

import pypdfium2 as pdfium
from PIL import Image, ImageOps

IMAGES = Path(__file__).parent / "images"
WIDTH = 900  # pixels


def pictures(folder: Path) -> None:
    """The last page of signed.pdf, where the demo's stamps are, and the first of proof.pdf."""
    IMAGES.mkdir(exist_ok=True)
    for name, source, page in (("signed", "signed.pdf", -1), ("proof", "proof.pdf", 0)):
        picture = render((folder / source).read_bytes(), page)
        picture.save(IMAGES / f"{name}.png", optimize=True)


def render(pdf: bytes, page: int) -> Image.Image:
    """The page as paper: few colours, which is all that black print and one ink need, and a hairline around it."""
    with pdfium.PdfDocument(pdf) as document:
        document.init_forms()
        shown = document[page if page >= 0 else len(document) + page]
        image = shown.render(scale=WIDTH / shown.get_width(), may_draw_forms=True).to_pil().convert("RGB")
    return ImageOps.expand(image, border=1, fill=(205, 205, 205)).quantize(64)


if __name__ == "__main__":
    pictures(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
