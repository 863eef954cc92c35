"""Which words a stamp covers."""

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import find_covered_words
from tests.pdf.pdf_factory import paper, text

PLACE = (100.0, 300.0, 200.0, 80.0)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ""),
        (text("Rent: 1,200 euros", 110, 330), "Rent: 1,200 euros"),
        (text("[[tenant]] {{sign:1}}", 110, 330), ""),
        (text("____________________", 110, 330), ""),
        (text("Signature: ____________", 50, 310), ""),  # its label stands beside
        (text("Ok", 110, 330), ""),
        (text("Above it stands a line", 110, 382), ""),
        (text("And one is below it", 110, 290), ""),
    ],
)
def test_the_words_that_a_stamp_covers(content: str, words: str) -> None:
    assert find_covered_words(paper(content), [(1, *PLACE)]) == [words]


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ({"/Rotate": 90}, (300, 345, 80, 150)),
        ({"/Rotate": 180}, (345, 462, 150, 80)),
        ({"/Rotate": 270}, (462, 100, 80, 150)),
        ({"/CropBox": [50, 150, 350, 550]}, (50, 150, 150, 80)),
        ({"/UserUnit": 2}, (200, 600, 300, 160)),
    ],
)
def test_places_are_those_that_a_reader_sees(page: dict[str, object], place: tuple[float, ...]) -> None:
    """Words from 120, 335 on, in the page's own space; just beside the place is nothing."""
    pdf = paper(text("Rent", 120, 335), page=page)
    x, y, width, height = place
    beside = [(1, x + width + 1, y, 40, height), (1, x, y + height + 1, width, 40)]
    found = find_covered_words(pdf, [(1, x, y, width, height), *beside])
    assert [words.replace(" ", "") for words in found] == ["Rent", "", ""]


def test_many_places_are_answered_in_their_order() -> None:
    pdf = paper("", text("Rent", 120, 335), "")
    pages = [2, 1, 3, 2, 1]
    found = find_covered_words(pdf, [(page, *PLACE) for page in pages])
    assert found == ["Rent" if page == 2 else "" for page in pages]
    with pytest.raises(PdfRefused, match="no page 4"):
        find_covered_words(pdf, [(4, *PLACE)])
