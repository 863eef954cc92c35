"""A mail server that takes connections and says nothing holds up mails, and nothing else."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest

from paraph.cli.demo.contract import contract
from paraph.postgres.location import embedded_url
from tests.cli.conftest import SMALL
from tests.cli.service import Service, remove, wait_until
from tests.scenarios.people import Backend, at, sign, signer

DOING = "SELECT task_name FROM procrastinate_jobs WHERE status = 'doing'"
EXPIRE = "UPDATE signature_requests_signaturerequest SET expires_at = now() WHERE id = %s"
MANY = 8


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with such a mail server, and one web process of 4 threads."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        url = f"smtp://127.0.0.1:{server.getsockname()[1]}"
        folder = tmp_path_factory.mktemp("hung") / "data"
        service = Service(folder, PARAPH_SMTP_URL=url, PARAPH_WEB_THREADS="4", **SMALL)
        service.begin()
        yield service
        service.stop()
        remove(folder)


def test_expiry_and_seals_go_on(hung: Service) -> None:
    backend = Backend(hung.base_url, hung.key)
    request(backend, MANY, send_email=True, identity_declaration_accepted=True)
    expiring, signed = request(backend), request(backend)

    with psycopg.connect(embedded_url(hung.data_dir, None), autocommit=True) as database:

        def at_hand() -> list[str]:
            return [name.rpartition(".")[2] for (name,) in database.execute(DOING)]

        wait_until(lambda: at_hand() == ["invite", "invite"])
        database.execute(EXPIRE, [expiring["id"]])
        wait_until(lambda: backend.read(expiring["id"])["status"] == "expired", seconds=5)

        url = signed["signers"][0]["signing_url"]
        code = httpx.post(f"{url}/otp", json={"channel": "sms"}, timeout=30).json()["sandbox_code"]
        assert sign(url, code).status_code == 200
        wait_until(lambda: backend.read(signed["id"])["finalized"], seconds=10)
        assert at_hand().count("invite") == 2


@pytest.mark.thorough
def test_pages_and_the_api_go_on(hung: Service) -> None:
    backend = Backend(hung.base_url, hung.key)
    urls = [each["signing_url"] for each in request(backend, MANY, channel="email")["signers"]]

    def ask(url: str) -> tuple[int, float]:
        answer = httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=60)
        assert answer.json()["error"]["code"] == "delivery_failed"
        return answer.status_code, answer.elapsed.total_seconds()

    with ThreadPoolExecutor(MANY) as signers:
        asked = [signers.submit(ask, url) for url in urls]
        for _ in range(10):
            assert httpx.get(f"{urls[0]}", timeout=5).status_code == 200
            time.sleep(0.1)
        answers = [each.result() for each in asked]
    assert {status for status, _ in answers} == {503}
    assert sum(seconds > 10 for _, seconds in answers) == 1  # of half of the threads, one is for others
    with psycopg.connect(embedded_url(hung.data_dir, None), autocommit=True) as database:
        assert database.execute("SELECT count(*) FROM otp_onetimecode WHERE sent_at IS NULL").fetchone() == (1,)


def request(backend: Backend, signers: int = 1, channel: str = "sms", **more: Any) -> dict[str, Any]:
    refs = [f"s{number}" for number in range(signers)]
    document = backend.upload(contract())
    stamps = [{"signer_ref": ref, "stamps": [at()]} for ref in refs]
    people = [signer(ref, phone="+33612345678", otp_channel=channel) for ref in refs]
    return backend.create(
        mode="parallel", validity_days=1, signers=people, documents=[{"id": document, "signers": stamps}], **more
    )
