"""Codes while the database stands still, as in a failover: the gateways are well, and nobody is told otherwise."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import httpx
import psycopg
import pytest

from paraph.postgres.cluster import embedded_url
from tests.cli.service import Service, wait_until
from tests.contract import contract
from tests.scenarios.people import Backend, at, signer

pytestmark = pytest.mark.thorough

MANY = 8
Answer = tuple[int, str, str]
"""Status, code of the error, and in how many seconds to come again."""
SENT: Answer = (200, "sent", "")


class _Mailbox(StreamRequestHandler):
    """Takes every mail at once."""

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        within = False
        for line in self.rfile:
            if within and line != b".\r\n":
                continue
            within = line[:4].upper() == b"DATA"
            self.wfile.write(b"354 go on\r\n" if within else b"250 ok\r\n")


class _MailServer(ThreadingTCPServer):
    daemon_threads = True


@pytest.fixture
def mail_server() -> Iterator[str]:
    with _MailServer(("127.0.0.1", 0), _Mailbox) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"smtp://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_database_that_stands_still_is_no_gateway_that_fails(
    new_service: Callable[..., Service], mail_server: str
) -> None:
    """More signers ask than may wait. Who has a place waits for the database in it."""
    service = new_service(PARAPH_SMTP_URL=mail_server, PARAPH_WEB_THREADS=str(MANY))
    service.begin()
    urls = _signing_urls(Backend(service.base_url, service.key))
    assert _ask(urls[0]) == SENT
    with (
        ThreadPoolExecutor(MANY) as signers,
        psycopg.connect(embedded_url(service.data_dir, None), autocommit=True) as database,
    ):
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
