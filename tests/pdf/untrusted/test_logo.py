"""Logos of strangers: drawn anew within bounds, or refused with one sentence."""

import base64
import io
import os
from typing import Any

import pytest
from PIL import Image

from paraph.pdf.untrusted.logo import LogoRefused, redrawn

RED, BLUE = (200, 0, 50, 255), (0, 60, 200, 255)
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 240 120">{}'
    '<rect x="40" y="40" width="160" height="40" fill="#c80032"/></svg>'
)


def encoded(picture: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def svg(inside: str = "") -> bytes:
    return _SVG.format(inside).encode()


def redraw(content: bytes) -> Image.Image:
    png, width, height = redrawn(content, "tenant")
    assert len(png) <= 64 * 1024
    picture = Image.open(io.BytesIO(png))
    assert (picture.format, picture.size) == ("PNG", (width, height))
    assert width <= 480 and height <= 144
    return picture.convert("RGBA")


def nested_uses(depth: int) -> str:
    """10 ** depth rectangles."""
    nine = '<use xlink:href="#g{}"/>'
    groups = [f'<g id="g{level + 1}">{nine.format(level) * 10}</g>' for level in range(depth)]
    return f'<g id="g0"><rect width="9" height="9"/></g>{"".join(groups)}'


def nested_entities() -> bytes:
    entities = "".join(f'<!ENTITY e{level + 1} "{f"&e{level};" * 10}">' for level in range(9))
    return f'<!DOCTYPE svg [<!ENTITY e0 "aaaaaaaaaa">{entities}]>'.encode() + svg("<desc>&e9;</desc>")


def test_a_large_picture_becomes_a_small_one_without_its_transparent_margin() -> None:
    picture = Image.new("RGBA", (1200, 1200))
    picture.paste(RED, (100, 500, 1060, 740))
    drawn = redraw(encoded(picture))
    assert drawn.size == (480, 120)
    assert drawn.getpixel((240, 60)) == RED


def test_a_small_picture_keeps_its_size() -> None:
    assert redraw(encoded(Image.new("P", (90, 30), 3))).size == (90, 30)


def test_a_jpeg_is_turned_as_its_camera_says_and_loses_what_it_tells() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "where it was taken"  # orientation: a quarter turn to the right
    content = encoded(Image.new("RGB", (60, 20), RED[:3]), "JPEG", exif=exif)
    assert redraw(content).size == (20, 60)
    assert b"taken" in content and b"taken" not in redrawn(content, "tenant")[0]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "I;16", "RGB", "RGBA"])
def test_each_kind_of_pixel_is_understood(mode: str) -> None:
    white: Any = {"P": 0, "I;16": 65535, "LA": (255, 255), "RGB": (255,) * 3, "RGBA": (255,) * 4}.get(mode, 255)
    picture = Image.new(mode, (40, 20), white)
    if mode == "P":
        picture.putpalette([255] * 768)
    assert redraw(encoded(picture)).getpixel((20, 10)) == (255, 255, 255, 255)


def test_cmyk_is_understood() -> None:
    red, green, blue, _ = redraw(encoded(Image.new("CMYK", (40, 20), (0, 255, 255, 0)), "JPEG")).getpixel((20, 10))  # type: ignore[misc]
    assert red > 180 and green < 80 and blue < 80


def test_noise_gets_a_bounded_file() -> None:
    redraw(encoded(Image.frombytes("RGBA", (350, 350), os.urandom(4 * 350 * 350))))


def test_an_svg_is_drawn_without_its_margin_and_its_scripts() -> None:
    drawn = redraw(b"\xef\xbb\xbf" + svg("<script>document.write('<rect/>')</script>"))
    assert drawn.width == pytest.approx(4 * drawn.height, abs=6)
    assert drawn.getpixel((drawn.width // 2, drawn.height // 2)) == RED


def test_an_svg_may_hold_a_picture() -> None:
    inside = base64.b64encode(encoded(Image.new("RGB", (8, 8), BLUE[:3]))).decode()
    drawn = redraw(svg(f'<image xlink:href="data:image/png;base64,{inside}" width="240" height="120"/>'))
    assert drawn.getpixel((drawn.width // 2, 2)) == BLUE


_ADDRESSES = ("https://example.com/logo.png", "file:///etc/hostname", "/etc/hostname", "logo.png", "../logo.svg")
_TEXT = '<{0} xmlns:svg="http://www.w3.org/2000/svg" x="9" y="9">Acme</{0}>'
_FRAMES = [Image.new("RGB", (9, 9), color) for color in ("red", "blue")]
REFUSED: dict[str, list[bytes]] = {
    "The SVG refers to other files. Put them into it and try again.": [
        svg(f'<image xlink:href="{address}" width="9" height="9"/>') for address in _ADDRESSES
    ],
    "The SVG has text in fonts. Convert the text to paths and try again.": [
        svg(_TEXT.format(tag)) for tag in ("text", "svg:text")
    ],
    "The logo cannot be read. Save it as PNG and try again.": [
        svg(nested_uses(9)),
        nested_entities(),
        svg("<g>" * 20_000 + "</g>" * 20_000),
        svg("<g>"),
        encoded(Image.new("RGB", (300, 300), "red"))[:300],
        b"\xff\xd8\xff" + bytes(100),
    ],
    "The logo must not be animated.": [encoded(_FRAMES[0], save_all=True, append_images=_FRAMES[1:])],
    "The logo must be a PNG, JPEG or SVG file.": [b"", b"GIF89a", encoded(_FRAMES[0], "GIF"), b"<html></html>"],
    "There is nothing to see: all of the logo is transparent.": [encoded(Image.new("RGBA", (9, 9)))],
    "The logo may have at most 512 KB; this file is larger.": [bytes(512 * 1024 + 1)],
}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param(content, sentence, id=f"{sentence[:30]} {number}")
        for sentence, contents in REFUSED.items()
        for number, content in enumerate(contents)
    ],
)
def test_what_is_refused(content: bytes, sentence: str) -> None:
    """This includes logos that cannot be drawn in time."""
    with pytest.raises(LogoRefused) as refusal:
        redrawn(content, "tenant")
    assert (refusal.value.code, refusal.value.message) == ("validation_error", sentence)


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_decoded() -> None:
    bomb = encoded(Image.new("1", (20_000, 20_000)))
    assert len(bomb) < 512 * 1024
    with pytest.raises(LogoRefused, match="at most 4000 pixels a side; this one has 20000 by 20000"):
        redrawn(bomb, "tenant")
