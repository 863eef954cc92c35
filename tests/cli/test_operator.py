"""The operator's commands, with and without a service running; each is noted with the name of whoever gave it."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from paraph.cli import _COMMANDS, main
from paraph.cli.session import _UNNOTED
from tests import first_start
from tests.cli.service import Service, paraph, processes_of, remove, wait_until
from tests.config.test_documentation import commands


def new_organization(service: Service, plan: str = "pro") -> str:
    return str(service.command("organization", "create", "Acme", "--plan", plan)["id"])


def test_an_organization_and_its_keys_while_the_service_runs(service: Service) -> None:
    organization = service.command("organization", "create", "Acme Œuvres", "--plan", "pro")
    assert (organization["name"], organization["plan"]) == ("Acme Œuvres", "pro")
    options = ["--organization", str(organization["id"]), "--environment", "production", "--name", "backend"]
    made = service.command("application", "create", *options, "--webhook-url", "https://acme.example/hook")
    assert made["webhook_url"] == "https://acme.example/hook" and made["webhook_secret"]
    health = f"{service.base_url}/api/v1/health"
    assert httpx.get(health, headers={"X-Api-Key": made["api_key"]}).json()["environment"] == "production"

    assert service.command("application", "revoke", str(made["id"])) == {"id": made["id"], "revoked_keys": 1}
    assert httpx.get(health, headers={"X-Api-Key": made["api_key"]}).status_code == 401


def test_an_organization_is_changed_in_what_is_named_alone(service: Service) -> None:
    organization = new_organization(service)
    told = ("name", "refuse_changeable_documents", "mails_copy_links", "contact_email")
    changes: dict[tuple[str, ...], tuple[str, bool, bool, str]] = {
        ("--refuse-changeable", "--contact-email", "a@acme.example"): ("Acme", True, True, "a@acme.example"),
        ("--accept-changeable", "--no-copy-links"): ("Acme", False, False, "a@acme.example"),
        ("--copy-links", "--contact-email", ""): ("Acme", False, True, ""),
    }
    answers = service.commands([["organization", "update", organization, *options] for options in changes])
    assert [tuple(answer[name] for name in told) for answer in answers] == list(changes.values())


def test_an_application_names_the_sites_that_may_frame_its_pages(service: Service) -> None:
    sites = ["https://a.example", "http://localhost:3000"]
    options = [part for site in sites for part in ("--frame-origin", site)]
    facts = ("--organization", new_organization(service), "--environment", "sandbox", "--name", "shop")
    made = service.command("application", "create", *facts, *options)
    assert made["frame_origins"] == sites
    update = ("application", "update", str(made["id"]))
    changed = service.command(*update, "--frame-origin", "https://b.example")
    assert (changed["id"], changed["name"]) == (made["id"], "shop")
    assert changed["frame_origins"] == ["https://b.example"]
    assert service.command(*update, "--any-frame-origin")["frame_origins"] == []


@pytest.mark.thorough
def test_branding_profiles_are_made_and_deleted(service: Service) -> None:
    colors = ["--background-color", "#ffffff", "--text-color", "#000000", "--accent-color", "#1A2B3C"]
    of_organization = ["--organization", new_organization(service), "--name", "House"]
    made = service.command("branding", "create", *of_organization, *colors)
    assert made["accent_color"] == "#1A2B3C"
    deleted = service.command("branding", "delete", str(made["id"]))
    assert (deleted["name"], deleted["deleted"]) == ("House", True)


@pytest.mark.thorough
def test_what_is_kept_of_a_person_is_shown_and_handed_over(service: Service, tmp_path: Path) -> None:
    organization = new_organization(service)
    member = ["--organization", organization, "--email", "olga@example.com", "--role", "owner", "--name", "Olga Owner"]
    service.command("member", "create", *member)
    service.command("organization", "confirm-address", organization, "olga@example.com", "--vouch")
    shown = service.command("person", "show", "Olga@example.com", "--pdf", str(tmp_path / "olga.pdf"))
    kept = {each["place"]: each for each in shown["kept"]}
    assert (kept["accounts"]["name"], kept["accounts"]["erased_by"]) == ("Olga Owner", "")
    assert kept["confirmed addresses"]["erased_by"] == "paraph erase address Olga@example.com"
    assert (tmp_path / "olga.pdf").read_bytes().startswith(b"%PDF")
    service.command("erase", "address", "olga@example.com", "--yes")
    left = {each["place"] for each in service.command("person", "show", "olga@example.com")["kept"]}
    assert "confirmed addresses" not in left and left >= {"accounts", "activity log"}
    told = service.run("person", "show", "nobody@example.com")
    assert (told.returncode, told.stdout.strip()) == (0, "Nothing is stored under this address or phone number.")


def test_an_operator_asks_vouches_and_withdraws_for_an_address(service: Service, tmp_path: Path) -> None:
    organization = new_organization(service, "free")
    confirm = ("organization", "confirm-address", organization, "Asked@Example.com")
    facts = {"organization_id": int(organization), "address": "asked@example.com", "confirmed_at": None}
    assert service.command(*confirm, "--language", "de") == facts
    folder = tmp_path / "mails"
    messages = service.command("inbox", "--html", str(folder))
    [question] = [message for message in messages if message["to"] == "asked@example.com"]
    assert "Acme möchte" in question["subject"]
    assert Path(question["file"]).read_text("utf-8") == question["html"]
    assert '<html lang="de" dir="ltr">' in question["html"]
    assert len(list(folder.iterdir())) == sum(1 for message in messages if message["html"])
    assert service.command(*confirm, "--vouch")["confirmed_at"]
    assert service.command(*confirm, "--withdraw") == facts


def test_operators_of_the_page_are_added_listed_and_removed(service: Service) -> None:
    added = service.command("operator", "add", "Nadia@Operators.Example")
    assert added["email"] == "nadia@operators.example" and "/account/password/reset/key/" in added["link"]
    [row] = service.command("operator", "list")
    assert (row["email"], row["second_factor"]) == ("nadia@operators.example", False)
    assert service.command("operator", "remove", "nadia@operators.example")["removed"]
    assert service.command("operator", "list") == []


def test_mistakes_get_one_sentence(service: Service) -> None:
    for arguments, sentence in (
        ("organization create x --plan gold", "plan must be one of free, pro, enterprise, not 'gold'."),
        ("organization update 999999 --contact-email acme", "There is no organization 999999."),
        ("organization confirm-address 999999 a@example.com", "There is no organization 999999."),
        ("application revoke 999999", "There is no application 999999."),
        ("application update 999999 --frame-origin https://a.example/b", "There is no application 999999."),
        ("branding delete 999999", "There is no branding profile 999999."),
        ("request show 4711", "There is no signature request 4711."),
        ("request retry 4711", "There is no signature request 4711."),
        ("operator remove nobody@operators.example", "There is no operator nobody@operators.example."),
        ("inbox --html /proc/mails", "/proc/mails cannot be written to: No such file or directory."),
    ):
        done = service.run(*arguments.split())
        assert (done.returncode, done.stderr) == (1, f"{sentence}\n"), arguments


def noted(service: Service, count: int) -> list[dict[str, Any]]:
    """The newest entries but for that of this command itself, the oldest first."""
    rows: list[dict[str, Any]] = service.command("activity", "--limit", str(count + 1))
    assert rows[0]["action"] == "activity"
    return rows[:0:-1]


@pytest.mark.thorough
def test_each_command_is_noted_with_the_name_of_whoever_gives_it(service: Service, tmp_path: Path) -> None:
    organization = new_organization(service)
    given: list[tuple[str, dict[str, Any] | None]] = [
        ("person show ada@example.com", {}),
        ("inbox", {}),
        ("secret rotate", {}),
        (f"member list --organization {organization}", {"organization": int(organization)}),
        ("request show 999999", {"id": 999999}),
        ("request retry --all", {"every": True}),
        (f"backup --out {tmp_path}/paraph.backup", {}),
        ("check --only database", None),
        ("organization list", None),
        (f"organization suspend {organization}", {"id": int(organization)}),
    ]
    for command, _ in given:
        service.run(*command.split(), PARAPH_OPERATOR="olga")
    *rows, change = noted(service, 9)
    for row, (command, after) in zip(rows, [each for each in given if each[1] is not None], strict=True):
        assert f"{command} ".startswith(f"{row['action']} "), command
        assert (row["actor"], row["organization_id"], row["after"]) == ("olga", None, after), command
    assert [row["action"].count(" ") for row in rows] == [1, 0, 1, 1, 1, 1, 0, 1], "whole names"
    assert "ada@example.com" not in str(rows)
    told = (change["action"], change["organization_id"], change["actor"])
    assert told == ("organization.suspended", int(organization), "olga")


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


def test_without_a_service_a_command_starts_the_database_for_itself(tmp_path: Path) -> None:
    stopped = Service(tmp_path / "data")
    first_start.copy(stopped.data_dir)
    made = stopped.command("organization", "create", "First", "--plan", "free")
    assert stopped.command("organization", "create", "Second", "--plan", "free")["id"] > made["id"]
    assert stopped.inbox() == []
    wait_until(lambda: not processes_of(tmp_path / "data"))
    remove(tmp_path / "data")


def test_an_unreachable_database_gets_a_sentence(tmp_path: Path) -> None:
    for command in ("inbox", "worker"):
        done = paraph(command, data_dir=tmp_path, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
        *before, sentence = done.stderr.splitlines()
        assert done.returncode == 1 and sentence.startswith("The database is not responding"), command
        assert command == "worker" or not before


@pytest.mark.parametrize(
    "arguments", ["serve", "web", "worker", "migrate", "inbox", "backup --out {}/new", "import {}/dump"]
)
def test_a_database_address_that_cannot_be_read_gets_a_sentence(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "dump").touch()
    url = "postgresql://paraph:top#secret@db.example.com/paraph"
    done = paraph(*arguments.format(tmp_path).split(), data_dir=tmp_path / "data", DATABASE_URL=url)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and "top" not in done.stderr, done.stderr
    assert done.stderr.startswith("The environment has mistakes: DATABASE_URL: must be postgresql://")


PARTS = {"serve", "web", "worker"}
WITHOUT_NOTES = PARTS | {"verify", "log verify"}
"""Commands that are no look at anybody's rows and no change, beside those of ``_UNNOTED``: the service itself, whose
start is logged; files alone, and logs of others, without the service. All others are noted."""


def test_every_command_explains_itself_and_all_but_the_service_speak_json() -> None:
    for path, command in commands(main).items():
        options = {option for parameter in command.params for option in parameter.opts}
        assert command.help and "--data-dir" in options, path
        assert ("--json" in options) == (path not in PARTS), path
    for name in _COMMANDS:
        assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0, name


def test_commands_without_a_note_are_counted_by_name() -> None:
    """A new command is noted, unless somebody says here that it need not be."""
    assert commands(main).keys() >= _UNNOTED | WITHOUT_NOTES
    assert len(_UNNOTED) == 10 and not {"person show", "inbox", "backup", "request list", "member list"} & _UNNOTED


def test_a_command_that_was_mistyped_is_named() -> None:
    said = CliRunner().invoke(main, ["verfy", "signed.pdf"])
    assert said.exit_code == 2 and "No such command 'verfy'. Did you mean 'verify'?" in said.output
    assert "Did you mean" not in CliRunner().invoke(main, ["xyz"]).output
