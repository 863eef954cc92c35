"""Workers that are killed in the middle of their work: what they did is done once, and the rest goes on. And answers
that are lost after the commit: their clients repeat the calls, and nothing is made twice."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from lab.chaos.dropped_answers import create, judge
from paraph.postgres import embedded_url
from tests.api.v1.api_clients import CONTRACT
from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.contract import contract
from tests.dashboard.editor_window import begin_draft, post
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
    draft = begin_draft(target, CONTRACT, people=["Ada"], organization=organization)
    with closing(draft.browser) as browser:
        browser.get(draft.address)  # puts stamps under the tags
        template = post(browser, draft.address.replace("/places", "/template"), {"name": "Lease", "role-0": "Tenant"})
        rows = csv_of(*[f"Ada No{number} p{number}@example.com" for number in range(PEOPLE)])
        bulk = post(browser, f"{template}/bulk", {}, {"file": ("people.csv", rows, "text/csv")})
        post(browser, f"{bulk}/start", {}, page=bulk)
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
        assert f"{PEOPLE} of {PEOPLE} requests sent" in browser.get(bulk).text


def _sent(database: "psycopg.Connection[Any]") -> int:
    return int(_column(database, "SELECT count(*) FROM request_templates_bulkrow WHERE state = 'sent'")[0])


def _column(database: "psycopg.Connection[Any]", query: str) -> list[Any]:
    return [row[0] for row in database.execute(query).fetchall()]
