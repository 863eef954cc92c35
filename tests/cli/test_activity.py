"""Operators' commands have names: each is noted before it shows or changes anything, and who gave it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from paraph.cli import main
from paraph.cli.session import _UNNOTED
from tests.cli.service import Service

WITHOUT_NOTES = {
    *("serve", "web", "worker"),  # they are the service, whose start is logged
    *("verify", "log verify"),  # files alone, and logs of others, without the service
}
"""Commands that are no look at anybody's rows and no change, beside those of ``_UNNOTED``. All others are noted."""


def paths() -> set[str]:
    return set(_leaves(click.Context(main), main, ()))


def _leaves(context: click.Context, group: click.Group, before: tuple[str, ...]) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _leaves(context, command, (*before, name))
        else:
            yield " ".join((*before, name))


def test_commands_without_a_note_are_counted_by_name() -> None:
    """So that a new one is noted, unless somebody says here that it need not be."""
    assert paths() >= _UNNOTED | WITHOUT_NOTES
    assert len(_UNNOTED) == 10 and not {"person show", "inbox", "backup", "request list", "member list"} & _UNNOTED


def noted(service: Service, count: int, **settings: str) -> list[dict[str, Any]]:
    """The newest entries beside that of the look itself, the oldest first."""
    done = service.run("activity", "--limit", str(count + 1), "--json", **settings)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    assert rows[0]["action"] == "activity"
    return rows[:0:-1]


@pytest.mark.thorough
def test_each_command_is_noted_with_the_name_of_whoever_gives_it(service: Service, tmp_path: Path) -> None:
    olga = {"PARAPH_OPERATOR": "olga"}
    organization = service.command("organization", "create", "Acme", "--plan", "pro")["id"]
    given = [
        ["person", "show", "ada@example.com"],
        ["inbox"],
        ["secret", "rotate"],
        ["member", "list", "--organization", str(organization)],
        ["request", "show", "999999"],
        ["request", "retry", "999998"],
        ["request", "retry", "--all"],
        ["backup", "--out", str(tmp_path / "paraph.backup")],
        ["check", "--only", "database"],
        ["organization", "list"],
    ]
    for arguments in given:
        service.run(*arguments, **olga)
    rows = noted(service, 8)
    assert [(row["actor"], row["organization_id"], row["action"], row["after"]) for row in rows] == [
        ("olga", None, "person show", {}),
        ("olga", None, "inbox", {}),
        ("olga", None, "secret rotate", {}),
        ("olga", None, "member list", {"organization": organization}),
        ("olga", None, "request show", {"id": 999999}),
        ("olga", None, "request retry", {"id": 999998}),
        ("olga", None, "request retry", {"every": True}),
        ("olga", None, "backup", {}),
    ]
    assert "ada@example.com" not in str(rows)
    service.run("organization", "suspend", str(organization), **olga)
    command, change = noted(service, 2)
    assert (command["action"], command["after"]) == ("organization suspend", {"id": organization})
    assert (change["action"], change["organization_id"], change["actor"]) == (
        "organization.suspended",
        organization,
        "olga",
    )


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"SUDO_USER": "anna", "LOGNAME": "root"}, "anna"),
        ({"SUDO_USER": "", "LOGNAME": "ben"}, "ben"),
        ({"SUDO_USER": "", "LOGNAME": "", "PARAPH_OPERATOR": ""}, "uid "),
        ({"SUDO_USER": "anna", "PARAPH_OPERATOR": "o" * 400}, "o" * 320),
    ],
)
def test_without_a_name_it_is_that_of_the_login(service: Service, given: dict[str, str], name: str) -> None:
    service.run("inbox", **given)
    [row] = noted(service, 1)
    assert row["action"] == "inbox" and row["actor"].startswith(name)


def test_operators_of_the_page_are_added_listed_and_removed(service: Service) -> None:
    added = service.command("operator", "add", "Olga@Operators.Example")
    assert added["email"] == "olga@operators.example" and "/account/password/reset/key/" in added["link"]
    [row] = service.command("operator", "list")
    assert (row["email"], row["second_factor"]) == ("olga@operators.example", False)
    assert service.command("operator", "remove", "olga@operators.example")["removed"]
    assert service.command("operator", "list") == []
    refused = service.run("operator", "remove", "olga@operators.example")
    assert (refused.returncode, refused.stderr) == (1, "There is no operator olga@operators.example.\n")
    assert service.run("operator", "add", "nobody").returncode == 1
