"""Tags in text that runs from right to left, in every order in which programs write it (rule 4.5)."""

from collections.abc import Sequence

import pikepdf
import pytest
from pikepdf import Dictionary, Name

from paraph.pdf.untrusted.page_reading import FoundTag, find_tags
from tests.pdf.pdf_factory import paper
from tests.pdf.unicode_map import unicode_map

STEP = 8.0
MIRRORED = str.maketrans("(){}[]", ")(}{][")

# As they stand on the page from left to right, each bracket as the file means it: in a paragraph that runs from left
# to right, and in one from right to left, where an opening bracket stands at the right of what it opens.
LINES = {
    "{{\u05d7\u05ea\u05d9\u05de\u05d4}}": ("{{\u05d4\u05de\u05d9\u05ea\u05d7}}", "}}\u05d4\u05de\u05d9\u05ea\u05d7{{"),
    "[[\u062a\u0648\u0642\u064a\u0639]]": ("[[\u0639\u064a\u0642\u0648\u062a]]", "]]\u0639\u064a\u0642\u0648\u062a[["),
    "{{sign:\u05de\u05e9\u05d4}}": ("{{sign:\u05d4\u05e9\u05de}}", "}}\u05d4\u05e9\u05de:sign{{"),
    "{{\u05d7\u05ea\u05d9\u05de\u05d412}}": (
        "{{12\u05d4\u05de\u05d9\u05ea\u05d7}}",
        "}}12\u05d4\u05de\u05d9\u05ea\u05d7{{",
    ),
    "{{\u05dc\u05d0\u05d4 Cohen}}": ("{{\u05d4\u05d0\u05dc Cohen}}", "}}Cohen \u05d4\u05d0\u05dc{{"),
    "{{sign1}}": ("{{sign1}}", "}}sign1{{"),
}
BESIDE = ("\u05dd\u05d5\u05dc\u05e9 ", " \u05d4\u05d3\u05d5\u05ea")


def drawn(runs: Sequence[tuple[float, str]], above: str = "\u05d7\u05d5\u05d6\u05d4") -> bytes:
    """Each run of characters at its place on the baseline 300, in a font that says which they are."""
    letters = sorted(set(above + "".join(text for _, text in runs)))

    def prepare(document: pikepdf.Pdf) -> None:
        font = Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica)
        font.ToUnicode = document.make_stream(unicode_map(letters, first=0x41))
        document.pages[0].obj.Resources.Font.F2 = document.make_indirect(font)

    texts = [(100.0, 400, above), *((x, 300, text) for x, text in runs)]
    codes = [(x, y, bytes(0x41 + letters.index(letter) for letter in text).hex()) for x, y, text in texts]
    shown = [f"BT /F2 12 Tf 1 0 0 1 {x} {y} Tm <{code}> Tj ET\n" for x, y, code in codes]
    return paper("".join(shown), prepare=prepare)


def placed(line: str, start: float = 100) -> list[tuple[float, str]]:
    return [(start + STEP * index, letter) for index, letter in enumerate(line)]


def only(pdf: bytes, tag: str) -> FoundTag:
    found = find_tags(pdf, [tag, f"{tag}x", tag.replace("{{", "(("), tag.replace("{{", "{{{")])
    assert list(found) == [tag]
    return found[tag]


@pytest.mark.parametrize("tag", LINES, ids=[f"tag{number}" for number in range(len(LINES))])
@pytest.mark.parametrize("paragraph", [0, 1], ids=["from left", "from right"])
@pytest.mark.parametrize("mirrored", [False, True], ids=["brackets as meant", "brackets as shown"])
@pytest.mark.parametrize("order", ["from left", "from right", "odd ones first"])
@pytest.mark.parametrize("beside", [("", ""), BESIDE], ids=["alone", "beside words"])
def test_glyph_by_glyph(tag: str, paragraph: int, mirrored: bool, order: str, beside: tuple[str, str]) -> None:
    line = LINES[tag][paragraph]
    shown = line.translate(MIRRORED) if mirrored and paragraph else line
    glyphs = placed(beside[0] + shown + beside[1], 100 - STEP * len(beside[0]))
    if order == "from right":
        glyphs.reverse()
    elif order == "odd ones first":
        glyphs = glyphs[1::2] + glyphs[::2]
    found = only(drawn([glyph for glyph in glyphs if glyph[1] != " "]), tag)
    assert found.x == pytest.approx(100.5, abs=1.5)
    assert found.x + found.width == pytest.approx(100 + STEP * len(line), abs=8)
    assert 295 < found.y < 301


@pytest.mark.parametrize("tag", LINES, ids=[f"tag{number}" for number in range(len(LINES))])
@pytest.mark.parametrize("paragraph", [0, 1], ids=["from left", "from right"])
def test_in_one_run(tag: str, paragraph: int) -> None:
    found = only(drawn([(100, BESIDE[1] + " "), (200, LINES[tag][paragraph].replace(" ", ""))]), tag)
    assert found.x == pytest.approx(200.5, abs=1.5)


@pytest.mark.parametrize("tag", LINES, ids=[f"tag{number}" for number in range(len(LINES))])
def test_by_programs_that_know_nothing_of_it(tag: str) -> None:
    """Stored from the first letter to the last and drawn from left to right, which nobody can read."""
    assert only(drawn([(100, tag.replace(" ", ""))]), tag).x == pytest.approx(100.5, abs=1.5)


def test_what_is_read_counts_before_what_is_stored() -> None:
    tag, backwards = "{{\u05e9\u05dd}}", "{{\u05de\u05e9}}"
    first, second = "{{\u05e9\u05dd}}", "}}\u05dd\u05e9{{"
    assert only(drawn([*placed(first, 100), *placed(second, 300)]), tag).x == pytest.approx(300.5, abs=1.5)
    assert find_tags(drawn(placed(second, 300)), [backwards]) == {}


def test_vowel_signs_are_not_compared() -> None:
    pointed = "{{\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd}}"
    plain = "}}\u05dd\u05d5\u05dc\u05e9{{"
    assert only(drawn(placed(plain)), pointed).x == pytest.approx(100.5, abs=1.5)


def test_brackets_keep_their_direction_where_no_text_runs_from_right() -> None:
    assert find_tags(drawn(placed("}}sign1{{"), above="annex"), ["{{sign1}}"]) == {}
