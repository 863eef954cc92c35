"""Looking at PDFs in tests: text, fonts, pixels."""

import io
from collections.abc import Iterator

import pikepdf
import pypdfium2 as pdfium
from PIL import Image, ImageChops
from pypdfium2 import raw

_HAIRLINE = 170  # of 255: darker than the line around the ground of a stamp

DRAWN = {
    "type": "drawn",
    "strokes": [
        [[0.05, 0.4], [0.1, 0.1], [0.15, 0.4], [0.2, 0.2], [0.3, 0.35], [0.4, 0.2], [0.5, 0.38], [0.7, 0.2]],
        [[0.1, 0.5], [0.8, 0.46]],
        [[0.75, 0.1]],
    ],
}


def texts(pdf: bytes) -> list[str]:
    """The text of each page."""
    with pdfium.PdfDocument(pdf) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def sizes(pdf: bytes) -> list[tuple[float, float]]:
    with pdfium.PdfDocument(pdf) as document:
        return [page.get_size() for page in document]


def pictures(pdf: bytes, scale: float = 4) -> Iterator[Image.Image]:
    """Each page on transparent ground, RGBA."""
    with pdfium.PdfDocument(pdf) as document:
        for page in document:
            bitmap = page.render(scale=scale, fill_color=(255, 255, 255, 0), maybe_alpha=True)
            yield bitmap.to_pil().convert("RGBA")


def squeezed(text: str) -> str:
    """Return the text without white space and zero-width spaces, at which a line may break."""
    return "".join(character for character in text if not character.isspace() and character != "\u200b")


def without_ground(picture: Image.Image) -> Image.Image:
    """The letters and lines of a stamp alone, without its ground and the grey hairline around that."""
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    inked = Image.alpha_composite(white, picture).convert("L").point(lambda value: 255 * (value < _HAIRLINE))
    return Image.composite(picture, Image.new("RGBA", picture.size), inked)


def ink_box(picture: Image.Image) -> tuple[int, int, int, int] | None:
    """The smallest box around everything drawn, in pixels; None on an empty page."""
    white = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    seen = Image.alpha_composite(white, picture)
    return ImageChops.difference(seen, white).convert("L").getbbox()


def font_sizes(pdf: bytes) -> set[float]:
    """The sizes of all letters."""
    with pdfium.PdfDocument(pdf) as document:
        pages = [page.get_textpage() for page in document]
        return {raw.FPDFText_GetFontSize(page, i) for page in pages for i in range(page.count_chars())} - {0.0, 1.0}


def font_names(pdf: bytes) -> set[str]:
    """Names of the embedded fonts without their subset prefix."""

    with pikepdf.open(io.BytesIO(pdf)) as document:
        return {
            str(item["/BaseFont"]).split("+")[-1]
            for item in document.objects
            if isinstance(item, pikepdf.Dictionary) and "/BaseFont" in item
        }
