"""No cell of an export is a formula, wherever a spreadsheet divides a line, and what was typed comes back."""

import ast
import csv
import io
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paraph.kernel.csv_lines import as_typed, csv_line

SOURCE = Path(__file__).parents[2] / "src/paraph"
SIGNS = "=+-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
FORMULAS = [f"{sign}HYPERLINK(1)" for sign in SIGNS]
BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
ANY_CELL = st.text(alphabet=st.sampled_from([*SIGNS, *"ab1'; ,\t\r\n\u2028\x85\xa0"]), max_size=12)


def cell_of(text: str) -> str:
    [[_, cell]] = csv.reader(io.StringIO(csv_line(["", text]), newline=""))
    return cell


def rows_of(line: str) -> list[str]:
    """Each cell that any program can make of the line: at every line break and every separator."""
    return [part.strip(" \xa0\u3000") for row in line.splitlines() for part in [row, *row.split('","')]]


@pytest.mark.parametrize("text", [*FORMULAS, *[f" {each}" for each in FORMULAS], "\r=1", "\n1", "\r1", "\xa0@x"])
def test_what_begins_like_a_formula_gets_an_apostrophe(text: str) -> None:
    assert cell_of(text).startswith("'") and as_typed(cell_of(text)) == text


@pytest.mark.parametrize("between", BREAKS)
def test_so_does_what_follows_a_line_break_within_a_cell(between: str) -> None:
    for formula in FORMULAS:
        assert cell_of(f"Ada{between}{formula}") == f"Ada{between}'{formula}"


@pytest.mark.parametrize("text", ["Ada", "O'Neill", "a=b", "x-1", "ada@example.com", "", "'", "1 + 1", "Émile\nZola"])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cell_of(text) == text == as_typed(text)


def test_a_cell_is_not_divided_where_spreadsheets_expect_semicolons_or_tabs() -> None:
    for delimiter in ";\t":
        [cells] = csv.reader(io.StringIO(csv_line([f"Ada{delimiter}=1"]), newline=""), delimiter=delimiter)
        assert cells == [f"Ada{delimiter}=1"]


@given(ANY_CELL)
def test_no_text_has_a_way_around_it(text: str) -> None:
    line = csv_line([text, text])
    parts = [part.lstrip('"') for part in rows_of(line)]
    assert not any(re.match(f"[{re.escape(SIGNS)}]", part.lstrip(" \xa0\u3000")) for part in parts if part), line
    assert as_typed(cell_of(text)) == as_typed(text)


def test_every_export_is_written_by_one_function() -> None:
    """No other module writes CSV."""
    writers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "csv" in path.read_text()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in ("writer", "DictWriter")
        and ast.unparse(node.value) == "csv"
    }
    assert writers == {"kernel/csv_lines.py"}
