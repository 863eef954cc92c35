"""A worker that is killed in the middle of a bulk send: each row is sent, and none twice."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from paraph.postgres import embedded_url
from tests.api.v1.api_clients import CONTRACT
from tests.attacks.at_the_dashboard import PASSWORD, Person
from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.request_templates.kept import csv_of

pytestmark = pytest.mark.thorough

PEOPLE = 250


def test_each_row_is_sent_once(new_target: Callable[..., Target]) -> None:
    target = new_target()
    organization = target.command("organization", "create", "Acme", "--plan", "enterprise")["id"]
    person = Person(target, "charles@example.com")
    member = ["--organization", str(organization), "--email", person.email, "--role", "member"]
    target.run("member", "create", *member, "--password-stdin", given=PASSWORD).check_returncode()
    with person.browser:
        person.log_in()
        template = _template(person, f"/app/{organization}")
        rows = csv_of(*[f"Ada No{number} p{number}@example.com" for number in range(PEOPLE)])
        bulk = person.sent(f"{template}/bulk", {}, {"file": ("people.csv", rows, "text/csv")})
        person.sent(f"{bulk}/start", {}, page=bulk)
        with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as database:
            wait_until(lambda: _sent(database) > PEOPLE // 20)
            workers = target.workers()
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            assert workers
            assert _sent(database) < PEOPLE, "the worker was killed too late to prove anything"
            wait_until(lambda: _column(database, "SELECT status FROM request_templates_bulksend") == ["done"], 120)
            addressed = Counter(_column(database, "SELECT email FROM signature_requests_signer"))
            assert addressed == {f"p{number}@example.com": 1 for number in range(PEOPLE)}
            assert _column(database, "SELECT count FROM counts_count WHERE scope LIKE 'web-sends:%'") == [PEOPLE]
        assert f"{PEOPLE} of {PEOPLE} requests sent" in person.page(bulk)


def _template(person: Person, organization: str) -> str:
    """Of a contract whose tags say where the signer signs."""
    draft = person.sent(f"{organization}/drafts", {}).removesuffix("/documents")
    file = {"file": ("contract.pdf", CONTRACT, "application/pdf")}
    person.sent(f"{draft}/documents", {"action": "upload"}, file)
    names = {"first_name": "Ada", "last_name": "Byron", "email": "a@example.com", "otp_channel": "email"}
    signer = {f"signer-0-{name}": value for name, value in names.items()}
    totals = {"signer-TOTAL_FORMS": "1", "signer-INITIAL_FORMS": "0"}
    person.sent(f"{draft}/signers", {**signer, **totals, "mode": "parallel"})
    person.page(f"{draft}/places")  # puts stamps under the tags
    return person.sent(f"{draft}/template", {"name": "Lease", "role-0": "Tenant"})


def _sent(database: "psycopg.Connection[Any]") -> int:
    return int(_column(database, "SELECT count(*) FROM request_templates_bulkrow WHERE state = 'sent'")[0])


def _column(database: "psycopg.Connection[Any]", query: str) -> list[Any]:
    return [row[0] for row in database.execute(query).fetchall()]
