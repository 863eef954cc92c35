"""The log of a whole flow: one id joins a call to all that follows from it, and no secret stands in it."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.service import Service
from tests.factories import pdf
from tests.receiver import receiver


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(
        tmp_path / "data", PARAPH_LOG_LEVEL="DEBUG", PARAPH_WEB_PROCESSES="1", PARAPH_WORKER_PROCESSES="1"
    )
    service.begin()
    yield service
    service.stop()


@pytest.mark.thorough
def test_one_id_joins_everything_and_no_secret_is_told(service: Service) -> None:
    with receiver() as hooks:
        organization = str(service.command("organization", "create", "Acme", "--plan", "enterprise")["id"])
        options = ["--organization", organization, "--environment", "sandbox", "--name", "backend"]
        application = service.command("application", "create", *options, "--webhook-url", hooks.url())
        secrets = {application["api_key"], application["webhook_secret"]}
        request_id, code, seen = flow(service, application["api_key"])
        seen.add(strange(service))
        wait_until(lambda: any(hook.headers["X-Service-Event"] == "request.completed" for hook in hooks.received))
        wait_until(lambda: len([line for line in lines(service) if line["event"] == "webhook delivered"]) >= 4)
    figures = httpx.get(f"{service.base_url}/metrics").text
    service.stop()
    log = "".join(service.output)
    for secret in secrets | seen:
        assert secret not in log, f"a secret of {len(secret)} characters stands in the log"
        assert secret not in figures
    assert "files/<path:key>" in log
    assert not re.search(rf"(?<![\d.]){code}(?!\d)", log)  # fractions of seconds have six digits too
    assert [line["command"] for line in lines(service) if line["event"] == "Paraph starts"] == ["serve"]
    trace = [line for line in lines(service) if line.get("request_id") == request_id]
    assert {line["task"] for line in trace if line["event"] == "job"} == {"finalize"}
    told = {line["webhook_event"] for line in trace if line["event"] == "webhook delivered"}
    assert told == {"signer.signed", "request.completed"}
    assert 'paraph_webhook_attempts_total{event="request.completed",result="delivered"} 1.0' in figures
    assert 'paraph_jobs_run_total{result="succeeded",task="finalize"} 1.0' in figures


def strange(service: Service) -> str:
    """What nobody was given, and somebody tries everywhere."""
    secret = "a1b2c3d4" * 8
    httpx.get(f"{service.base_url}/sign/{secret}")
    httpx.post(f"{service.base_url}/sign/{secret}/otp", json={"channel": "email"})
    httpx.get(f"{service.base_url}/files/a.pdf?expires=1&filename=x&signature={secret}")
    httpx.get(f"{service.base_url}/api/v1/health", headers={"X-Api-Key": secret})
    return secret


def flow(service: Service, key: str) -> tuple[str, str, set[str]]:
    """One request from upload to download. The id of the call that signed, the code, and other secrets."""
    with httpx.Client(base_url=f"{service.base_url}/api/v1", headers={"X-Api-Key": key}, timeout=30) as api:
        return walk(api)


def walk(api: httpx.Client) -> tuple[str, str, set[str]]:
    document = api.post("/documents", files={"file": ("a.pdf", pdf(), "application/pdf")}).json()
    place = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
    payload: dict[str, Any] = {
        "mode": "parallel",
        "validity_days": 1,
        "send_email": True,
        "identity_declaration_accepted": True,
        "signers": [{"ref": "a", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"}],
        "documents": [{"id": document["id"], "signers": [{"signer_ref": "a", "stamps": [place]}]}],
    }
    made = api.post("/signature_requests", json={"signature_request": payload}).json()
    url = made["signers"][0]["signing_url"]
    httpx.get(url)
    code = httpx.post(f"{url}/otp", json={"channel": "email"}).json()["sandbox_code"]
    consent = {"code": code, "consent": True, "signature": {"type": "typed"}, "locale": "en"}
    signed = httpx.post(f"{url}/signature", json=consent)
    assert signed.status_code == 200, signed.text
    address = f"/signature_requests/{made['id']}"
    wait_until(lambda: api.get(address).json()["finalized"])
    downloads = api.get(address).json()["download_urls"][0]
    links = [
        downloads["signed_url"],
        downloads["certificate_url"],
        api.get(f"/documents/{document['id']}").json()["download_url"],
    ]
    assert all(httpx.get(link).status_code == 200 for link in links)
    signatures = {found[1] for link in links if (found := re.search(r"signature=([0-9a-f]+)", link))}
    return signed.headers["X-Request-Id"], code, {url.rpartition("/")[2], *signatures}


def lines(service: Service) -> list[dict[str, Any]]:
    return [json.loads(line) for line in list(service.output) if line.startswith("{")]


def wait_until(holds: Any, seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)
