"""The log of a whole flow: one id joins a call to all that follows from it, and no secret stands in it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.service import Service, wait_until
from tests.receiver import receiver
from tests.scenarios.people import Backend, code_for, sign


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
    assert not re.search(rf"(?<![\da-f.]){code}(?![\da-f])", log)  # fractions of seconds and ids have six digits too
    assert [line["command"] for line in lines(service) if line["event"] == "Paraph starts"] == ["serve"]
    trace = [line for line in lines(service) if line.get("request_id") == request_id]
    assert {line["task"] for line in trace if line["event"] == "job"} == {"finalize"}
    told = {line["webhook_event"] for line in trace if line["event"] == "webhook delivered"}
    assert told == {"signer.signed", "request.completed"}
    assert 'paraph_webhook_attempts_total{event="request.completed",result="delivered"} 1.0' in figures
    assert 'paraph_jobs_run_total{result="succeeded",task="finalize"} 1.0' in figures


def strange(service: Service) -> str:
    """Try a secret that nobody was given wherever one is taken; return it."""
    secret = "a1b2c3d4" * 8
    httpx.get(f"{service.base_url}/sign/{secret}")
    httpx.post(f"{service.base_url}/sign/{secret}/otp", json={"channel": "email"})
    httpx.get(f"{service.base_url}/files/a.pdf?expires=1&filename=x&signature={secret}")
    httpx.get(f"{service.base_url}/api/v1/health", headers={"X-Api-Key": secret})
    return secret


def flow(service: Service, key: str) -> tuple[str, str, set[str]]:
    """Take a request from upload to download; return the id of the call that signed, the code, and other secrets."""
    backend = Backend(service.base_url, key)
    made = backend.ask("ada", send_email=True, identity_declaration_accepted=True)
    url = made["signers"][0]["signing_url"]
    httpx.get(url)
    code = code_for(url)
    signed = sign(url, code, signature={"type": "typed"}, locale="en")
    assert signed.status_code == 200, signed.text
    downloads = backend.finalized(made["id"])["download_urls"][0]
    uploaded = backend.call("GET", f"documents/{downloads['document_id']}").json()
    links = [downloads["signed_url"], downloads["certificate_url"], uploaded["download_url"]]
    assert all(httpx.get(link).status_code == 200 for link in links)
    signatures = {found[1] for link in links if (found := re.search(r"signature=([0-9a-f]+)", link))}
    return signed.headers["X-Request-Id"], code, {url.rpartition("/")[2], *signatures}


def lines(service: Service) -> list[dict[str, Any]]:
    return [json.loads(line) for line in list(service.output) if line.startswith("{")]
