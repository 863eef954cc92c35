"""Pages in other scripts than Latin: their words in reading order, and tags in every order in which programs draw
them."""

import shutil
from collections.abc import Sequence
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import pymupdf_fonts
import pytest
import typst
from pikepdf import Name

from paraph.pdf.untrusted.page_reading import FoundTag, find_tags, list_tags, text_layer
from tests.pdf.pdf_factory import Stream, paper, unicode_map

_compile: Any = typst.compile  # its stubs have type variables that no call can settle

CONTRACT = (
    "عقد إيجار",
    "هذا العقد رقم 123 بتاريخ ٢٢/١١/٢٠٢٦ بين المؤجر والمستأجر، لا يجوز إلغاؤه الا باتفاق (الطرفين).",  # noqa: RUF001
    "التوقيع [[tenant]] هنا",
    "المالك: {{signature:owner}} وايضا Paraph Ltd. 42% و 10-12",
    "ورد في كتاب «الأم» و(كتاب [آخر]) لدى Paraph (Ltd) سنة 2026",
    "The word عقد means contract; the words السلام عليكم too, 12 times.",
    "חוזה שכירות 12 (abc) [[נציג]]",
)
STEP = 8.0
MIRRORED = str.maketrans("(){}[]", ")(}{][")
# Each tag as it stands on the page, with brackets as the file means them: in a paragraph that runs from left to right,
# and in one from right to left, where an opening bracket stands to the right of what it opens.
LINES = {
    "{{\u05d7\u05ea\u05d9\u05de\u05d4}}": ("{{\u05d4\u05de\u05d9\u05ea\u05d7}}", "}}\u05d4\u05de\u05d9\u05ea\u05d7{{"),
    "[[\u062a\u0648\u0642\u064a\u0639]]": ("[[\u0639\u064a\u0642\u0648\u062a]]", "]]\u0639\u064a\u0642\u0648\u062a[["),
    "{{sign:\u05de\u05e9\u05d4}}": ("{{sign:\u05d4\u05e9\u05de}}", "}}\u05d4\u05e9\u05de:sign{{"),
    "{{\u05d4\u05ea\u05d912}}": ("{{12\u05d9\u05ea\u05d4}}", "}}12\u05d9\u05ea\u05d4{{"),
    "{{\u05dc\u05d0\u05d4 Cohen}}": ("{{\u05d4\u05d0\u05dc Cohen}}", "}}Cohen \u05d4\u05d0\u05dc{{"),
    "{{sign1}}": ("{{sign1}}", "}}sign1{{"),
}
TAGS = pytest.mark.parametrize("tag", LINES, ids=[f"tag{number}" for number in range(len(LINES))])
PARAGRAPHS = pytest.mark.parametrize("paragraph", [0, 1], ids=["from left", "from right"])
DRAWN_AS = pytest.mark.parametrize("mirrored", [False, True], ids=["brackets as meant", "brackets as shown"])
ORDERS = pytest.mark.parametrize("order", ["from left", "from right", "odd ones first"])
BESIDE = ("\u05dd\u05d5\u05dc\u05e9 ", " \u05d4\u05d3\u05d5\u05ea")
_LANGUAGES = {"he": (0x590, 0x5FF), "ar": (0x600, 0x6FF)}


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "FiraGO.otf").write_bytes(pymupdf_fonts.myfont("figo"))
    return folder


@pytest.fixture(scope="module")
def contract(fonts: Path) -> bytes:
    """A contract set by Typst, which draws each line from left to right."""
    lines = "\n#parbreak()\n".join(
        f'#text(dir: {"ltr" if line.startswith("The") else "rtl"}, "{line}")' for line in CONTRACT
    )
    source = f'#set page(width: 595pt, height: 842pt)\n#set text(font: "FiraGO", size: 11pt, lang: "ar")\n{lines}'
    pdf: bytes = _compile(source.encode(), font_paths=[str(fonts)], ignore_system_fonts=True)
    return pdf


def letter_by_letter(line: str) -> list[tuple[float, str]]:
    """Return each letter of a line with its place, without the spaces."""
    places = accumulate((8 if letter == " " else 5 for letter in line), initial=100.0)
    return [(x, letter) for x, letter in zip(places, line, strict=False) if letter != " "]


def ordered(glyphs: list[tuple[float, str]], order: str) -> list[tuple[float, str]]:
    orders = {"from left": glyphs, "from right": glyphs[::-1], "odd ones first": glyphs[1::2] + glyphs[::2]}
    return orders[order]


def lines_of(pdf: bytes) -> list[str]:
    words = text_layer(pdf, 1).words
    return [" ".join(word.text for word in line) for _, line in groupby(words, key=lambda word: word.line)]


def test_a_contract_reads_as_it_was_written(contract: bytes) -> None:
    assert lines_of(contract) == list(CONTRACT)


def test_tags_are_found_where_they_stand(contract: bytes) -> None:
    words = {word.text: word for word in text_layer(contract, 1).words}
    tags = ["[[tenant]]", "{{signature:owner}}", "[[נציג]]"]
    found = find_tags(contract, [*tags, "[[tenant[[", "]]tenant]]"])
    assert set(tags) <= found.keys()
    for tag in tags:
        assert found[tag].x == pytest.approx(words[tag].x, abs=1)
        assert found[tag].x + found[tag].width == pytest.approx(words[tag].x + words[tag].width, abs=1)
        assert words[tag].y - 1 < found[tag].y < words[tag].y + words[tag].height


def test_tags_that_nobody_named_are_listed(contract: bytes) -> None:
    assert list_tags(contract) == find_tags(contract, ["{{signature:owner}}"])


@ORDERS
@DRAWN_AS
@pytest.mark.parametrize(
    ("seen", "read"),
    [
        ("}}\u05d4\u05de\u05d9\u05ea\u05d7{{ \u05e0\u05d0", "\u05d0\u05e0 {{\u05d7\u05ea\u05d9\u05de\u05d4}}"),
        (".(\u05d3\u05d7\u05d0) 12 \u05e7\u05e8\u05e4", "\u05e4\u05e8\u05e7 12 (\u05d0\u05d7\u05d3)."),
        ("\u0627\u0646\u0647 [[12:sign]] \u0639\u064a\u0642\u0648\u062a", "توقيع [[12:sign]] هنا"),
    ],
)
def test_whatever_the_order_of_drawing(order: str, mirrored: bool, seen: str, read: str) -> None:
    glyphs = letter_by_letter(seen.translate(MIRRORED) if mirrored else seen)
    assert lines_of(drawn(ordered(glyphs, order)))[-1] == read


def test_brackets_stay_as_they_are_where_no_text_runs_from_right() -> None:
    pdf = drawn(letter_by_letter("}}sign1{{"), above="annex")
    assert lines_of(pdf)[-1] == "}}sign1{{" and find_tags(pdf, ["{{sign1}}"]) == {}


def drawn(runs: Sequence[tuple[float, str]], above: str = "\u05d7\u05d5\u05d6\u05d4") -> bytes:
    """A page with each run of characters at its place on the baseline 300, in a font that says which they are."""
    letters = sorted(set(above + "".join(text for _, text in runs)))

    texts = [(100.0, 400, above), *((x, 300, text) for x, text in runs)]
    codes = [(x, y, bytes(0x41 + letters.index(letter) for letter in text).hex()) for x, y, text in texts]
    shown = [f"BT /F2 12 Tf 1 0 0 1 {x} {y} Tm <{code}> Tj ET\n" for x, y, code in codes]
    font = {"Type": Name.Font, "Subtype": Name.Type1, "BaseFont": Name.Helvetica}
    fonts = {"F2": {**font, "ToUnicode": Stream(unicode_map(letters, first=0x41))}}
    return paper("".join(shown), resources={"Font": fonts})


def placed(line: str, start: float = 100) -> list[tuple[float, str]]:
    return [(start + STEP * index, letter) for index, letter in enumerate(line)]


def only(pdf: bytes, tag: str) -> FoundTag:
    found = find_tags(pdf, [tag, f"{tag}x", tag.replace("{{", "(("), tag.replace("{{", "{{{")])
    assert list(found) == [tag]
    return found[tag]


@TAGS
@PARAGRAPHS
@DRAWN_AS
@ORDERS
@pytest.mark.parametrize("beside", [("", ""), BESIDE], ids=["alone", "beside words"])
def test_glyph_by_glyph(tag: str, paragraph: int, mirrored: bool, order: str, beside: tuple[str, str]) -> None:
    line = LINES[tag][paragraph]
    shown = line.translate(MIRRORED) if mirrored and paragraph else line
    glyphs = placed(beside[0] + shown + beside[1], 100 - STEP * len(beside[0]))
    found = only(drawn([glyph for glyph in ordered(glyphs, order) if glyph[1] != " "]), tag)
    assert found.x == pytest.approx(100.5, abs=1.5)
    assert found.x + found.width == pytest.approx(100 + STEP * len(line), abs=8)
    assert 295 < found.y < 301


@TAGS
@PARAGRAPHS
def test_in_one_run(tag: str, paragraph: int) -> None:
    found = only(drawn([(100, BESIDE[1] + " "), (200, LINES[tag][paragraph].replace(" ", ""))]), tag)
    assert found.x == pytest.approx(200.5, abs=1.5)


@TAGS
def test_by_programs_that_know_nothing_of_it(tag: str) -> None:
    """They store the tag from the first letter to the last and draw it from left to right, which nobody can read."""
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


def page(tag: str, fonts: Path) -> bytes:
    """A page with ``tag`` between Latin words, its baseline 200 points from the top."""
    language = next(
        (name for name, (first, last) in _LANGUAGES.items() if any(first <= ord(c) <= last for c in tag)), "en"
    )
    source = f"""
        #set page(width: 400pt, height: 500pt, margin: 0pt)
        #set text(font: ("FiraGO", "Noto Serif CJK JP"), size: 12pt, lang: "{language}", top-edge: "baseline")
        #place(top + left, dx: 50pt, dy: 200pt, "sign {tag} here")
        #place(top + left, dx: 50pt, dy: 300pt, "nothing")
    """
    pdf: bytes = _compile(source.encode(), font_paths=[str(fonts)])
    return pdf


@pytest.mark.parametrize(
    "tag",
    [
        "{{подпись1}}",  # noqa: RUF001  Cyrillic is meant
        "Υπογραφή του",
        "חתימה",
        "{{חתימה12}}",  # noqa: RUF001  Hebrew is meant
        "(חתימה) של המוכר",
        "توقيع",
        "{{توقيع1}}",
        "[[توقيع]]",
        "{{الإمضاء}}",
        "{{sign:דוד}}",
        "{{לאה Cohen}}",
        "[[sign:محمد]]",
        "हस्ताक्षर",
        "ลายเซ็น",
        "{{naïve}}",
        "{{office-fi}}",
        "{{署名1}}",
        "署名場所",
        "{{서명}}",
        "签字处",
    ],
)
def test_scripts(tag: str, fonts: Path) -> None:
    noto = shutil.which("fc-list") and any(Path("/usr/share/fonts").rglob("NotoSerifCJK*"))
    if tag.strip("{}") >= "\u2e80" and not noto:
        pytest.skip("fonts-noto-cjk is not installed")
    found = find_tags(page(tag, fonts), [tag, tag[:-1] + "x"])
    assert list(found) == [tag]
    place = found[tag]
    assert place.page_number == 1
    assert 45 < place.x < 120 and 292 < place.y < 302
    assert 6 < place.height < 18
