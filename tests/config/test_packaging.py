"""What is published says what it is, and what it needs."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from paraph import __version__

ROOT = Path(__file__).parents[2]


def project(folder: str) -> dict[str, Any]:
    return dict(tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"])


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_a_package_has_the_version_a_licence_and_the_pythons_that_are_tried(folder: str) -> None:
    found = project(folder)
    assert found["version"] == __version__
    assert (
        found["license"] == "Apache-2.0" and (ROOT / folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    )
    tried = re.findall(r"^for version in \$\{\*:-(.*)\}; do", (ROOT / "scripts" / "pythons").read_text(), re.MULTILINE)
    pythons = [each.rpartition(" ")[2] for each in found["classifiers"] if re.search(r":: 3\.\d+$", each)]
    assert [" ".join(pythons)] == tried


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_every_dependency_ends_before_a_version_that_nobody_has_tried(folder: str) -> None:
    found = project(folder)
    wanted = [*found["dependencies"], *chain(*found.get("optional-dependencies", {}).values())]
    assert [each for each in wanted if not re.search(r">=\d[\d.]*,<\d", each)] == []


def test_the_page_of_the_package_needs_no_file_beside_it() -> None:
    page = (ROOT / project(".")["readme"]).read_text()
    assert [link for link in re.findall(r"\]\(([^)]*)\)", page) if "://" not in link] == []
    extras = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))))
    assert extras == set(project(".")["optional-dependencies"])


@pytest.mark.parametrize("program", ["Makefile", ".ci/run", "scripts/pythons"])
def test_the_tests_that_a_program_names_are_there(program: str) -> None:
    named = re.findall(r"tests/[\w/]+(?:\.py)?", (ROOT / program).read_text())
    assert [each for each in named if not (ROOT / each).exists()] == []
