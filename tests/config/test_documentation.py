"""What operators read is what the code does."""

import re
import tomllib
from pathlib import Path

import pytest

from paraph.kernel.settings import Settings

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
    """Where the default is a value, not a rule, the table shows it as code."""
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
    assert "://" not in lock  # no index address


def lines(name: str) -> list[str]:
    text = (PROJECT / "requirements" / name).read_text()
    return sorted(line for line in text.splitlines() if line and not line.startswith(("#", "-r")))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
