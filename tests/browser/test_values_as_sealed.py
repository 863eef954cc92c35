"""Signers see in their browser the same pictures of values that PDFium draws of the sealed values."""

import base64
from io import BytesIO
from typing import Any

import pypdfium2 as pdfium
import pytest
from PIL import Image, ImageChops, ImageFilter, ImageStat

from paraph.pdf.typesetting import fonts
from paraph.pdf.typesetting.appearances import appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, field_picture

_SCALE = 4
_BLUR, _FAINT = 3, 40  # how far two renderers may differ: in pixels, and in levels of 255
VALUES = {
    "letters": FieldContent(160, 18, "Anna-Maria Rossi"),
    "smaller": FieldContent(160, 18, "Donaudampfschifffahrtsgesellschaftskapitänswitwe"),
    "arabic": FieldContent(160, 18, "محمد عبد الرحمن الخالدي"),
    "number in Arabic": FieldContent(160, 18, "-1,250.50", locale="ar"),
    "low": FieldContent(60, 8, "Ấgjy"),
    "large": FieldContent(200, 40, "1. März 2026", font_size=24),
    "lines": FieldContent(
        160, 60, "Unter den Linden 1\n\n10117 Berlin, Germany, and more that is wrapped", multiline=True
    ),
    "arabic lines": FieldContent(160, 60, "شارع الملك فهد رقم 12 مدينة جدة ثم نص طويل بعده\nLatin", multiline=True),
    "long word": FieldContent(100, 60, "x" * 60, multiline=True),
    "ticked": FieldContent(12, 12, "", ticked=True),
    "japanese": FieldContent(
        160, 40, "東京都千代田区千代田一丁目一番地、とても長い住所がここに入ります。", multiline=True
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_what_is_shown_is_what_is_sealed(browser: Any, name: str) -> None:
    if name == "japanese" and not fonts.library().has_cjk:
        pytest.skip("Noto Sans CJK is not installed (Debian: fonts-noto-cjk)")
    shown, sealed = _shown(browser, VALUES[name]), _sealed(VALUES[name])
    assert shown.size == sealed.size
    assert ImageStat.Stat(sealed.convert("L")).extrema[0][0] < 0x40, "there is ink"
    blurred = [image.filter(ImageFilter.GaussianBlur(_BLUR)) for image in (shown, sealed)]
    assert max(high for _, high in ImageStat.Stat(ImageChops.difference(*blurred)).extrema) <= _FAINT


def _shown(browser: Any, content: FieldContent) -> Image.Image:
    """Return the value as pages show it: a picture in the size of its box."""
    context = browser.new_context(viewport={"width": 400, "height": 200}, device_scale_factor=_SCALE)
    try:
        page = context.new_page()
        data = base64.b64encode(field_picture(content)).decode()
        size = f"width: {content.width}px; height: {content.height}px"
        picture = f'<img src="data:image/svg+xml;base64,{data}" style="display: block; {size}">'
        page.set_content(f'<body style="margin: 0; background: white">{picture}')
        page.wait_for_function("document.images[0].complete")
        clip = {"x": 0, "y": 0, "width": content.width, "height": content.height}
        return Image.open(BytesIO(page.screenshot(clip=clip))).convert("RGB")
    finally:
        context.close()


def _sealed(content: FieldContent) -> Image.Image:
    drawn = appearances(fields=[FieldsContent(content.width, content.height, [FieldPlace(0, 0, content)])])
    with pdfium.PdfDocument(drawn.pdf) as document:
        picture: Image.Image = document[0].render(scale=_SCALE).to_pil()
        return picture.convert("RGB")
