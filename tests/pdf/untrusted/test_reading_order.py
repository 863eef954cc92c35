"""The words of pages whose text runs from right to left, as a reader takes them."""

import re
import subprocess
from itertools import accumulate, groupby
from pathlib import Path
from typing import Any

import pymupdf_fonts
import pytest
import typst

from paraph.pdf.untrusted.page_reading import find_tags, list_tags, text_layer
from tests.independent import need
from tests.pdf.untrusted.test_find_both_ways import MIRRORED, drawn

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


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A contract set by Typst, which draws each line from left to right."""
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "FiraGO.otf").write_bytes(pymupdf_fonts.myfont("figo"))
    lines = "\n#parbreak()\n".join(
        f'#text(dir: {"ltr" if line.startswith("The") else "rtl"}, "{line}")' for line in CONTRACT
    )
    source = f'#set page(width: 595pt, height: 842pt)\n#set text(font: "FiraGO", size: 11pt, lang: "ar")\n{lines}'
    pdf: bytes = _compile(source.encode(), font_paths=[str(folder)], ignore_system_fonts=True)
    return pdf


def letter_by_letter(line: str) -> list[tuple[float, str]]:
    """Each letter of a line at its place, without the spaces."""
    places = accumulate((8 if letter == " " else 5 for letter in line), initial=100.0)
    return [(x, letter) for x, letter in zip(places, line, strict=False) if letter != " "]


def lines_of(pdf: bytes) -> list[str]:
    words = text_layer(pdf, 1).words
    return [" ".join(word.text for word in line) for _, line in groupby(words, key=lambda word: word.line)]


def test_a_contract_reads_as_it_was_written(contract: bytes) -> None:
    assert lines_of(contract) == list(CONTRACT)


def test_words_are_those_of_pdftotext(contract: bytes, tmp_path: Path) -> None:
    """All but those with a lam-alef, whose two letters pdftotext exchanges, and those that touch brackets."""
    file = tmp_path / "contract.pdf"
    file.write_bytes(contract)
    other = subprocess.run([need("pdftotext", "poppler-utils"), file, "-"], capture_output=True, text=True, check=True)
    plain = re.compile("[\u05d0-\u05ea\u0621-\u064a]+")
    theirs = set(plain.findall(other.stdout))
    ours = {word for line in lines_of(contract) for word in plain.findall(line)}
    unlike = {word for word in ours - theirs if not re.search("\u0644[\u0622\u0623\u0625\u0627]", word)}
    assert len(ours & theirs) > 20
    assert unlike == set()


def test_tags_are_found_where_they_stand(contract: bytes) -> None:
    words = {word.text: word for word in text_layer(contract, 1).words}
    tags = ["[[tenant]]", "{{signature:owner}}", "[[נציג]]"]
    found = find_tags(contract, [*tags, "[[tenant[[", "]]tenant]]"])
    assert {"[[tenant]]", "{{signature:owner}}", "[[נציג]]"} <= found.keys()
    for tag in tags:
        assert found[tag].x == pytest.approx(words[tag].x, abs=1)
        assert found[tag].x + found[tag].width == pytest.approx(words[tag].x + words[tag].width, abs=1)
        assert words[tag].y - 1 < found[tag].y < words[tag].y + words[tag].height


def test_tags_that_nobody_named_are_listed(contract: bytes) -> None:
    assert list_tags(contract) == find_tags(contract, ["{{signature:owner}}"])


@pytest.mark.parametrize("order", ["from left", "from right", "odd ones first"])
@pytest.mark.parametrize("mirrored", [False, True], ids=["brackets as meant", "brackets as shown"])
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
    if order == "from right":
        glyphs.reverse()
    elif order == "odd ones first":
        glyphs = glyphs[1::2] + glyphs[::2]
    assert lines_of(drawn(glyphs))[-1] == read


def test_brackets_stay_as_they_are_where_no_text_runs_from_right() -> None:
    assert lines_of(drawn(letter_by_letter("}}sign1{{"), above="annex"))[-1] == "}}sign1{{"
