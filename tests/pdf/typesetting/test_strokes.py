"""From pointer positions to ink."""

import math
import random
import time
from dataclasses import replace
from itertools import pairwise

import pytest
from PIL import Image, ImageChops

from paraph.pdf.typesetting.appearances import StampContent
from paraph.pdf.typesetting.strokes import MAX_POINTS, MAX_STROKES, Ink, has_ink, ink, simplified
from tests.pdf.pictures import DRAWN, pictures
from tests.pdf.typesetting.test_appearances import STAMP, stamps

SQUARE = [[[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8], [0.2, 0.2]]]


def inked(strokes: list[list[list[float]]], aspect: float = 1.0) -> Ink:
    drawn = ink(strokes, aspect)
    assert drawn is not None
    return drawn


@pytest.mark.parametrize("aspect", [1.0, 3.0, 0.5])
def test_proportions_are_kept(aspect: float) -> None:
    drawn = inked(SQUARE, aspect)
    assert drawn.width / drawn.height == pytest.approx(aspect, rel=0.06)
    assert max(drawn.width, drawn.height) == pytest.approx(1000)


def test_where_on_the_pad_it_was_drawn_does_not_matter() -> None:
    moved = [[[x - 0.1, y + 0.15] for x, y in stroke] for stroke in SQUARE]
    one, other = inked(SQUARE), inked(moved)
    assert (one.width, one.height) == pytest.approx((other.width, other.height))


def test_points_become_smooth_curves() -> None:
    path = inked([[[0, 0], [0.5, 0.5], [1, 0]]]).path
    assert path.count("Q") > 100 and "L" not in path


def test_a_dot_beside_a_line_stays() -> None:
    alone, dotted = inked([[[0, 0.5], [1, 0.5]]]), inked([[[0, 0.5], [1, 0.5]], [[0.5, 0.0]]])
    assert dotted.height > 400 > alone.height


def test_values_that_are_no_numbers_never_reach_the_picture() -> None:
    svg = inked([[[0, 0], [float("nan"), 1], [float("inf"), 0], [1, 1]]]).svg("#000")
    assert "nan" not in svg and "inf" not in svg


@pytest.mark.parametrize(
    ("strokes", "aspect"),
    [
        (SQUARE, 3.0),
        ([[[0.5, 0.5]]], 1.0),
        ([[[0.5, 0.5], [0.5004, 0.5]]], 1.0),
        ([[[0.5, 0.5], [0.501, 0.5]]], 5.0),
        ([[[0.1, 0.1]], [[0.9, 0.9]]], 1.0),
        ([[[0.1, 0.1], [0.105, 0.105]], [[0.9, 0.9]], [[0.5, 0.1]]], 1.0),
        ([], 1.0),
    ],
)
def test_only_a_line_is_ink_and_dots_alone_are_none(strokes: list[list[list[float]]], aspect: float) -> None:
    assert has_ink(strokes, aspect) == (strokes == SQUARE)
    assert ink(strokes, aspect) or not has_ink(strokes, aspect)


CHANCE = random.Random(2026)  # the same drawings in every run
SIZES = [(80.0, 30.0), (200.0, 80.0), (400.0, 160.0)]


def hand(points: int, unsteady: float = 0.0003) -> list[list[list[float]]]:
    """Return a signature with loops, a line under it and a dot, drawn at varying speed on the pixels of a phone."""
    loops: list[list[float]] = []
    way = 0.0
    while way < 1:
        way += (0.0008 + 0.004 * abs(math.sin(9 * way))) * 600 / points
        x = 0.05 + 0.9 * way + 0.05 * math.sin(38 * way)
        y = 0.2 + 0.12 * math.cos(38 * way + 0.4) * (1 - 0.6 * way) + 0.04 * math.sin(13 * way)
        loops.append([round((value + CHANCE.gauss(0, unsteady)) * 800) / 800 for value in (x, y)])
    return [loops, [[0.1 + 0.06 * step, 0.36 - 0.002 * step] for step in range(13)], [[0.83, 0.1]]]


def stamp(strokes: list[list[list[float]]], width: float = 200, height: float = 80) -> StampContent:
    return replace(STAMP, width=width, height=height, signature={"type": "drawn", "strokes": strokes})


def grey(content: StampContent) -> Image.Image:
    [picture] = pictures(stamps([content]))
    return Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture).convert("L")


@pytest.mark.parametrize("points", [300, 1500])
def test_a_signature_keeps_its_look_on_the_largest_stamp(points: int) -> None:
    strokes = hand(points)
    fewer = simplified(strokes)
    assert sum(map(len, fewer)) < sum(map(len, strokes))
    difference = ImageChops.difference(*(grey(stamp(each, 400, 160)) for each in (strokes, fewer)))
    assert sum(difference.histogram()[128:]) < 0.001 * difference.width * difference.height


def test_what_needs_all_its_points_keeps_them() -> None:
    assert simplified(DRAWN["strokes"]) == DRAWN["strokes"]  # type: ignore[arg-type]


def test_corners_ends_and_dots_stay() -> None:
    line = [[step / 1000, 0.5] for step in range(1000)]
    corner = [*line, *[[0.999, 0.5 - step / 4000] for step in range(1, 1000)]]
    [kept, dot] = simplified([corner, [[0.3, 0.2]]])
    assert kept[0] == corner[0] and kept[-1] == corner[-1] and [0.999, 0.5] in kept
    assert dot == [[0.3, 0.2]]
    assert len(kept) < 300
    gaps = [math.dist(one, other) for one, other in pairwise(kept)]
    assert max(gaps) <= 0.0101, "the spacing of the points tells how fast the hand was"


def random_points(count: int) -> list[list[float]]:
    return [[CHANCE.random(), CHANCE.random()] for _ in range(count)]


HOSTILE: dict[str, list[list[list[float]]]] = {
    "zigzag": [[[number % 2, number * 7919 % 20_000 / 20_000] for number in range(20_000)]],
    "noise": [random_points(20_000)],
    "dots": [[point] for point in random_points(20_000)],
    "lines": [random_points(2) for _ in range(10_000)],
    "strokes": [random_points(100) for _ in range(200)],
    "spiral": [[[0.5 + n / 40_000 * math.cos(n / 30), 0.5 + n / 40_000 * math.sin(n / 30)] for n in range(20_000)]],
    "staircase": [[[n / 20_000, n * n % 7 / 7] for n in range(20_000)]],
}


@pytest.mark.parametrize("strokes", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.thorough
def test_no_drawing_is_large_or_slow(strokes: list[list[list[float]]]) -> None:
    began = time.process_time()
    fewer = simplified(strokes)
    assert time.process_time() - began < 2, "quadratic it would be minutes"
    assert len(fewer) <= MAX_STROKES and sum(map(len, fewer)) <= MAX_POINTS
    assert fewer == simplified(strokes)
    typed = len(stamps([replace(STAMP, width=width, height=height) for width, height in SIZES]))
    for drawn in (fewer, strokes):  # earlier versions stored strokes as they were sent
        assert len(stamps([stamp(drawn, *size) for size in SIZES])) - typed < 200_000


def test_ten_sizes_take_no_more_room_than_one() -> None:
    strokes = hand(400)
    rooms = []
    for count in (1, 10):
        drawn = [stamp(strokes, 200 + 10 * step, 80 + 5 * step) for step in range(count)]
        rooms.append(len(stamps(drawn)) - len(stamps([replace(each, signature=STAMP.signature) for each in drawn])))
    assert rooms[1] - rooms[0] < 3_000


def test_what_shows_nothing_stays_harmless() -> None:
    for stroke in ([[0.5, 0.5]] * 20_000, [[0.2, 0.2]], [[0.1, 0.3], [0.1, 0.3]]):
        assert simplified([stroke]) == [stroke[:2]]


def test_the_proportions_count() -> None:
    """On a narrow pad, y counts for more: a bend that is visible there disappears on a wide one."""
    bend = [[0.0, 0.0], [0.0006, 0.0005], [0.001, 0.0], [1.0, 1.0]]
    assert len(simplified([bend], 0.05)[0]) == 4
    assert len(simplified([bend], 20)[0]) == 3
