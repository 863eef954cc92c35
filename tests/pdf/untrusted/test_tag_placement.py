"""A stamp under its tag (rule 4.5)."""

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import GAP, FoundTag, Rect, under

A4 = (595.0, 842.0)


def test_a_stamp_stands_just_under_its_tag_and_centred() -> None:
    rect = under(FoundTag(1, 250, 400, 60, 12), A4)
    assert rect == Rect(180, 400 - GAP - 80, 200, 80)
    assert rect.x + rect.width / 2 == 250 + 60 / 2


@pytest.mark.parametrize(
    ("tag", "corner"),
    [
        (FoundTag(1, 10, 400, 60, 12), (0, 318)),
        (FoundTag(1, 530, 400, 60, 12), (395, 318)),
        (FoundTag(1, 250, 82, 60, 12), (180, 0)),
        (FoundTag(1, 250, 81.995, 60, 12), (180, 0)),
        (FoundTag(1, 0, 82, 60, 12), (0, 0)),
    ],
    ids=["left", "right", "foot", "foot, but for the last digit", "corner"],
)
def test_a_stamp_is_moved_into_the_page_sideways(tag: FoundTag, corner: tuple[float, float]) -> None:
    rect = under(tag, A4)
    assert (rect.x, rect.y) == corner
    assert (rect.width, rect.height) == (200, 80)


@pytest.mark.parametrize(("y", "room"), [(81.9, "79.9"), (30, "28.0"), (1, "0.0")])
def test_a_stamp_is_never_moved_up_over_its_tag(y: float, room: str) -> None:
    with pytest.raises(PdfRefused) as caught:
        under(FoundTag(2, 250, y, 60, 12), A4)
    assert caught.value.reason == "no_room"
    assert caught.value.message == (
        f"There are {room} points of room under the tag on page 2 for the stamp (200 by 80 points)."
    )


def test_a_page_that_is_smaller_than_the_stamp_is_refused() -> None:
    with pytest.raises(PdfRefused) as caught:
        under(FoundTag(3, 10, 40, 60, 12), (150, 500))
    assert caught.value.reason == "too_small"
    assert caught.value.message == "Page 3 (150 by 500 points) is smaller than the stamp (200 by 80 points)."
