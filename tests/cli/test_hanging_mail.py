"""A mail server that takes connections and says nothing holds up mails, and nothing else."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import psycopg
import pytest

from paraph.cli.demo.contract import contract
from paraph.postgres.place import embedded_url
from tests.cli.service import Service, wait_until
from tests.scenarios.people import Backend, at, sign, signer

DOING = "SELECT task_name FROM procrastinate_jobs WHERE status = 'doing'"
EXPIRE = "UPDATE signature_requests_signaturerequest SET expires_at = now() WHERE id = %s"
MANY = 8


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of such a server."""
    with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
        yield int(server.getsockname()[1])


def test_expiry_and_seals_go_on(new_service: Callable[..., Service], silent: int) -> None:
    service = new_service(PARAPH_SMTP_URL=f"smtp://127.0.0.1:{silent}")
    service.start()
    backend = Backend(service.base_url, service.new_application()["api_key"])
    request(backend, MANY, send_email=True, identity_declaration_accepted=True)
    expiring, signed = request(backend), request(backend)

    with psycopg.connect(embedded_url(service.data_dir, None), autocommit=True) as database:

        def at_hand() -> list[str]:
            return [name.rpartition(".")[2] for (name,) in database.execute(DOING)]

        wait_until(lambda: at_hand() == ["invite", "invite"])
        database.execute(EXPIRE, [expiring["id"]])
        wait_until(lambda: backend.read(expiring["id"])["status"] == "expired", seconds=5)

        url = signed["signers"][0]["signing_url"]
        code = httpx.post(f"{url}/otp", json={"channel": "sms"}, timeout=30).json()["sandbox_code"]
        assert sign(url, code).status_code == 200
        wait_until(lambda: backend.read(signed["id"])["finalized"], seconds=10)
        assert at_hand() == ["invite", "invite"]


def request(backend: Backend, signers: int = 1, **more: Any) -> dict[str, Any]:
    refs = [f"s{number}" for number in range(signers)]
    document = backend.upload(contract())
    stamps = [{"signer_ref": ref, "stamps": [at()]} for ref in refs]
    people = [signer(ref, phone="+33612345678", otp_channel="sms") for ref in refs]
    return backend.create(
        mode="parallel", validity_days=1, signers=people, documents=[{"id": document, "signers": stamps}], **more
    )
