"""The library of fonts is the same on every machine, except for scripts that only system fonts have."""

import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from paraph.pdf.typesetting import fonts
from paraph.pdf.typesetting.appearances import InitialsContent, StampContent, appearances, hand_of
from paraph.pdf.typesetting.glyph_fallback import clean, glyph_fallback, initials_of, readable_name, written_otherwise
from tests.pdf.pictures import texts


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> fonts.Library:
    """Return the library of a machine without any system font."""
    return fonts.open_library(tmp_path_factory.mktemp("fonts"), system_folders=())


NAMES = ["Zoë Łukasiewicz", "Nguyễn Thị Hồng", "Γιώργος Ἀθηναῖος", "Зинаида Щёголева", "محمد الخالدي", "یاس‌من"]
NAMES += ["יעל כהן", "नरेन्द्र शर्मा", "สมชาย ใจดี", "ნინო ბერიძე"]
WRITTEN = {name: name for name in NAMES} | {
    "王小明": "Wang Xiao Ming",
    "愛子田中.pdf": "Ai Zi Tian Zhong.pdf",  # a file has no address to replace its name
    "Zoë 😀": "Zoë (grinning)",
    "Zoë \ue000": "Zoë [U+E000]",
    "Ꙃиꦗ": "Ꙃиj",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_without_a_system_font_what_no_font_has_is_transliterated_and_nothing_else(
    bare: fonts.Library, name: str
) -> None:
    result = glyph_fallback(name, bare)
    assert (result.text, result.transliterated) == (WRITTEN[name], name not in NAMES)


def test_a_mark_that_its_base_has_no_font_with_goes_with_it(bare: fonts.Library) -> None:
    # FiraGO has Arabic, Noto Sans the combining mark, and no font has both.
    result = glyph_fallback("م\u1ab0", bare)
    assert result.transliterated
    assert "\u1ab0" not in result.text


def test_cjk_from_the_system() -> None:
    if not fonts.library().has_cjk:
        pytest.skip("Noto Sans CJK is not installed (Debian: fonts-noto-cjk)")
    for name, region in [("王小明", "SC"), ("山田たろう", "JP"), ("김민준", "KR")]:
        result = glyph_fallback(name)
        assert (result.text, result.transliterated, result.cjk) == (name, False, region)


def test_text_from_outside_is_cleaned() -> None:
    assert clean("  Ana\x00\n\tLopez\u202e \ud800x\u200b ") == "Ana Lopez ?x"
    assert clean("e\u0301") == "é"


def test_right_to_left_is_known() -> None:
    assert glyph_fallback("יעל Smith").right_to_left
    assert not glyph_fallback("Smith יעל").right_to_left


def test_the_folder_is_filled_once_and_what_was_cleaned_away_comes_back(tmp_path: Path) -> None:
    first = fonts.open_library(tmp_path, ())
    written = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.ttf")}
    fonts.open_library(tmp_path, ())
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.ttf")} == written
    assert len(written) == len(fonts.PACKAGED) + len(fonts.HANDS)
    assert {"FiraGO", "Fira Mono", "Libertinus Serif"} <= set(first.typst_fonts.families())
    gone = next(tmp_path.rglob("FiraGO_Bold.ttf"))
    content = gone.read_bytes()
    gone.unlink()
    fonts.open_library(tmp_path, ())
    assert gone.read_bytes() == content


def test_the_library_is_kept_where_it_is_told(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from paraph.pdf.typesetting import fonts
fonts.keep_fonts_in(Path({str(tmp_path / "data" / "fonts")!r}))
print(fonts.library().covering[0].path)
"""
    output = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert output.startswith(str(tmp_path / "data" / "fonts"))


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = fonts._temporary_folder()
    assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o777)
    assert fonts._temporary_folder() != own
    own.rmdir()
    own.symlink_to("/")
    assert fonts._temporary_folder() != own


@pytest.mark.parametrize(
    ("name", "hands"),
    [
        ("Zoë Łukasiewicz-Çelik", [1, 2, 3, 4]),
        ("Șerban Ğüneş Ďábelová", [1, 2, 3, 4]),
        ("Nguyễn Thị Hồng", [1, 3]),
        ("Зинаида Щёголева", [1, 2]),
        ("Ґалаґан Їжакевич", [1, 2]),
        ("नरेन्द्र शर्मा", [4]),
        ("Γιώργος Παπαδόπουλος", []),
        ("محمد الخالدي", []),
    ],
)
def test_the_hands_write_many_scripts_and_no_name_in_two_faces(
    bare: fonts.Library, name: str, hands: list[int]
) -> None:
    """A name that a hand cannot write as a whole is set in a printed face."""
    written = [hand for hand in (1, 2, 3, 4) if hand_of({"type": "typed", "hand": hand}, name)["handwritten"]]
    assert written == hands
    assert [font.family for font in bare.hands] == ["Great Vibes", "Caveat", "Dancing Script", "Kalam"]


ADDRESS = "aiko.tanaka@example.com"


OTHERWISE = dict.fromkeys(["愛子田中", "田中 愛子", "王小明", "山田たろう", "Mary 王"], ADDRESS) | {
    "Zoë  Łukasiewicz ": "",
    "محمد الخالدي": "",
    "김민준": "Gim Min Jun",
    "たろう": "tarou",
    "Zoë 😀": "Zoë (grinning)",
}
"""What a stamp says in place of a name, "" for the name itself."""


@pytest.mark.parametrize("name", OTHERWISE)
def test_han_characters_are_read_as_no_language_where_no_font_has_them(bare: fonts.Library, name: str) -> None:
    has_address = OTHERWISE[name] == ADDRESS
    assert written_otherwise(name, ADDRESS, bare) == OTHERWISE[name]
    assert readable_name(name, ADDRESS, bare) == (ADDRESS if has_address else name)
    assert not has_address or initials_of(readable_name(name, ADDRESS, bare)) == "A"


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
