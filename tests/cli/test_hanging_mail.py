"""A mail server or a webhook receiver that takes connections and says nothing holds up mails or webhooks, and nothing
else. While the database stands still, as in a failover, nobody is told that a gateway fails."""

import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from paraph.postgres.cluster import embedded_url
from tests.cli.service import Service, small_service, wait_until
from tests.contract import contract
from tests.loopback import mail_server
from tests.receiver import receiver, silent
from tests.scenarios.people import Backend, sign, signer

pytestmark = pytest.mark.thorough

DOING = "SELECT task_name FROM procrastinate_jobs WHERE status = 'doing'"
EXPIRE = "UPDATE signature_requests_signaturerequest SET expires_at = now() WHERE id = %s"
MANY = 8


@pytest.fixture(scope="module")
def hung(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a mail server that says nothing, and one web process of 4 threads."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        url = f"smtp://127.0.0.1:{server.getsockname()[1]}"
        folder = tmp_path_factory.mktemp("hung") / "data"
        with small_service(folder, PARAPH_SMTP_URL=url, PARAPH_WEB_THREADS="4") as service:
            yield service


def test_expiry_and_seals_go_on_though_a_receiver_hangs_as_well(hung: Service) -> None:
    backend = Backend(hung.base_url, hung.key)
    request(backend, MANY, send_email=True, identity_declaration_accepted=True)
    expiring, *signed = [request(backend) for _ in range(1 + MANY)]

    with receiver(silent) as hooks, psycopg.connect(embedded_url(hung.data_dir, None), autocommit=True) as database:

        def at_hand() -> list[str]:
            return [name.rpartition(".")[2] for (name,) in database.execute(DOING)]

        database.execute("UPDATE organizations_application SET webhook_url = %s", [hooks.url()])
        wait_until(lambda: at_hand() == ["invite", "invite"])
        database.execute(EXPIRE, [expiring["id"]])
        wait_until(lambda: backend.read(expiring["id"])["status"] == "expired", seconds=5)

        for each in signed:
            assert sign(each["signers"][0]["signing_url"], code(each)).status_code == 200
        wait_until(lambda: len(hooks.received) >= MANY)
        backend.upload(contract(), timeout=5)
        backend.finalized(signed[-1]["id"], seconds=20)
        assert at_hand().count("invite") == 2


def test_pages_and_the_api_go_on(hung: Service) -> None:
    """Even uploads of the organization whose signers wait for their codes, in the only web process."""
    backend = Backend(hung.base_url, hung.key)
    made = request(backend, MANY, channel="email")
    urls = [each["signing_url"] for each in made["signers"]]

    with ThreadPoolExecutor(MANY) as signers:
        asked = [signers.submit(ask, url) for url in urls]
        for _ in range(10):
            assert httpx.get(urls[0], timeout=5).status_code == 200
            backend.upload(contract(), timeout=5)
        answers = [each.result() for each in asked]
    assert {outcome(answer) for answer in answers} <= {(503, "delivery_failed", "15"), (503, "unavailable", "5")}
    # a quarter of the 4 threads may wait for others' machines
    assert sum(answer.elapsed.total_seconds() > 10 for answer in answers) == 1
    with psycopg.connect(embedded_url(hung.data_dir, None), autocommit=True) as database:
        unsent = "SELECT count(*) FROM otp_onetimecode WHERE sent_at IS NULL AND signer_id IN (SELECT id FROM "
        mine = f"signature_requests_signer WHERE request_id = {made['id']})"
        assert database.execute(unsent + mine).fetchone() == (1,)


def code(request: dict[str, Any]) -> str:
    """A code for the first signer, by SMS."""
    url = request["signers"][0]["signing_url"]
    return str(httpx.post(f"{url}/otp", json={"channel": "sms"}, timeout=30).json()["sandbox_code"])


def request(backend: Backend, signers: int = 1, channel: str = "sms", **more: Any) -> dict[str, Any]:
    refs = [f"s{number}" for number in range(signers)]
    people = [signer(ref, phone="+33612345678", otp_channel=channel) for ref in refs]
    return backend.ask(*refs, signers=people, **more)


def ask(url: str) -> httpx.Response:
    return httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=60)


SENT = (200, "sent", "")


def outcome(answer: httpx.Response) -> tuple[int, str, str]:
    """Status, error code, and seconds after which to try again."""
    code = answer.json().get("error", {}).get("code", "sent")
    return answer.status_code, code, answer.headers.get("Retry-After", "")


def test_a_database_that_stands_still_is_no_gateway_that_fails(tmp_path: Path) -> None:
    """More signers ask than have places; whoever has a place keeps it while waiting for the database."""
    with (
        mail_server(object()) as url,
        small_service(tmp_path / "data", PARAPH_SMTP_URL=url, PARAPH_WEB_THREADS=str(MANY)) as service,
        ThreadPoolExecutor(MANY) as signers,
        psycopg.connect(embedded_url(service.data_dir, None), autocommit=True) as database,
    ):
        refs = [f"s{number}" for number in range(MANY)]
        people = [signer(ref, email=f"{ref}@{ref}.example.com", otp_channel="email") for ref in refs]
        made = Backend(service.base_url, service.key).ask(*refs, signers=people)
        urls = [each["signing_url"] for each in made["signers"]]
        assert outcome(ask(urls[0])) == SENT
        with database.transaction():
            database.execute("LOCK TABLE counts_count IN EXCLUSIVE MODE")
            asked = [signers.submit(ask, url) for url in urls]
            wait_until(lambda: any(each.done() for each in asked))  # without a place: refused after two seconds
        found = Counter(outcome(each.result()) for each in asked)
        assert set(found) == {SENT, (503, "unavailable", "5")}, found
        # No later call is refused because of it.
        assert {outcome(ask(url)) for url in urls[: MANY // 2]} == {SENT}
