"""Contrast as WCAG 2.2 defines it, and text that can be read whatever the palette."""

import pytest

from paraph.kernel.appearance import READABLE, contrast, is_color, readable_on


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#767676", "#ffffff", 4.54),
        ("#abcdef", "#ABCDEF", 1),
    ],
)
def test_contrast(one: str, other: str, ratio: float) -> None:
    assert contrast(one, other) == contrast(other, one) == pytest.approx(ratio, abs=0.01)


def test_the_preferred_colour_gives_way_where_it_cannot_be_read() -> None:
    assert readable_on("#ffffff", "#123456") == "#123456"
    assert readable_on("#123456", "#234567") == "#ffffff"
    assert readable_on("#ffe14d") == "#000000"


def test_text_can_be_read_on_every_background() -> None:
    steps = ["00", "33", "55", "77", "99", "bb", "ff"]
    for background in (f"#{red}{green}{blue}" for red in steps for green in steps for blue in steps):
        assert contrast(readable_on(background), background) >= READABLE


def test_what_is_no_colour() -> None:
    assert not any(map(is_color, ["", "red", "fff", "#fff", "#12345g", "#1234567", "#123456;}", "#١٢٣٤٥٦"]))
