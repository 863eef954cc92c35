"""ARCHITECTURE.md says where things are: each room, each place and each test that it names is there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
SOURCE = PROJECT / "src" / "paraph"
TEXT = (PROJECT / "ARCHITECTURE.md").read_text()
TREE = TEXT.split("```")[1]
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ")][1:]
PATH = re.compile(r"`([\w./]+/[\w./]*|[\w]+\.md)`")


def test_every_room_stands_in_the_tree_and_no_other() -> None:
    named = {line.split()[0].split("/")[0] for line in TREE.splitlines() if re.match(r"  \w+/", line)}
    rooms = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    assert named == rooms


def test_every_folder_of_the_pdf_library_stands_in_the_tree() -> None:
    named = {line.split()[0].strip("/") for line in TREE.splitlines() if re.match(r"    \w+/", line)}
    assert named == {path.name for path in (SOURCE / "pdf").iterdir() if (path / "__init__.py").is_file()}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:50])
def test_every_place_and_every_test_is_there(row: list[str]) -> None:
    _rule, place, *tests = row
    assert [path for path in PATH.findall(place) if not (SOURCE / path).exists()] == []
    assert [path for path in re.findall(r"\bdocs/[\w./]+", place) if not (PROJECT / path.rstrip(".")).exists()] == []
    for test in tests:
        assert [path for path in PATH.findall(test) if not (PROJECT / "tests" / path).exists()] == []


def test_every_rule_says_which_test_holds_it() -> None:
    assert [row[0] for row in ROWS if len(row) < 3 and not row[0].startswith("why")] == []
