"""A name that no font can write: its e-mail address where nobody knows how it is read, else Latin letters."""

from datetime import UTC, datetime

import pytest

from paraph.pdf.typesetting import fonts
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, appearances
from paraph.pdf.typesetting.glyph_fallback import glyph_fallback, initials_of, readable_name, written_otherwise
from tests.pdf.pictures import texts

ADDRESS = "aiko.tanaka@example.com"


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> fonts.Library:
    """A library of a machine without any font of its own."""
    return fonts.open_library(tmp_path_factory.mktemp("fonts"), system_folders=())


@pytest.mark.parametrize("name", ["愛子田中", "田中 愛子", "王小明", "山田たろう", "Mary 王"])
def test_han_characters_are_read_as_no_language_where_no_font_has_them(bare: fonts.Library, name: str) -> None:
    assert readable_name(name, ADDRESS, bare) == ADDRESS
    assert written_otherwise(name, ADDRESS, bare) == ADDRESS
    assert initials_of(readable_name(name, ADDRESS, bare)) == "A"


@pytest.mark.parametrize("name", ["Zoë Łukasiewicz", "محمد الخالدي", "김민준", "たろう", "Zoë 😀"])
def test_other_names_stay(bare: fonts.Library, name: str) -> None:
    assert readable_name(name, ADDRESS, bare) == name


def test_what_is_written_otherwise_is_told(bare: fonts.Library) -> None:
    assert written_otherwise("김민준", ADDRESS, bare) == "Gim Min Jun"
    assert written_otherwise("Zoë  Łukasiewicz ", ADDRESS, bare) == ""


def test_syllables_are_words_of_their_own(bare: fonts.Library) -> None:
    """In the names of files, of which nobody has an address."""
    assert glyph_fallback("愛子田中.pdf", bare).text == "Ai Zi Tian Zhong.pdf"


def test_stamp_and_initials_have_the_address(bare: fonts.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("glyph_fallback", "typeset"):
        monkeypatch.setattr(f"paraph.pdf.typesetting.{place}.library", lambda: bare)
    monkeypatch.setattr("paraph.pdf.typesetting.typeset._idle", [])
    stamp = StampContent(200, 80, "愛子田中", datetime(2026, 1, 1, tzinfo=UTC), 7, address=ADDRESS)
    drawn = appearances([stamp], [InitialsContent("愛子田中", address=ADDRESS)])
    assert ADDRESS in "".join(texts(drawn.pdf)[0].split())


def test_what_is_missing_is_named(bare: fonts.Library) -> None:
    assert bare.missing[0] == fonts.CJK and {"Tamil", "Khmer", "emoji"} <= set(bare.missing)
    assert not any(name.startswith("CJK") for name in bare.missing)
