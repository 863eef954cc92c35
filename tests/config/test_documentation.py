"""What operators read is what the code does, for every setting, command, check and figure; so is what lawyers read of
personal data and accessibility; and the published package says what it is and what it needs."""

import re
import tomllib
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pytest
from django.apps import apps
from django.db import models

from paraph import __version__
from paraph.cli import main
from paraph.flow.personal_data.erase import OF_ACCOUNT
from paraph.flow.personal_data.of_signer import OF_SIGNER
from paraph.flow.personal_data.place import Place
from paraph.flow.personal_data.unsent import UNSENT
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


DOCS = PROJECT / "docs"
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


def test_each_line_of_the_check_is_explained_and_has_what_to_do_about_it() -> None:
    lines = sorted([check.name for check in CHECKS] + [*LINES_WITHIN])
    tried = PAGE.split("| Line | What is tried")[1].split("\n\n")[0]
    named = " ".join(re.findall(r"^\| (`.*?) \|", tried, re.MULTILINE))
    assert sorted(re.findall(r"`([^`]+?)(?: …)?`", named)) == lines
    advice = PAGE.split("### What to do about each line\n")[1].split("\n## ")[0]
    told = re.findall(r"^\| `([^`]+)` \| (.*) \|$", advice, re.MULTILINE)
    assert sorted(line for line, what in told if len(what) > 20) == lines


def test_the_lines_that_metrics_leave_out_are_named() -> None:
    left_out = re.findall("leaves out (.*), which", PAGE)[0]
    assert re.findall("`([^`]+)`", left_out) == [check.name for check in CHECKS if not check.valid_seconds]


def test_every_figure_is_listed() -> None:
    source = PROJECT / "src" / "paraph"
    text = (source / "metrics" / "metrics.py").read_text() + (source / "operations" / "exposition.py").read_text()
    figures = set(re.findall(r'"(paraph_\w+)"', text))
    assert len(figures) > 10
    assert [figure for figure in figures if f"`{figure}" not in PAGE] == []


DATA_PROTECTION = (DOCS / "data-protection.md").read_text()
ACCESSIBILITY = (DOCS / "accessibility.md").read_text()

OF_NOBODY = """
    organizations_application.webhook_secret_encrypted organizations_application.next_webhook_secret_encrypted
    organizations_apikey.sha256 organizations_logo.sha256 organizations_installation.secret_fingerprint
    members_invitation.secret_sha256 signature_requests_signer.token_salt signature_requests_copyrecipient.token_salt
    evidence_sharedcontent.sha256 evidence_sealeddocument.sha256 evidence_prooffile.sha256
    evidence_bundletimestamp.manifest_sha256 evidence_bundletimestamp.token
    evidence_kepttimestamp.token evidence_certificatestatus.certificate_sha256 evidence_certificatestatus.certificate
    evidence_certificatestatus.issuer evidence_certificatestatus.content journal_sharedfacts.sha256
    transparency_logentry.sha256 transparency_lognode.hash transparency_logkey.private_encrypted
    transparency_checkpoint.token transparency_cosigned.root
    journal_entry.hash documents_document.sha256 documents_document.prepared_sha256
"""
"""Columns of bytes that are secrets of programs, random values, certificates and digests of files."""


def mapped() -> set[str]:
    """The columns that the data map names, as ``table.column``."""
    rows = DATA_PROTECTION.split("### In the database\n")[1].split("\n### ")[0]
    places = re.findall(r"`(\w+): ([\w ]+)`", "\n".join(row.split("|")[2] for row in rows.splitlines() if "|" in row))
    return {f"{table}.{column}" for table, columns in places for column in columns.split()}


def kept() -> "dict[str, models.Field[Any, Any]]":
    tables = apps.get_models(include_auto_created=True)
    return {
        f"{table._meta.db_table}.{field.column}": field for table in tables for field in table._meta.concrete_fields
    }


def test_the_data_map_names_every_column_that_holds_something_of_a_person() -> None:
    """``tests/flow/test_show_person.py`` holds that each column with a text belongs to a place or to nobody."""
    in_bytes = {name for name, field in kept().items() if isinstance(field, models.BinaryField)}
    of_nobody = set(OF_NOBODY.split())
    assert of_nobody - in_bytes == set(), "is no such column"
    places: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]
    of_places = {column for place in places for column in place.columns}
    assert (of_places | in_bytes) - of_nobody - mapped() == set(), "is not in docs/data-protection.md"


def test_the_data_map_names_no_column_that_is_not_there() -> None:
    assert {name for name in mapped() - set(kept()) if not name.startswith("socialaccount_")} == set()


def test_each_row_of_the_data_map_says_whose_how_long_and_how_it_goes() -> None:
    rows = DATA_PROTECTION.split("### In the database\n")[1].split("\n## ")[0].splitlines()
    cells = [row.strip("|").split("|") for row in rows if row.startswith("| ")]
    assert len(cells) > 30
    assert [row for row in cells if len(row) not in (4, 5) or not all(cell.strip() for cell in row[:3])] == []


def test_each_test_that_the_statement_names_is_there() -> None:
    named = re.findall(r"`(\w+/test_\w+\.py)`", ACCESSIBILITY)
    assert len(named) > 8
    assert [name for name in named if not (PROJECT / "tests" / name).is_file()] == []
