"""Initials stay on the page, apart from each other, in the bottom margin."""

import pytest

from paraph.pdf.drawing.marks import initials_row


@pytest.mark.parametrize("page", [(595.3, 841.9), (841.9, 595.3), (100, 100), (30, 2000), (2000, 40)])
@pytest.mark.parametrize("count", [1, 2, 5, 25, 100])
def test_on_the_page_and_apart(page: tuple[float, float], count: int) -> None:
    places = initials_row(*page, count)
    assert len(places) == count
    for place in places:
        assert place.x >= 0 and place.y >= 0
        assert place.x + place.width <= page[0] + 1e-6
        assert place.y + place.height <= page[1] * 0.15
        assert place.width == pytest.approx(2 * place.height)
    for index, one in enumerate(places):
        for other in places[index + 1 :]:
            beside = one.x + one.width <= other.x + 1e-6 or other.x + other.width <= one.x + 1e-6
            above = one.y >= other.y + other.height - 1e-6 or other.y >= one.y + one.height - 1e-6
            assert beside or above


def test_one_signer_stands_at_the_bottom_right_in_full_size() -> None:
    [place] = initials_row(595, 842, 1)
    assert (place.width, place.height) == (48, 24)
    assert place.x + place.width == pytest.approx(595 - 14)
    assert place.y == 14


def test_signers_stand_in_their_order() -> None:
    places = initials_row(595, 842, 4)
    assert [place.x for place in places] == sorted(place.x for place in places)
    assert {place.y for place in places} == {14}
