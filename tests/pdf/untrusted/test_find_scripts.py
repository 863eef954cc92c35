"""The tag search in other scripts than Latin, on pages that Typst sets with fonts of these scripts."""

import shutil
from pathlib import Path
from typing import Any

import pymupdf_fonts
import pytest
import typst

from paraph.pdf.untrusted.page_reading import find_tags

_compile: Any = typst.compile  # its stubs have type variables that no call can settle
_LANGUAGES = {"he": (0x590, 0x5FF), "ar": (0x600, 0x6FF)}


@pytest.fixture(scope="module")
def fonts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fonts")
    (folder / "FiraGO.otf").write_bytes(pymupdf_fonts.myfont("figo"))
    return folder


def page(tag: str, fonts: Path) -> bytes:
    """``tag`` between Latin words, its baseline 200 points from the top."""
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
    ],
)
def test_scripts(tag: str, fonts: Path) -> None:
    _assert_found(tag, fonts)


@pytest.mark.parametrize("tag", ["{{署名1}}", "署名場所", "{{서명}}", "签字处"])
def test_chinese_japanese_korean(tag: str, fonts: Path) -> None:
    if not shutil.which("fc-list") or not list(Path("/usr/share/fonts").rglob("NotoSerifCJK*")):
        pytest.skip("fonts-noto-cjk is not installed")
    _assert_found(tag, fonts)


def _assert_found(tag: str, fonts: Path) -> None:
    found = find_tags(page(tag, fonts), [tag, tag[:-1] + "x"])
    assert list(found) == [tag]
    place = found[tag]
    assert place.page_number == 1
    assert 292 < place.y < 302
    assert 6 < place.height < 18
    assert 45 < place.x < 120
