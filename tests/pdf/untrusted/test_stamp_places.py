"""What lies under a stamp: whether its letters could be read there, and which words it covers."""

import pikepdf
import pytest
from pikepdf import Dictionary, Name
from PIL import Image

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import look_underneath
from tests.pdf.pdf_factory import paper, text

NAVY = "0.05 0.1 0.25 rg "
PLACE = (100.0, 300.0, 200.0, 80.0)
LINE = "The tenant keeps the flat and the cellar in good order at all times, and pays the rent."
PARAGRAPH = "".join(text(LINE, 40, 780 - 12 * row, 11) for row in range(60))
CAPITALS = "".join(text(LINE.upper(), 40, 780 - 15 * row, 14) for row in range(50))
HEADLINE = text("CONTRACT OF SALE", 100, 330, 36)
YELLOW = "1 1 0.6 rg 0 0 595 842 re f"
GREY_FORM = "0.9 g 0 0 595 842 re f 0 g 100 300 200 80 re S " + text("Signature: ____________", 105, 310)
BAR = "0 g 90 335 300 8 re f "


def is_dark(content: str, place: tuple[float, float, float, float] = PLACE, **page: object) -> bool:
    [under] = look_underneath(paper(content, page=page), [(1, *place)])
    return under.dark


@pytest.mark.parametrize(
    "content",
    [
        f"{NAVY}0 0 595 842 re f",
        f"{NAVY}0 0 120 842 re f",  # a tenth of the stamp: the first letters of the name
        f"{NAVY}0 0 595 842 re f 1 g {PARAGRAPH}",
        "0.6 g 0 0 595 842 re f",
        "".join(f"{x * y % 2} g {90 + x * 6} {290 + y * 6} 6 6 re f " for x in range(40) for y in range(20)),
    ],
)
def test_a_dark_or_busy_page_needs_a_ground(content: str) -> None:
    assert is_dark(content)


@pytest.mark.parametrize(
    "content", ["", PARAGRAPH, CAPITALS, HEADLINE, GREY_FORM, BAR, YELLOW, f"{NAVY}0 0 98 842 re f"]
)
def test_a_light_one_needs_none_whatever_is_written_on_it(content: str) -> None:
    assert not is_dark(content)


def test_a_photograph_needs_one() -> None:
    def prepare(document: pikepdf.Pdf) -> None:
        noise = Image.effect_noise((200, 200), 60).tobytes()
        entries = Dictionary(Subtype=Name.Image, Width=200, Height=200, ColorSpace=Name.DeviceGray, BitsPerComponent=8)
        document.pages[0].obj.Resources.XObject = Dictionary(X=document.make_stream(noise, entries))

    pdf = paper("q 595 0 0 842 0 0 cm /X Do Q", prepare=prepare)
    assert look_underneath(pdf, [(1, *PLACE)])[0].dark


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
    """A dark field from 100, 300 to 250, 380 in the page's own space; just beside it nothing is dark."""
    pdf = paper(f"{NAVY}100 300 150 80 re f", page=page)
    x, y, width, height = place
    beside = [(1, x + width + 1, y, 40, height), (1, x, y + height + 1, width, 40)]
    found = look_underneath(pdf, [(1, x, y, width, height), *beside])
    assert [under.dark for under in found] == [True, False, False]


def test_many_places_are_answered_in_their_order() -> None:
    pdf = paper("", f"{NAVY}0 0 595 842 re f", "")
    pages = [2, 1, 3, 2, 1]
    found = look_underneath(pdf, [(page, *PLACE) for page in pages])
    assert [under.dark for under in found] == [page == 2 for page in pages]
    with pytest.raises(PdfRefused, match="no page 4"):
        look_underneath(pdf, [(4, *PLACE)])


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
    [under] = look_underneath(paper(content), [(1, *PLACE)], texts=True)
    assert under.words == words


def test_the_same_bytes_are_judged_alike_whatever_was_read_before() -> None:
    dark, light = paper(f"{NAVY}0 0 595 842 re f"), paper(PARAGRAPH)
    judged = [[look_underneath(pdf, [(1, *PLACE)])[0].dark for pdf in (dark, light)] for _ in range(3)]
    assert judged == [[True, False]] * 3
