"""Workers that are killed in the middle of their work: what they did is done once, and the rest goes on. And answers
that are lost after the commit: their clients repeat the calls, and nothing is made twice."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lab.chaos.dropped_answers import create, judge
from paraph.postgres import embedded_url
from tests.api.v1.api_clients import CONTRACT
from tests.attacks.at_the_dashboard import PASSWORD, Person
from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.contract import contract
from tests.independent import assert_sealed
from tests.request_templates.kept import csv_of
from tests.scenarios.people import at, sign, signer

pytestmark = pytest.mark.thorough

PEOPLE, DOCUMENTS, CREATIONS = 250, 50, 40


def test_each_document_is_sealed_once(new_target: Callable[..., Target], tmp_path: Path) -> None:
    target = new_target()
    backend = target.backend()
    placed = [{"signer_ref": "a", "stamps": [at()]}]
    uploaded = [backend.upload(contract() + b"\n%% %d\n" % number) for number in range(DOCUMENTS)]
    documents = [{"id": document, "signers": placed} for document in uploaded]
    request = backend.create(mode="parallel", validity_days=1, signers=[signer("a")], documents=documents)

    def told() -> Counter[str]:
        return Counter(entry["event_type"] for entry in backend.journal(request["id"]))

    workers = target.called("paraph-worker")
    assert sign(request["signers"][0]["signing_url"]).status_code == 200
    wait_until(lambda: told()["signature_request.pades_signed"] > 0)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    assert workers and told()["signature_request.pades_signed"] < DOCUMENTS, "killed too late to prove anything"
    links = backend.finalized(request["id"], seconds=90)["download_urls"]
    expected = {"pades_signed": DOCUMENTS, "certificate_issued": 1}
    assert told().items() >= {f"signature_request.{event}": times for event, times in expected.items()}.items()
    assert told()["request.completed"] == 1 and len(links) == DOCUMENTS
    for urls in links[::5]:
        path = tmp_path / f"{urls['document_id']}.pdf"
        path.write_bytes(httpx.get(urls["signed_url"], timeout=30).content)
        assert_sealed(path, target.root)


def test_what_is_asked_for_again_is_there_once(target: Target, tmp_path: Path) -> None:
    key = target.new_key()
    assert create(target.base_url, key, CREATIONS, tmp_path) >= CREATIONS / 2
    judge(target.base_url, key, target.inbox, CREATIONS)


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
            workers = target.called("paraph-worker")
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
    """Make a template of a contract whose tags say where the signer signs; return the address that it leads to."""
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
