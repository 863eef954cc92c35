"""The line of `paraph check` on fonts, which each start logs as well."""

import dataclasses
from pathlib import Path

import pytest

from paraph.operations.check import machine as check
from paraph.operations.check.service_checks import CHECKS
from paraph.pdf.typesetting import fonts

FILES = [fonts.FontFile(Path(name)) for name in fonts.SYSTEM_FONTS]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> fonts.Library:
    return fonts.open_library(tmp_path_factory.mktemp("fonts"), system_folders=())


@pytest.mark.parametrize(
    ("lacks", "status", "says"),
    [
        ("", "ok", "Names are written in their own letters."),
        ("Tamil", "ok", "written in Latin ones: Tamil. Debian's fonts-noto-core has them."),
        ("CJK", "warning", "No font here has Chinese, Japanese and Korean letters"),
    ],
)
def test_what_is_missing_is_named(
    bare: fonts.Library, monkeypatch: pytest.MonkeyPatch, lacks: str, status: str, says: str
) -> None:
    system = [file for file in FILES if not lacks or lacks not in file.path.name]
    monkeypatch.setattr(check, "library", lambda: dataclasses.replace(bare, system=system))
    [outcome] = check.fonts()
    assert (outcome.name, outcome.status) == ("fonts", status) and says in outcome.sentence


def test_a_machine_without_any_font(bare: fonts.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "library", lambda: bare)
    [outcome] = check.fonts()
    assert outcome.status == "warning" and "fonts-noto-cjk" in outcome.sentence and "Tamil" in outcome.sentence


def test_each_start_says_it() -> None:
    assert [each.logged for each in CHECKS if each.name == "fonts"] == [True]
