"""What operators read is what the code does, for every setting, command, check and figure; and the published package
says what it is and what it needs."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest

from paraph import __version__
from paraph.cli import main
from paraph.kernel.settings import Settings
from paraph.operations.check.service_checks import CHECKS, LINES_WITHIN

PROJECT = Path(__file__).parents[2]
ROWS = dict(
    re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", (PROJECT / "docs" / "configuration.md").read_text(), re.MULTILINE)
)
FIELDS = {
    str(field.validation_alias or f"PARAPH_{name.upper()}"): field for name, field in Settings.model_fields.items()
}


def test_every_setting_is_documented_and_no_other() -> None:
    assert set(ROWS) == set(FIELDS)


@pytest.mark.parametrize("variable", FIELDS)
def test_the_documented_default_is_the_real_one(variable: str) -> None:
    """The table shows a default as code where it is a value and not a rule."""
    default = FIELDS[variable].default
    value = ",".join(default) if isinstance(default, list) else default
    if value not in ("", None, 0):
        assert ROWS[variable] == f"`{value}`"


def test_the_locked_requirements_are_those_of_the_project() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert lines("runtime.in") == sorted(project["dependencies"])


@pytest.mark.parametrize("name", ["runtime", "development", "build", "release"])
def test_every_requirement_is_locked_with_hashes(name: str) -> None:
    lock = (PROJECT / "requirements" / f"{name}.txt").read_text()
    locked = {normal(found) for found in re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^]]*])?==", lock, re.MULTILINE)}
    wanted = {normal(re.split(r"[\[<>=!~; ]", line)[0]) for line in lines(f"{name}.in")}
    assert wanted <= locked
    for block in re.split(r"\n(?=\S)", lock.strip()):
        assert "--hash=sha256:" in block, block
    assert "://" not in lock  # no address of a package index


def lines(name: str) -> list[str]:
    text = (PROJECT / "requirements" / name).read_text()
    return sorted(line for line in text.splitlines() if line and not line.startswith(("#", "-r")))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project(folder: str) -> dict[str, Any]:
    return dict(tomllib.loads((PROJECT / folder / "pyproject.toml").read_text())["project"])


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_a_package_has_the_version_a_licence_and_the_pythons_that_are_tried(folder: str) -> None:
    found = project(folder)
    assert found["version"] == __version__
    assert (
        found["license"] == "Apache-2.0"
        and (PROJECT / folder / "LICENSE").read_text() == (PROJECT / "LICENSE").read_text()
    )
    tried = re.findall(
        r"^for version in \$\{\*:-(.*)\}; do", (PROJECT / "scripts" / "pythons").read_text(), re.MULTILINE
    )
    pythons = [each.rpartition(" ")[2] for each in found["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert [" ".join(pythons)] == tried


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_every_dependency_ends_before_a_version_that_nobody_has_tried(folder: str) -> None:
    found = project(folder)
    wanted = [*found["dependencies"], *chain(*found.get("optional-dependencies", {}).values())]
    assert [each for each in wanted if not re.search(r">=\d[\d.]*,<\d", each)] == []


def test_the_page_of_the_package_needs_no_file_beside_it() -> None:
    page = (PROJECT / project(".")["readme"]).read_text()
    assert [link for link in re.findall(r"\]\(([^)]*)\)", page) if "://" not in link] == []
    extras = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert extras == set(project(".")["optional-dependencies"])


@pytest.mark.parametrize("program", ["Makefile", ".ci/run", "scripts/pythons"])
def test_the_tests_that_a_program_names_are_there(program: str) -> None:
    named = re.findall(r"tests/[\w/]+(?:\.py)?", (PROJECT / program).read_text())
    assert [each for each in named if not (PROJECT / each).exists()] == []


DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "operating.md").read_text() + (DOCS / "faults.md").read_text()


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """Each command by its full name, such as ``secret rotate``."""
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
