"""Codes while the database stands still, as in a failover: the gateways are well, and nobody is told otherwise."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from paraph.postgres.cluster import embedded_url
from tests.cli.service import small_service, wait_until
from tests.contract import contract
from tests.loopback import mail_server
from tests.scenarios.people import Backend, at, signer

pytestmark = pytest.mark.thorough

MANY = 8
Answer = tuple[int, str, str]
"""Status, code of the error, and in how many seconds to come again."""
SENT: Answer = (200, "sent", "")


def test_a_database_that_stands_still_is_no_gateway_that_fails(tmp_path: Path) -> None:
    """More signers ask than may wait. Who has a place waits for the database in it."""
    with (
        mail_server(object()) as url,
        small_service(tmp_path / "data", PARAPH_SMTP_URL=url, PARAPH_WEB_THREADS=str(MANY)) as service,
        ThreadPoolExecutor(MANY) as signers,
        psycopg.connect(embedded_url(service.data_dir, None), autocommit=True) as database,
    ):
        urls = _signing_urls(Backend(service.base_url, service.key))
        assert _ask(urls[0]) == SENT
        with database.transaction():
            database.execute("LOCK TABLE counts_count IN EXCLUSIVE MODE")
            asked = [signers.submit(_ask, url) for url in urls]
            wait_until(lambda: any(each.done() for each in asked))  # who finds no place waits for two seconds
        found = Counter(each.result() for each in asked)
        assert set(found) == {SENT, (503, "unavailable", "5")}, found
        # Nobody who comes afterwards pays for it.
        assert {_ask(url) for url in urls[: MANY // 2]} == {SENT}


def _signing_urls(backend: Backend) -> list[str]:
    refs = [f"s{number}" for number in range(MANY)]
    stamps = [{"signer_ref": ref, "stamps": [at()]} for ref in refs]
    made = backend.create(
        mode="parallel",
        validity_days=1,
        signers=[signer(ref, email=f"{ref}@{ref}.example.com", otp_channel="email") for ref in refs],
        documents=[{"id": backend.upload(contract()), "signers": stamps}],
    )
    return [each["signing_url"] for each in made["signers"]]


def _ask(url: str) -> Answer:
    answer = httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=60)
    code = answer.json().get("error", {}).get("code", "sent")
    return answer.status_code, code, answer.headers.get("Retry-After", "")
