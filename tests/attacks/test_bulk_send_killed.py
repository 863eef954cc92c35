"""A worker that is killed in the middle of a bulk send: each row is sent, and none twice."""

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from paraph.postgres import embedded_url
from tests.api.v1.api_clients import CONTRACT
from tests.attacks.conftest import Target
from tests.cli.service import wait_until
from tests.request_templates.kept import csv_of

pytestmark = pytest.mark.thorough

PASSWORD = "a long enough phrase"
PEOPLE = 250


def test_each_row_is_sent_once(new_target: Callable[..., Target]) -> None:
    target = new_target()
    organization = target.command("organization", "create", "Acme", "--plan", "enterprise")["id"]
    with logged_in(target, organization) as browser:
        template = _template(browser, f"/app/{organization}")
        rows = csv_of(*[f"Ada No{number} p{number}@example.com" for number in range(PEOPLE)])
        bulk = _posted(browser, f"{template}/bulk", files={"file": ("people.csv", rows, "text/csv")})
        _posted(browser, f"{bulk}/start")
        with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as database:
            wait_until(lambda: _sent(database) > PEOPLE // 20)
            workers = _workers(target)
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            assert workers
            assert _sent(database) < PEOPLE, "the worker was killed too late to prove anything"
            wait_until(lambda: _column(database, "SELECT status FROM request_templates_bulksend") == ["done"], 120)
            addressed = Counter(_column(database, "SELECT email FROM signature_requests_signer"))
            assert addressed == {f"p{number}@example.com": 1 for number in range(PEOPLE)}
            assert _column(database, "SELECT count FROM counts_count WHERE scope LIKE 'web-sends:%'") == [PEOPLE]
        page = browser.get(bulk).text
    assert f"{PEOPLE} of {PEOPLE} requests sent" in page


@contextmanager
def logged_in(target: Target, organization: int) -> Iterator[httpx.Client]:
    options = ["--organization", str(organization), "--email", "charles@example.com", "--role", "member"]
    target.run("member", "create", *options, "--password-stdin", given=PASSWORD).check_returncode()
    with httpx.Client(base_url=target.base_url, timeout=60) as browser:
        _posted(browser, "/account/login/", data={"login": "charles@example.com", "password": PASSWORD})
        yield browser


def _template(browser: httpx.Client, organization: str) -> str:
    """Of a contract whose tags say where the signer signs."""
    draft = _posted(browser, f"{organization}/drafts").removesuffix("/documents")
    file = {"file": ("contract.pdf", CONTRACT, "application/pdf")}
    _posted(browser, f"{draft}/documents", data={"action": "upload"}, files=file)
    names = {"first_name": "Ada", "last_name": "Byron", "email": "a@example.com", "otp_channel": "email"}
    signer = {f"signer-0-{name}": value for name, value in names.items()}
    totals = {"signer-TOTAL_FORMS": "1", "signer-INITIAL_FORMS": "0"}
    _posted(browser, f"{draft}/signers", data={**signer, **totals, "mode": "parallel"})
    browser.get(f"{draft}/places")  # puts stamps under the tags
    return _posted(browser, f"{draft}/template", data={"name": "Lease", "role-0": "Tenant"})


def _posted(browser: httpx.Client, address: str, **content: Any) -> str:
    """Posts the form of a page as a browser does; returns where it leads."""
    page = browser.get(address.removesuffix("/start"))
    found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert found, page.text
    data = {**content.pop("data", {}), "csrfmiddlewaretoken": found[1]}
    answer = browser.post(address, data=data, headers={"Referer": str(page.url)}, **content)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["Location"])


def _workers(target: Target) -> list[int]:
    names = {pid: Path(f"/proc/{pid}/comm").read_text().strip() for pid in target.processes()}
    return [pid for pid, name in names.items() if name == "paraph-worker"]


def _sent(database: "psycopg.Connection[Any]") -> int:
    return int(_column(database, "SELECT count(*) FROM request_templates_bulkrow WHERE state = 'sent'")[0])


def _column(database: "psycopg.Connection[Any]", query: str) -> list[Any]:
    return [row[0] for row in database.execute(query).fetchall()]
