"""The page for operators names every command, every check and every figure."""

import re
from pathlib import Path

import click

from paraph.cli import main
from paraph.operations.check.service_checks import CHECKS, LINES_WITHIN

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "operating.md").read_text() + (DOCS / "faults.md").read_text()


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Each command by its name, ``secret rotate``."""
    found = dict[str, click.Command]()
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        assert command
        path = f"{before} {name}".strip()
        found |= commands(command, path) if isinstance(command, click.Group) else {path: command}
    return found


def test_every_command_is_named() -> None:
    assert [name for name in commands(main) if f"`paraph {name}" not in PAGE and f"paraph {name} " not in PAGE] == []


def test_every_check_is_explained() -> None:
    assert [check.name for check in CHECKS if f"`{check.name}" not in PAGE] == []


def test_each_line_of_the_check_has_what_to_do_about_it() -> None:
    advice = PAGE.split("### What to do about each line\n")[1].split("\n## ")[0]
    told = re.findall(r"^\| `([^`]+)` \| (.*) \|$", advice, re.MULTILINE)
    assert sorted(line for line, what in told if len(what) > 20) == sorted([c.name for c in CHECKS] + [*LINES_WITHIN])


def test_the_lines_that_metrics_leave_out_are_named() -> None:
    left_out = re.findall("leaves out (.*), which", PAGE)[0]
    assert re.findall("`([^`]+)`", left_out) == [check.name for check in CHECKS if not check.valid_seconds]


def test_every_figure_is_listed() -> None:
    source = Path(__file__).parents[2] / "src" / "paraph"
    text = (source / "metrics" / "metrics.py").read_text() + (source / "operations" / "exposition.py").read_text()
    figures = set(re.findall(r'"(paraph_\w+)"', text))
    assert len(figures) > 10
    assert [figure for figure in figures if f"`{figure}" not in PAGE] == []
