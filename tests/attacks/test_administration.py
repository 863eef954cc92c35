"""What an operator withdraws is withdrawn at once: keys, organizations, requests, files. And nobody else notices."""

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from paraph.postgres import embedded_url
from tests.attacks.conftest import Target
from tests.attacks.files import new_request, verified, wanted
from tests.factories import pdf
from tests.scenarios.people import Backend, sign

pytestmark = pytest.mark.thorough

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def bystander(target: Target) -> Iterator[Backend]:
    """Another organization, which is served before and after all of it."""
    other = target.backend()
    document = other.upload(pdf())
    yield other
    assert other.call("GET", f"documents/{document}").status_code == 200
    assert sign(new_request(other)["signers"][0]["signing_url"]).status_code == 200


def test_a_suspended_organization_begins_nothing_and_ends_what_it_began(target: Target, bystander: Backend) -> None:
    made = target.new_application()
    backend = target.backend(made["api_key"])
    request = new_request(backend)
    target.command("organization", "suspend", str(made["organization_id"]))
    for method, path in (("GET", "documents"), ("GET", f"signature_requests/{request['id']}"), ("GET", "health")):
        answer = backend.call(method, path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden"), path
    assert backend.call("POST", "documents", files={"file": ("a.pdf", pdf(), "application/pdf")}).status_code == 403
    assert sign(request["signers"][0]["signing_url"]).status_code == 200
    target.command("organization", "resume", str(made["organization_id"]))
    assert backend.finalized(request["id"])["download_urls"]


def test_of_a_rotated_application_both_keys_hold_and_then_one(target: Target, bystander: Backend) -> None:
    made = target.new_application()
    rotated = target.command("application", "rotate", str(made["id"]))
    keys = [made["api_key"], rotated["api_key"]]
    assert [_health(target, key) for key in keys] == [200, 200]
    rotate = ["application", "rotate", str(made["id"]), "--overlap-hours", "0"]
    again, applications = target.commands([rotate, ["application", "list"]])
    assert [_health(target, key) for key in (*keys, again["api_key"])] == [401, 401, 200]
    [listed] = [row for row in applications if row["id"] == made["id"]]
    assert [key["live"] for key in listed["keys"]] == [False, False, True]
    secrets = {*keys, again["api_key"], rotated["webhook_secret"], again["webhook_secret"]}
    assert not any(secret in str(listed) or secret in "".join(target.output) for secret in secrets)


def test_a_request_that_was_ended_takes_no_signature(target: Target, bystander: Backend) -> None:
    backend = target.backend()
    request = new_request(backend)
    target.command("request", "cancel", str(request["id"]), "--reason", "Wrong contract")
    read = backend.read(request["id"])
    assert (read["status"], read["expires_at"], read["finalized"]) == ("expired", request["expires_at"], False)
    [*_, last] = backend.journal(request["id"])
    assert (last["metadata"]["ended_early"], last["metadata"]["reason"]) == (True, "Wrong contract")
    url = request["signers"][0]["signing_url"]
    assert httpx.get(url).status_code == 410
    assert httpx.post(f"{url}/otp", json={"channel": "email"}).status_code != 200


def test_of_a_deleted_organization_nothing_is_found(target: Target, bystander: Backend) -> None:
    made = target.new_application()
    backend = target.backend(made["api_key"])
    pending, signed = new_request(backend), _signed(backend)
    target.command("organization", "delete", str(made["organization_id"]))
    assert _health(target, made["api_key"]) == 401
    for request in (pending, signed):
        url = request["signers"][0]["signing_url"]
        assert httpx.get(url).status_code == 404
        assert httpx.post(f"{url}/otp", json={"channel": "email"}).status_code == 404
    _ended(target, signed["id"], 91 * DAY)
    shown, applied = target.commands([["request", "show", str(pending["id"])], ["retention", "apply"]])
    assert (shown["status"], applied["requests"]) == ("expired", 1)


def test_files_are_gone_from_the_store_when_their_time_is_over(target: Target, bystander: Backend) -> None:
    made = target.new_application()
    backend = target.backend(made["api_key"])
    old, young = _signed(backend), _signed(backend)
    rule = ["--organization", str(made["organization_id"]), "--environment", "sandbox", "--days", "30"]
    urls = [url for request in (old, young) for url in _urls(backend, request["id"])]
    digests = {hashlib.sha256(httpx.get(url).content).hexdigest() for url in _urls(backend, old["id"])}
    _ended(target, old["id"], 31 * DAY)
    state = ["request", "show", str(old["id"])]
    _, applied, shown = target.commands([["retention", "set", *rule], ["retention", "apply"], state])
    assert (applied["requests"], shown["journal_broken_at"]) == (1, None)
    assert [httpx.get(url).status_code for url in urls] == [404, 404, 200, 200]
    read = backend.read(old["id"])
    assert (read["status"], read["finalized"], read["download_urls"]) == ("completed", True, [])
    assert backend.call("GET", f"documents/{read['document_ids'][0]}").json()["download_url"] is None
    payload = {"signature_request": wanted(backend, document=read["document_ids"][0])}
    reused = backend.call("POST", "signature_requests", json=payload)
    assert (reused.status_code, reused.json()["error"]["code"]) == (422, "validation_error")
    objects = (target.data_dir / "objects").rglob("*.pdf")
    assert digests.isdisjoint(hashlib.sha256(path.read_bytes()).hexdigest() for path in objects)


def test_an_erased_signer_is_nowhere_but_in_the_evidence(target: Target, bystander: Backend, tmp_path: Path) -> None:
    backend, uploaded = target.backend(), pdf()
    fields = wanted(backend, content=uploaded)
    fields["signers"][0] |= {"last_name": "Vanishing", "email": "vanishing@example.com"}
    request = backend.create(**fields)
    [person] = request["signers"]
    assert sign(person["signing_url"]).status_code == 200
    backend.finalized(request["id"])
    files = [httpx.get(url).content for url in _urls(backend, request["id"])]
    assert "vanishing@" in _dumped(target)

    erase = ["erase", "signer", str(person["id"])]
    _, shown = target.commands([erase, ["request", "show", str(request["id"])]])
    assert shown["journal_broken_at"] is None
    read, journal = backend.read(request["id"]), backend.journal(request["id"])
    assert "anishing" not in json.dumps([read, journal, shown]) + _dumped(target)
    assert httpx.get(person["signing_url"]).status_code == 404
    assert [httpx.get(url).content for url in _urls(backend, request["id"])] == files
    told = verified(tmp_path, target, uploaded=uploaded, signed=files[0], proof=files[1])
    assert told.exit_code == 0, told.output


def _signed(backend: Backend) -> dict[str, Any]:
    request = new_request(backend)
    assert sign(request["signers"][0]["signing_url"]).status_code == 200
    backend.finalized(request["id"])
    return request


def _urls(backend: Backend, request_id: int) -> list[str]:
    [urls] = backend.read(request_id)["download_urls"]
    return [urls["signed_url"], urls["certificate_url"]]


def _health(target: Target, key: str) -> int:
    return target.backend(key).call("GET", "health").status_code


def _dumped(target: Target) -> str:
    """All rows of all tables."""
    tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as connection:
        names = [name for (name,) in connection.execute(tables)]
        rows = [connection.execute(SQL("SELECT t::text FROM {} AS t").format(Identifier(name))) for name in names]
        return "\n".join(row for found in rows for (row,) in found)


def _ended(target: Target, request_id: int, ago: timedelta) -> None:
    with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as connection:
        connection.execute(
            "UPDATE signature_requests_signaturerequest SET completed_at = now() - %s WHERE id = %s", [ago, request_id]
        )
