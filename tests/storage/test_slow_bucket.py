"""A bucket that accepts and does not answer, or answers byte by byte: each call ends in time, with one sentence;
later calls do not wait, and everything goes on once the bucket answers again."""

import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paraph.kernel import places
from paraph.kernel.errors import AwayError
from paraph.operations.check.surroundings import object_store
from paraph.storage import remote, store
from paraph.storage.remote import RemoteStore
from tests.api.v1.api_clients import api_client, error
from tests.factories import scene
from tests.kernel.test_places import in_thread
from tests.pdf.pdf_factory import paper, text
from tests.production import Client
from tests.storage.s3_server import Line, hanging_s3_server, use

KEY, URL = "documents/a.pdf", "s3://bucket/paraph"
CONTENT = bytes(range(256)) * 1024
PDF = paper(text("a", 100, 300))
IN_VAIN = r"the object store fails: s3://bucket/paraph did not answer within \d+ s$"
LEFT_ALONE = r"s3://bucket/paraph did not answer in time, and is asked again in a few seconds$"


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Iterator[Line]:
    """The line to a bucket whose time limits are 1 s for an answer and 2 s in all, instead of 10 s and 60 s."""
    with hanging_s3_server() as line:
        use(monkeypatch, line.address, AWS_READ_TIMEOUT="1s", AWS_TIMEOUT="2s")
        monkeypatch.setattr(remote, "_IN_VAIN", 0.9)
        monkeypatch.setattr(remote, "_RETRIES", {"max_retries": 3, "retry_timeout": timedelta(seconds=1)})
        yield line


@pytest.fixture
def service(line: Line, configured: Any, tmp_path: Path) -> Line:
    """The line to a bucket that this process uses, by another name in each test: it remembers which buckets hang."""
    configured(storage_url=f"s3://bucket/{tmp_path.name}")
    return line


def calls(bucket: RemoteStore) -> Iterator[Callable[[], object]]:
    """Every kind of call to a bucket."""
    opened = bucket.open(KEY)
    yield opened.read
    yield partial(bucket.put, KEY, CONTENT)
    yield partial(bucket.put, KEY, bytes(6 << 20))
    yield partial(bucket.get, KEY)
    yield partial(bucket.open, KEY)
    yield partial(bucket.delete, KEY)
    yield lambda: list(bucket.listing("documents/", ""))


@pytest.mark.thorough
def test_each_call_ends_in_time_and_says_which_store_it_was(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSE", 0.0)
    bucket = RemoteStore(URL)
    untouched = f"{KEY}.untouched"  # a deletion may still arrive after we gave up waiting for it
    bucket.put(KEY, CONTENT)
    bucket.put(untouched, CONTENT)
    asking = list(calls(bucket))
    line.goes = "silent"
    for ask in asking:
        with pytest.raises(AwayError, match=IN_VAIN) as away:
            ask()
        assert away.value.__suppress_context__ and away.value.__cause__ is None  # no dump by obstore in a log
    line.goes = "on"
    assert bucket.get(untouched) == CONTENT


def test_an_answer_that_comes_byte_by_byte_ends_in_time(line: Line) -> None:
    bucket = RemoteStore(URL)
    bucket.put(KEY, CONTENT)
    line.goes = "slowly"
    with pytest.raises(AwayError, match=IN_VAIN):
        bucket.get(KEY)
    line.goes = "on"


def test_one_call_finds_out_for_all_whether_it_answers_again(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = RemoteStore(URL)
    bucket.put(KEY, CONTENT)
    line.goes = "silent"
    with pytest.raises(AwayError, match=IN_VAIN):
        bucket.get(KEY)
    asked = line.asked
    for ask in (partial(bucket.get, KEY), partial(bucket.put, KEY, CONTENT), partial(bucket.delete, KEY)):
        with pytest.raises(AwayError, match=LEFT_ALONE):
            ask()
    assert line.asked == asked
    line.goes = "on"
    bucket._again_at -= remote._PAUSE  # as if the pause were over
    with bucket._asking(), pytest.raises(AwayError, match=LEFT_ALONE):
        in_thread(partial(bucket.get, KEY))
    assert bucket.get(KEY) == CONTENT


def test_a_store_that_refuses_at_once_is_asked_each_time(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    bucket = RemoteStore(URL)
    told = r"s3://bucket/paraph answers: Generic S3 error: Error performing GET"
    for _ in range(2):
        with pytest.raises(AwayError, match=told) as away:
            bucket.get(KEY)
        assert "\n" not in str(away.value) and "source" not in str(away.value)


@pytest.mark.parametrize("own", ["", "3s"])
def test_how_long_it_is_waited_for_unless_an_operator_says_otherwise(own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_CONNECT_TIMEOUT", "AWS_READ_TIMEOUT", "AWS_TIMEOUT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    if own:
        monkeypatch.setenv("AWS_READ_TIMEOUT", own)
    RemoteStore("memory://")
    told = [os.environ[f"AWS_{name}"] for name in ("CONNECT_TIMEOUT", "READ_TIMEOUT", "TIMEOUT")]
    assert told == ["5s", own or "10s", "60s"]


def test_waiting_for_it_takes_no_thread_that_others_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight threads, six wait for the store and one for a place."""
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.05)
    bucket = RemoteStore("memory://")
    places.configure(8)
    held = []

    def ask(tenant: str) -> None:
        places.name_tenant(tenant)
        held.append(bucket._asking())
        held[-1].__enter__()

    try:
        for number in range(6):
            in_thread(partial(ask, f"tenant {number % 2}"))
        with pytest.raises(places.NoPlaceError):
            in_thread(partial(bucket.get, KEY))
        with places.expensive_work("somebody"), places.machine_of_others("somebody"), places.sending_file("network"):
            pass
    finally:
        places.configure(None)


@pytest.mark.django_db
def test_the_api_and_pages_say_so_and_the_log_names_the_store(
    service: Line, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, made = api_client(), scene()
    page = made.url(rest=f"/documents/{made.request_documents[0].document_id}/pages/1.webp")
    service.goes = "silent"
    refused = owner.upload(PDF)
    assert error(refused, 503, "unavailable").startswith("The service is not available at the moment")
    assert refused["Retry-After"] == "5"
    [told] = [record for record in caplog.records if "the object store fails" in record.getMessage()]
    assert "did not answer within" in told.getMessage() and not told.exc_info
    picture = Client().get(page)
    assert (picture.status_code, picture.json()["error"]["code"]) == (503, "unavailable")
    assert Client().get(made.url()).status_code == 200
    assert owner.get("/documents").status_code == 200


@pytest.mark.django_db
def test_a_download_through_us_is_refused_before_it_begins(service: Line, client: Client) -> None:
    store.put(KEY, CONTENT)
    address = store.presign(KEY, "Contract.pdf")
    service.goes = "slowly"
    refused = client.get(address)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    service.goes = "on"


@pytest.mark.django_db
def test_the_check_says_so_in_a_sentence(service: Line) -> None:
    service.goes = "silent"
    found = object_store()
    assert found.status == "failed"
    assert found.sentence.endswith("s.") and "did not answer within" in found.sentence and "Errno" not in found.sentence
