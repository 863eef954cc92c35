"""Every block of code of README.md and docs is run by tests that are there, or the table says why not."""

import ast
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tests.docs.blocks import PROJECT, Block, blocks, read
from tests.docs.table import TABLE, Row


def rows_of(block: Block, table: dict[str, tuple[Row, ...]]) -> list[Row]:
    return [
        row for row in table.get(block.page, ()) if row.heading == block.heading and block.text.startswith(row.begins)
    ]


def faults(found: Sequence[Block], table: dict[str, tuple[Row, ...]]) -> list[str]:
    """Blocks that not exactly one row is about, and rows that are not about exactly one block."""
    wrong = [f"{len(rows)} rows for {each.key}" for each in found if len(rows := rows_of(each, table)) != 1]
    for page, listed in table.items():
        for row in listed:
            about = sum(each.page == page and row in rows_of(each, table) for each in found)
            if about != 1:
                wrong.append(f"{about} blocks for {page} # {row.heading}: {row.begins}")
    return wrong


@cache
def defined(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text()) if path.is_file() else ast.Module([], [])
    names = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    return frozenset(name for name in names if name.startswith("test_"))


def is_there(test: str) -> bool:
    path, _, name = test.partition("::")
    return name in defined(PROJECT / path)


def test_each_block_has_its_row_and_each_row_its_block() -> None:
    assert faults(blocks(), TABLE) == []


def test_each_row_names_tests_that_are_there_or_a_reason() -> None:
    for page, rows in TABLE.items():
        for row in rows:
            assert bool(row.tests) != bool(row.unless), f"{page} # {row.heading}: {row.begins}"
            assert [test for test in row.tests if not is_there(test)] == []


def test_a_block_that_is_new_or_gone_and_a_test_that_is_gone_would_be_found() -> None:
    page = "# One\n\n    paraph check\n\n- Text:\n\n  ```sh\n  paraph web\n  ```\n\n## Two\n\n```\nparaph worker\n```\n"
    found = read("a.md", page)
    assert [each.key for each in found] == [
        "a.md # One: paraph check",
        "a.md # One: paraph web",
        "a.md # Two: paraph worker",
    ]
    table = {"a.md": tuple(Row(each.heading, each.text[:10], "shell") for each in found)}
    assert faults(found, table) == []
    assert len(faults(found, {"a.md": table["a.md"][1:]})) == 1
    assert len(faults(found[1:], table)) == 1
    assert len(faults(found, {"a.md": (*table["a.md"], Row("One", "paraph", "shell"))})) == 3
    assert not is_there("tests/docs/test_documented_blocks.py::test_gone") and not is_there("tests/gone.py::test_x")
