"""Tags in Type 3 fonts, whose glyphs are measured in units of their own (rule 4.5)."""

import pikepdf
import pytest
from pikepdf import Array, Dictionary, Name

from paraph.pdf.untrusted.page_reading import find_tags, under
from tests.pdf.pdf_factory import paper
from tests.pdf.unicode_map import unicode_map

TAG = "{{sign1}}"
EM = 12.0  # points; each glyph is 0.6 em wide, its ink from 0.05 to 0.55 and from the baseline to 0.7
WIDTH, HEIGHT = 0.6 * EM * len(TAG), 0.7 * EM


def type3(scale: tuple[float, float], units: float, *, shown: str = "{}", box: bool = True) -> bytes:
    """The tag at 100, 300. ``scale``: of the FontMatrix; ``units``: so many are an em in the glyphs."""
    letters = sorted(set(TAG))
    down = -1 if scale[1] < 0 else 1

    def prepare(document: pikepdf.Pdf) -> None:
        left, bottom, right, top = 0.05 * units, 0.0, 0.55 * units, 0.7 * units * down
        edges = f"{left} {min(bottom, top)} {right} {max(bottom, top)}" if box else "0 0 0 0"
        glyph = f"{0.6 * units} 0 {edges} d1 {left} {bottom} {right - left} {top - bottom} re f"
        names = [f"/g{number}" for number in range(len(letters))]
        font = Dictionary(Type=Name.Font, Subtype=Name.Type3, FontMatrix=Array([scale[0], 0, 0, scale[1], 0, 0]))
        font.FontBBox = Array([0, 0, 0, 0])
        font.CharProcs = Dictionary({name: document.make_stream(glyph.encode()) for name in names})
        font.Encoding = Dictionary(Type=Name.Encoding, Differences=Array([1, *map(Name, names)]))
        font.FirstChar, font.LastChar = 1, len(letters)
        font.Widths = Array([0.6 * units] * len(letters))
        font.Resources = Dictionary()
        font.ToUnicode = document.make_stream(unicode_map(letters, first=1))
        document.pages[0].obj.Resources.Font.F3 = document.make_indirect(font)

    size = EM / (units * scale[0])
    codes = [f"{letters.index(letter) + 1:02x}" for letter in TAG]
    text = shown.format(f"<{''.join(codes)}>", first=f"<{''.join(codes[:4])}>", second=f"<{''.join(codes[4:])}>")
    content = text if text.startswith("BT") else f"BT /F3 {size:.8f} Tf 1 0 0 1 100 300 Tm {text} Tj ET"
    return paper(content.replace("SIZE", f"{size:.8f}"), prepare=prepare)


SCALES = [(1.0, 1.0), (0.001, 0.001), (0.1, -0.1), (0.012, 0.012), (1.0, -1.0), (4.0, 4.0)]


# PDFium drops repeated letters where the size that is set is more than seven times what is drawn.
MEASURES = [(scale, units) for scale in SCALES for units in (1.0, 40.0, 1000.0) if units * scale[0] > 0.2]


@pytest.mark.parametrize(("scale", "units"), MEASURES, ids=str)
@pytest.mark.parametrize("box", [True, False], ids=["with boxes", "without"])
def test_the_stamp_stands_under_the_ink(scale: tuple[float, float], units: float, box: bool) -> None:
    found = find_tags(type3(scale, units, box=box), [TAG])[TAG]
    assert found.x == pytest.approx(100 + 0.05 * EM, abs=0.2)
    assert found.width == pytest.approx(WIDTH - 0.1 * EM, abs=0.4)
    assert found.y == pytest.approx(300, abs=0.2)
    assert found.height == pytest.approx(HEIGHT, abs=0.2)
    rect = under(found, (595, 842))
    assert rect.y + rect.height == pytest.approx(298, abs=0.2)


@pytest.mark.parametrize("scale", SCALES[:3], ids=str)
def test_pieces_of_two_lines_and_of_two_columns(scale: tuple[float, float]) -> None:
    units = 40 / scale[0]  # an em of 40 units of text at the size 0.3
    lines = "BT /F3 SIZE Tf 1 0 0 1 400 300 Tm {first} Tj 1 0 0 1 100 286 Tm {second} Tj ET"
    found = find_tags(type3(scale, units, shown=lines), [TAG])[TAG]
    assert found.x == pytest.approx(100.6, abs=0.2) and found.y == pytest.approx(286, abs=0.2)
    columns = "BT /F3 SIZE Tf 1 0 0 1 100 300 Tm {first} Tj 1 0 0 1 300 300 Tm {second} Tj ET"
    assert find_tags(type3(scale, units, shown=columns), [TAG]) == {}


def test_a_size_within_the_text_matrix() -> None:
    content = "BT /F3 1 Tf 0.3 0 0 0.3 100 300 Tm {} Tj ET"
    found = find_tags(type3((1, 1), 40, shown=content), [TAG])[TAG]
    assert found.width == pytest.approx(WIDTH - 0.1 * EM, abs=0.4)
