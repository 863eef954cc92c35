"""The sandboxed processes that draw logos anew: whatever a picture held besides its pixels is gone.

They are separate from the processes that read uploads, which need no Typst.
"""

import io
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import typst
from PIL import (  # the plugins, because Pillow otherwise imports all of them when it needs one
    ExifTags,
    Image,
    ImageOps,
    JpegImagePlugin,  # noqa: F401
    MpoImagePlugin,  # noqa: F401  what phones write as JPEG
    PngImagePlugin,  # noqa: F401
    TiffImagePlugin,  # noqa: F401  reads the data that cameras add
)

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.jobs.serving import look_up_encodings, serve
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

BOX = (480, 144)  # pixels: twice what a page shows
MOST_BYTES = 64 * 1024
MOST_PIXELS = 4_000  # of a side
_SMALLER = 0.8
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_SVG = re.compile(r"<(?:[\w.-]+:)?svg[\s>]")
_LETTERS = re.compile(r"<(?:[\w.-]+:)?text[\s>]")
_PAGE = '#set page(width: {0}pt, height: {1}pt, margin: 0pt, fill: none)\n#image(bytes({2}), format: "svg", {3})'


def redraw(content: bytes) -> JobAnswer:
    """Return ``{"width", "height"}`` in pixels and a PNG within :data:`BOX` and :data:`MOST_BYTES`. Raise PdfRefused:
    ``not_a_picture``, ``too_many_pixels``, ``animated``, ``letters``, ``elsewhere``, ``nothing_to_see``,
    ``unreadable``."""
    picture = _raster(content) if content.startswith((_PNG, _JPEG)) else _drawn(content)
    seen = picture.getchannel("A").getbbox()
    if seen is None:
        raise PdfRefused("nothing_to_see", "All of the picture is transparent.")
    picture = picture.crop(seen)
    picture.thumbnail(BOX, Image.Resampling.LANCZOS)
    return _encoded(picture)


@cache
def compiler() -> typst.Compiler:
    """Return the compiler of this process, without fonts or files. Must be made while files can be opened."""
    no_fonts = typst.Fonts(include_system_fonts=False, include_embedded_fonts=False)
    return typst.Compiler(root=Path("/dev/null"), font_paths=no_fonts, ignore_system_fonts=True)


def _raster(content: bytes) -> Image.Image:
    """Decode a picture, once its size and the number of pictures in the file are known."""
    try:
        with Image.open(io.BytesIO(content), formats=("PNG", "JPEG")) as picture:
            width, height = picture.size
            if max(width, height) > MOST_PIXELS:
                facts = {"width": width, "height": height}
                raise PdfRefused("too_many_pixels", "The picture is too large.", facts)
            if picture.format == "PNG" and getattr(picture, "is_animated", False):
                raise PdfRefused("animated", "The picture is animated.")
            turned = ImageOps.exif_transpose(picture)
            if turned.mode.startswith("I"):  # 16 bits of grey
                turned = turned.point(lambda grey: grey / 256).convert("L")
            return turned.convert("RGBA")
    except (OSError, SyntaxError, ValueError) as error:
        raise _unreadable() from error


def _drawn(content: bytes) -> Image.Image:
    """Draw an SVG by Typst, which runs no scripts and loads nothing."""
    try:
        text = content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError:
        text = ""
    if not _SVG.search(text):
        raise PdfRefused("not_a_picture", "The file is neither PNG nor JPEG nor SVG.")
    if _LETTERS.search(text):
        raise PdfRefused("letters", "The SVG has text in fonts.")
    size = f'width: {BOX[0]}pt, height: {BOX[1]}pt, fit: "contain"'
    literal = text.replace("\\", "\\\\").replace('"', '\\"')
    page = _PAGE.format(*BOX, f'"{literal}"', size).encode()
    try:
        png = compiler().compile(input=page, format="png", ppi=72)
    except typst.TypstError as error:
        if "linked image" in str(error):
            raise PdfRefused("elsewhere", "The SVG refers to other files.") from error
        raise _unreadable() from error
    assert isinstance(png, bytes)
    return Image.open(io.BytesIO(png), formats=("PNG",)).convert("RGBA")


def _encoded(picture: Image.Image) -> JobAnswer:
    """Encode the picture as PNG, with fewer colours and then smaller where the file would be too large."""
    content = _png(picture)
    while len(content) > MOST_BYTES:
        content = _png(picture.quantize(256, Image.Quantize.FASTOCTREE))
        if len(content) > MOST_BYTES:
            picture = picture.resize([max(1, int(side * _SMALLER)) for side in picture.size])
    return {"width": picture.width, "height": picture.height}, content


def _png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG", optimize=True)
    return file.getvalue()


def _unreadable() -> PdfRefused:
    return PdfRefused("unreadable", "The picture cannot be read.")


def main() -> None:
    Image.MAX_IMAGE_PIXELS = None  # the job has a bound of its own, and a message for it
    serve(_do, _warm_up)


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:  # noqa: ARG001  there is one job
    with os.fdopen(descriptors[0], "rb") as file:
        file.seek(0)
        return redraw(file.read())


def _warm_up() -> None:
    """Draw a picture of each kind but SVG: Typst starts threads, and a process must have only one to be confined."""
    look_up_encodings()
    turned = Image.Exif()
    turned[ExifTags.Base.Orientation] = 6
    for form in ("PNG", "JPEG"):
        file = io.BytesIO()
        Image.new("RGB", (2, 2)).save(file, form, exif=turned)
        redraw(file.getvalue())
    compiler()


if __name__ == "__main__":
    main()
