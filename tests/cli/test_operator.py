"""The operator's commands, with and without a service running."""

import subprocess
from pathlib import Path

import httpx
import pytest

from tests import first_start
from tests.cli import forked
from tests.cli.service import Service, clean_environment, processes_of, remove, wait_until


def test_an_organization_and_its_keys_while_the_service_runs(service: Service) -> None:
    organization = service.command("organization", "create", "Acme Œuvres", "--plan", "pro")
    assert (organization["name"], organization["plan"]) == ("Acme Œuvres", "pro")
    options = ["--organization", str(organization["id"]), "--environment", "production", "--name", "backend"]
    made = service.command("application", "create", *options, "--webhook-url", "https://acme.example/hook")
    assert made["webhook_url"] == "https://acme.example/hook"
    assert made["webhook_secret"]
    health = f"{service.base_url}/api/v1/health"
    assert httpx.get(health, headers={"X-Api-Key": made["api_key"]}).json()["environment"] == "production"

    assert service.command("application", "revoke", str(made["id"])) == {"id": made["id"], "revoked_keys": 1}
    assert httpx.get(health, headers={"X-Api-Key": made["api_key"]}).status_code == 401


def test_nothing_is_left_of_a_secret_that_was_never_rotated(service: Service) -> None:
    rotated, status = service.commands([["secret", "rotate"], ["secret", "status"]])
    assert rotated == status and status["done"] and status["in_use"] == "newest" and not any(status["left"].values())


def test_an_organization_may_refuse_documents_that_can_change(service: Service) -> None:
    organization = str(service.command("organization", "create", "Acme", "--plan", "pro")["id"])
    for option, refused in (("--refuse-changeable", True), ("--accept-changeable", False)):
        changed = service.command("organization", "update", organization, option)
        facts = {"id": int(organization), "name": "Acme", "mails_copy_links": True, "contact_email": ""}
        wanted = facts | {"refuse_changeable_documents": refused}
        assert {name: changed[name] for name in wanted} == wanted
    changed = service.command("organization", "update", organization, "--no-copy-links")
    assert (changed["mails_copy_links"], changed["refuse_changeable_documents"]) == (False, False)


def test_an_organization_has_a_contact_address(service: Service) -> None:
    organization = str(service.command("organization", "create", "Acme", "--plan", "pro")["id"])
    for address in ("contracts@acme.example", ""):
        changed = service.command("organization", "update", organization, "--contact-email", address)
        assert (changed["id"], changed["contact_email"]) == (int(organization), address)


def test_an_application_names_the_sites_that_may_frame_its_pages(service: Service) -> None:
    organization = str(service.command("organization", "create", "Acme", "--plan", "pro")["id"])
    sites = ["https://a.example", "http://localhost:3000"]
    options = [part for site in sites for part in ("--frame-origin", site)]
    facts = ("--organization", organization, "--environment", "sandbox", "--name", "shop")
    made = service.command("application", "create", *facts, *options)
    assert made["frame_origins"] == sites
    update = ("application", "update", str(made["id"]))
    changed = service.command(*update, "--frame-origin", "https://b.example")
    assert (changed["id"], changed["name"]) == (made["id"], "shop")
    assert changed["frame_origins"] == ["https://b.example"]
    assert service.command(*update, "--any-frame-origin")["frame_origins"] == []


@pytest.mark.thorough
def test_branding_profiles_up_to_the_plans_limit(service: Service) -> None:
    organization = service.command("organization", "create", "Acme", "--plan", "pro")["id"]
    colors = ["--background-color", "#ffffff", "--text-color", "#000000", "--accent-color", "#1A2B3C"]
    options = ["branding", "create", "--organization", str(organization), "--name", "House", *colors]
    made = service.command(*options)
    assert made["accent_color"] == "#1A2B3C"
    service.command(*options)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        service.command(*options)
    assert refused.value.returncode == 1
    assert refused.value.stderr == "The plan pro allows 2 branding profiles.\n"
    deleted = service.command("branding", "delete", str(made["id"]))
    assert (deleted["name"], deleted["deleted"]) == ("House", True)
    assert service.command(*options)["id"] > made["id"], "there is room for another one"
    with pytest.raises(subprocess.CalledProcessError) as again:
        service.command("branding", "delete", str(made["id"]))
    assert again.value.stderr == f"There is no branding profile {made['id']}.\n"


@pytest.mark.thorough
def test_what_is_kept_of_a_person_is_shown_and_handed_over(service: Service, tmp_path: Path) -> None:
    organization = str(service.command("organization", "create", "Acme", "--plan", "pro")["id"])
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
    organization = str(service.command("organization", "create", "Acme", "--plan", "free")["id"])
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


def test_mistakes_get_one_sentence(service: Service) -> None:
    for arguments, sentence in (
        (("organization", "create", "x", "--plan", "gold"), "plan must be one of free, pro, enterprise, not 'gold'."),
        (("application", "revoke", "999999"), "There is no application 999999."),
        (("organization", "update", "999999", "--refuse-changeable"), "There is no organization 999999."),
        (
            ("application", "update", "999999", "--frame-origin", "https://a.example/b"),
            "There is no application 999999.",
        ),
        (("organization", "update", "999999", "--contact-email", "acme"), "There is no organization 999999."),
        (("organization", "confirm-address", "999999", "a@example.com"), "There is no organization 999999."),
        (("inbox", "--html", "/proc/mails"), "/proc/mails cannot be written to: No such file or directory."),
    ):
        with pytest.raises(subprocess.CalledProcessError) as refused:
            service.command(*arguments)
        assert (refused.value.returncode, refused.value.stderr) == (1, f"{sentence}\n")


def test_without_a_service_a_command_starts_the_database_for_itself(tmp_path: Path) -> None:
    stopped = Service(tmp_path / "data")
    first_start.copy(stopped.data_dir)
    made = stopped.command("organization", "create", "First", "--plan", "free")
    assert stopped.command("organization", "create", "Second", "--plan", "free")["id"] > made["id"]
    assert stopped.inbox() == []
    wait_until(lambda: not processes_of(tmp_path / "data"))
    remove(tmp_path / "data")


def test_an_unreachable_database_gets_a_sentence(tmp_path: Path) -> None:
    nowhere = clean_environment(tmp_path, DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    done = forked.run("paraph", "inbox", environment=nowhere)
    assert done.returncode == 1
    assert done.stderr.startswith("The database is not responding: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "serve", "worker", "migrate", "inbox", "backup --out backup.tar", "import paraph.dump",
        *(pytest.param(each, marks=pytest.mark.thorough) for each in (
            "web", "check", "organization list", "application list", "key list", "branding delete 1", "request list",
            "secret status", "retention show 1", "usage --month 2026-11", "verify-store", "export --out paraph.dump",
            "storage encrypt",
        )),
    ],
)  # fmt: skip
def test_a_database_address_that_cannot_be_read_gets_a_sentence(tmp_path: Path, arguments: str) -> None:
    address = "postgresql://paraph:top#secret@db.example.com/paraph"
    for name in ("backup.tar", "paraph.dump"):
        (tmp_path / name).write_bytes(b"")
    paths = [str(tmp_path / word) if "." in word else word for word in arguments.split()]
    paths = (
        paths if "--out" not in paths else [word.replace("backup.tar", "new").replace(".dump", "2") for word in paths]
    )
    done = forked.run("paraph", *paths, environment=clean_environment(tmp_path / "data", DATABASE_URL=address))
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("The environment has mistakes: DATABASE_URL: must be postgresql://"), done.stderr
    assert len(done.stderr.splitlines()) == 1 and "top" not in done.stderr
