"""The header Idempotency-Key: what is sent again is created once."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.idempotency import held_key
from paraph.idempotency.held_key import hold, prune
from paraph.idempotency.models import KEPT, IdempotencyKey
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import (
    CONTRACT,
    REPLAYED,
    ApiClient,
    api_client,
    error,
    invalid,
    keyed,
    other_clients,
    payload,
)
from tests.api.v1.contract import said
from tests.pdf.pdf_factory import paper, text
from tests.production import Client
from tests.threads import beside_each_other


def test_a_repeated_creation_finds_what_the_first_made(owner: ApiClient) -> None:
    wanted, calls = payload(owner.document(), send_email=True, identity_declaration_accepted=True), keyed(owner, "one")
    first, entries = calls.create(wanted), Entry.objects.count()
    assert first.status_code == 201 and REPLAYED not in first
    for again in (wanted, dict(reversed(wanted.items()))):  # the order of keys does not count
        response = calls.create(again)
        assert response.status_code == 201 and response[REPLAYED] == "true"
        assert response.json() == first.json()
    assert SignatureRequest.objects.count() == 1 and Entry.objects.count() == entries
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM procrastinate_jobs WHERE task_name LIKE '%invite%'")
        assert cursor.fetchone() == (1,)


def test_the_answer_is_the_resource_as_it_is_now(owner: ApiClient) -> None:
    wanted, calls = payload(owner.document()), keyed(owner, "one")
    first = calls.create(wanted).json()
    SignatureRequest.objects.update(status="expired")
    assert calls.create(wanted).json() == first | {"status": "expired"}


def test_other_content_is_refused(owner: ApiClient) -> None:
    calls, document = keyed(owner, "one"), owner.document()
    calls.create(payload(document))
    changed = calls.create(payload(document, validity_days=8))
    assert error(changed, 422, "idempotency_key_reused") == said("createSignatureRequest", "idempotency_key_reused")
    calls.upload(name="a.pdf")
    error(calls.upload(name="b.pdf"), 422, "idempotency_key_reused")
    error(calls.upload(paper(text("Another", 72, 700)), name="a.pdf"), 422, "idempotency_key_reused")
    assert (SignatureRequest.objects.count(), Document.objects.count()) == (1, 2)


def test_a_refused_call_leaves_its_key_free(owner: ApiClient) -> None:
    calls, document = keyed(owner, "one"), owner.document()
    assert calls.create(payload(document, mode="nothing")).status_code == 422
    assert calls.upload(b"no PDF").status_code == 422
    created, uploaded = calls.create(payload(document)), calls.upload()
    assert created.status_code == uploaded.status_code == 201 and REPLAYED not in created and REPLAYED not in uploaded
    ended = f"/signature_requests/{created.json()['id']}/end", {"reason": "Over"}
    assert [keyed(owner, "two").post(*ended).status_code for _ in range(2)] == [200, 200]
    assert keyed(owner, "three").post(*ended).status_code == 409 and IdempotencyKey.objects.count() == 3


def test_a_key_is_of_one_organization_environment_and_path(owner: ApiClient) -> None:
    calls = {"owner": owner, **other_clients(owner)}
    answers = [keyed(client, "one").upload() for client in calls.values()]
    made = [keyed(client, "one").create(payload(client.document())) for client in calls.values()]
    assert not any(REPLAYED in answer for answer in [*answers, *made])
    assert {answer.status_code for answer in [*answers, *made]} == {201}
    assert IdempotencyKey.objects.count() == 2 * len(calls)


def test_a_malformed_key_is_refused(owner: ApiClient) -> None:
    for key in ("", " ", "a b", "x" * 256, "schlüssel", "a\x7f"):
        for answer in (keyed(owner, key).upload(), keyed(owner, key).create({})):
            assert invalid(answer) == said("createSignatureRequest", "validation_idempotency_key")
        assert not Document.objects.exists()


def test_any_printable_key_of_255_characters_is_taken(owner: ApiClient) -> None:
    key = "".join(map(chr, range(ord("!"), ord("~") + 1))) * 3
    first, again = (keyed(owner, key[:255]).upload() for _ in range(2))
    assert first.status_code == again.status_code == 201 and first.json() == again.json()
    assert REPLAYED not in first and again[REPLAYED] == "true"


def test_after_a_day_a_key_is_forgotten(owner: ApiClient) -> None:
    calls = keyed(owner, "one")
    calls.upload()
    IdempotencyKey.objects.update(created_at=clock.now() - KEPT + timedelta(minutes=1))
    assert calls.upload()[REPLAYED] == "true" and prune() == 0
    IdempotencyKey.objects.update(created_at=clock.now() - KEPT - timedelta(seconds=1))
    assert REPLAYED not in calls.upload()
    assert Document.objects.count() == 2 and IdempotencyKey.objects.count() == 1
    IdempotencyKey.objects.update(created_at=clock.now() - KEPT - timedelta(seconds=1))
    assert prune() == 1 and not IdempotencyKey.objects.exists()


def test_what_was_deleted_since_is_gone(owner: ApiClient) -> None:
    calls, wanted = keyed(owner, "one"), payload(owner.document())
    calls.create(wanted)
    IdempotencyKey.objects.update(resource_id=999_999_999)  # as if deleted: a request goes only with its organization
    answer = calls.create(wanted)
    assert error(answer, 410, "gone") == said("createSignatureRequest", "gone")
    uploaded = calls.upload().json()["id"]
    Document.objects.filter(pk=uploaded).delete()
    error(calls.upload(), 410, "gone")


@contextmanager
def _elsewhere(owner: ApiClient, key: str) -> Iterator[None]:
    """Hold the key by an upload that another connection answers, and that is refused in the end."""
    assert owner.organization
    scope = TenantScope(owner.organization.pk, "sandbox", "pro", suspended=False, application_id=None)
    held = hold(scope, "documents", key)
    with ThreadPoolExecutor(1) as other:
        other.submit(held.__enter__).result()
        try:
            yield
        finally:
            refusal = DomainError("forbidden", "")
            other.submit(held.__exit__, DomainError, refusal, None).result()
            other.submit(_leave).result()


def _leave() -> None:
    """Close the connection of the thread."""
    connection.close()


def test_while_the_first_is_at_work_the_second_is_told_so(owner: ApiClient) -> None:
    calls = keyed(owner, "one")
    with _elsewhere(owner, "one"):
        answer = calls.upload()
        message = error(answer, 409, "idempotency_key_in_use")
        assert message == said("createSignatureRequest", "idempotency_key_in_use") and answer["Retry-After"] == "1"
        assert keyed(owner, "two").upload().status_code == calls.create(payload(owner.document())).status_code == 201
    assert calls.upload().status_code == 201


def test_a_lock_that_outlives_its_row_holds_up_nobody(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that never rests keeps the lock of its last creation."""
    with _elsewhere(owner, "one"):
        monkeypatch.setattr(clock, "now", lambda now=clock.now: now() + KEPT)
        assert keyed(owner, "one").upload().status_code == 201


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_creates() -> None:
    owner = api_client()
    wanted, headers = payload(owner.document()), {"X-Api-Key": str(owner.api_key), "Idempotency-Key": "one"}

    def create() -> Any:
        body = {"signature_request": wanted}
        return Client().post("/api/v1/signature_requests", body, "application/json", headers=headers)

    answers = beside_each_other(*[create] * 24, threads=8)
    created = [answer for answer in answers if answer.status_code == 201]
    assert SignatureRequest.objects.count() == IdempotencyKey.objects.count() == 1
    assert len({answer.json()["id"] for answer in created}) == 1
    assert sum(REPLAYED not in answer for answer in created) == 1
    for answer in answers:
        if answer not in created:
            error(answer, 409, "idempotency_key_in_use")


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_was_lost_after_the_commit_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    owner = api_client()
    calls, wanted = keyed(owner, "one"), payload(owner.document())
    ways: list[Callable[[], Any]] = [partial(calls.create, wanted), calls.upload]
    for send in ways:
        with monkeypatch.context() as broken:
            broken.setattr("paraph.api.v1.call.json_response", lambda *_: 1 / 0)
            assert send().status_code == 500
        again = send()
        assert again.status_code == 201 and again[REPLAYED] == "true"
    assert (SignatureRequest.objects.count(), Document.objects.count()) == (1, 2)


def test_a_lost_lock_makes_nothing_twice(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection is lost, and the lock with it, while another call with the key has created the request."""
    calls, wanted = keyed(owner, "one"), payload(owner.document())
    first = calls.create(wanted)
    with monkeypatch.context() as late:
        late.setattr(held_key, "_locked", lambda *_: (True, None))
        error(calls.create(wanted), 409, "idempotency_key_in_use")
        error(calls.create({}), 409, "idempotency_key_in_use")  # not refused for another body than that call's
    assert calls.create(wanted).json() == first.json()
    assert SignatureRequest.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_call_that_is_over_holds_up_no_other_connection() -> None:
    owner = api_client()
    calls, document = keyed(owner, "one"), owner.document()

    def elsewhere(payload: Any) -> Any:
        try:
            return calls.create(payload)
        finally:
            _leave()

    with ThreadPoolExecutor(1) as other:
        refusal, wanted = calls.create({}), payload(document)
        first = other.submit(elsewhere, wanted).result()
        again, kept = calls.create(wanted), other.submit(elsewhere, wanted).result()
    assert (refusal.status_code, first.status_code) == (422, 201) and REPLAYED not in first
    assert first.json() == again.json() == kept.json() and again[REPLAYED] == kept[REPLAYED] == "true"


def test_a_connection_keeps_at_most_one_lock(owner: ApiClient) -> None:
    for key in ("one", "two", "three", "one"):
        assert keyed(owner, key).upload().status_code == 201
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
        assert cursor.fetchone() == (1,)


def test_a_key_costs_one_statement(owner: ApiClient) -> None:
    wanted = payload(owner.document())
    for send in (ApiClient.upload, partial(ApiClient.create, payload=wanted)):
        counts = []
        for caller in (owner, keyed(owner, "one")):
            with CaptureQueriesContext(connection) as asked:
                assert send(caller).status_code == 201
            counts.append(sum("SAVEPOINT" not in each["sql"] for each in asked.captured_queries))
        assert counts[1] - counts[0] <= 1 + (send is ApiClient.upload)  # an upload also needs its id beforehand


def test_the_key_itself_is_not_stored(owner: ApiClient) -> None:
    keyed(owner, "order-4711").upload()
    [row] = IdempotencyKey.objects.values()
    assert "4711" not in repr(
        {name: bytes(value) if isinstance(value, memoryview) else value for name, value in row.items()}
    )


def test_lists_and_reading_know_no_key(owner: ApiClient) -> None:
    assert keyed(owner, "not valid").get("/documents").status_code == 200


def test_a_file_that_comes_in_pieces_is_held_against_its_key(owner: ApiClient) -> None:
    file = SimpleUploadedFile("contract.pdf", CONTRACT, "application/pdf")
    headers = {"X-Api-Key": str(owner.api_key), "Idempotency-Key": "one"}
    first = Client().post("/api/v1/documents", {"note": "first", "file": file}, headers=headers)
    again = keyed(owner, "one").upload()
    assert first.status_code == 201 and again[REPLAYED] == "true" and first.json()["id"] == again.json()["id"]
