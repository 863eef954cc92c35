"""From pointer positions to ink."""

import pytest

from paraph.pdf.typesetting.strokes import has_ink, ink

SQUARE = [[[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8], [0.2, 0.2]]]


@pytest.mark.parametrize("aspect", [1.0, 3.0, 0.5])
def test_proportions_are_kept(aspect: float) -> None:
    drawn = ink(SQUARE, aspect)
    assert drawn is not None
    assert drawn.width / drawn.height == pytest.approx(aspect, rel=0.06)
    assert max(drawn.width, drawn.height) == pytest.approx(1000)


def test_where_on_the_pad_it_was_drawn_does_not_matter() -> None:
    moved = [[[x - 0.1, y + 0.15] for x, y in stroke] for stroke in SQUARE]
    one, other = ink(SQUARE), ink(moved)
    assert one is not None and other is not None
    assert (one.width, one.height) == pytest.approx((other.width, other.height))


def test_points_become_smooth_curves() -> None:
    drawn = ink([[[0, 0], [0.5, 0.5], [1, 0]]])
    assert drawn is not None
    assert drawn.path.count("Q") > 100
    assert "L" not in drawn.path


def test_a_dot_beside_a_line_stays() -> None:
    alone, dotted = ink([[[0, 0.5], [1, 0.5]]]), ink([[[0, 0.5], [1, 0.5]], [[0.5, 0.0]]])
    assert alone is not None and dotted is not None
    assert dotted.height > 400 > alone.height


def test_values_that_are_no_numbers_never_reach_the_picture() -> None:
    drawn = ink([[[0, 0], [float("nan"), 1], [float("inf"), 0], [1, 1]]])
    assert drawn is not None
    assert "nan" not in drawn.svg("#000") and "inf" not in drawn.svg("#000")


@pytest.mark.parametrize(
    ("strokes", "aspect"),
    [
        (SQUARE, 3.0),
        ([[[0.5, 0.5]]], 1.0),
        ([[[0.5, 0.5], [0.5004, 0.5]]], 1.0),
        ([[[0.5, 0.5], [0.501, 0.5]]], 5.0),
        ([[[0.1, 0.1]], [[0.9, 0.9]]], 1.0),
        ([], 1.0),
    ],
)
def test_has_ink_says_whether_something_is_drawn(strokes: list[list[list[float]]], aspect: float) -> None:
    assert has_ink(strokes, aspect) == (ink(strokes, aspect) is not None)
