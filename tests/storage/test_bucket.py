"""A bucket on an S3 server whose internal endpoint is not the one that callers reach, or whose certificate is by a
private authority: ``SSL_CERT_FILE`` is all that the bucket and timestamp authorities then need. Each call to a bucket
that accepts and does not answer, or answers byte by byte, ends in time, with one sentence; later calls do not wait, and
everything goes on once the bucket answers again."""

import os
import ssl
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from paraph.kernel import places
from paraph.kernel.errors import AwayError, DomainError
from paraph.operations.check.surroundings import object_store
from paraph.pdf.timestamps.authorities import HttpAuthority, _client
from paraph.pdf.timestamps.timestamp import AuthorityFailed
from paraph.storage import remote, store
from paraph.storage.remote import RemoteStore, internal_endpoint
from tests.api.v1.api_clients import api_client, error
from tests.factories import scene
from tests.kernel.test_places import in_thread
from tests.pdf.pdf_factory import paper, text
from tests.production import Client
from tests.receiver import own_authority
from tests.storage.s3_server import Line, hanging_s3_server, s3_server, use

KEY, URL = "documents/a.pdf", "s3://bucket/paraph"
CONTENT = b"%PDF-" + bytes(range(256)) * 1024


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(autouse=True)
def endpoint(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, server)


def test_downloads_are_signed_for_the_public_endpoint(server: str) -> None:
    public = server.replace("127.0.0.1", "localhost")
    bucket = RemoteStore(URL, public)
    bucket.put(KEY, CONTENT)
    address = bucket.presign(KEY, "Contract.pdf", 900)
    assert address.startswith(f"{public}/bucket/paraph/documents/a.pdf?")
    signed = parse_qs(urlsplit(address).query)
    assert (signed["X-Amz-SignedHeaders"], signed["X-Amz-Expires"]) == (["host"], ["900"])
    answer = httpx.get(address)
    assert (answer.status_code, answer.content) == (200, CONTENT)
    assert answer.headers["content-disposition"] == 'attachment; filename="a.pdf"'
    assert httpx.get(address.replace("localhost", "127.0.0.1")).status_code == 403


def test_without_one_an_internal_endpoint_is_named_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "/files/documents/a.pdf?expires=" in RemoteStore(URL).presign(KEY, "Contract.pdf", 900)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://s3.example.com")
    assert RemoteStore(URL).presign(KEY, "x.pdf", 900).startswith("https://s3.example.com/bucket/paraph/documents/")
    assert "/files/documents/" in RemoteStore(URL, "none").presign(KEY, "x.pdf", 900)


@pytest.mark.parametrize(
    ("addresses", "internal"),
    [
        ("http://minio:9000 http://10.0.0.5:9000 http://[fd00::1]:9000 https://minio.storage.svc", True),
        ("https://s3.eu-central-1.amazonaws.com https://s3.example.com", False),
    ],
)
def test_which_endpoints_are_internal(addresses: str, internal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for address in addresses.split():
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert internal_endpoint(URL) is internal, address
        assert internal_endpoint("gs://bucket") is False
    monkeypatch.setenv("AWS_ENDPOINT_URL", "")
    assert internal_endpoint(URL) is False


def test_an_endpoint_that_cannot_be_used_gets_a_sentence() -> None:
    with pytest.raises(DomainError, match=r"PARAPH_STORAGE_PUBLIC_URL https://x.example is not usable"):
        RemoteStore("memory://", "https://x.example")


@pytest.mark.parametrize("size", [0, 6 << 20, 17 << 20])
def test_a_large_file_is_sent_in_parts(size: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(size))
    with (tmp_path / "file").open("rb") as file:
        RemoteStore(URL).put(KEY, file)
    assert RemoteStore(URL).get(KEY) == bytes(size)


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a server with a certificate by a private authority."""
    authority = own_authority(tmp_path, "localhost")
    with s3_server(tls=authority.server) as plain:
        secure = plain.replace("http://127.0.0.1", "https://localhost")
        use(monkeypatch, secure, AWS_ALLOW_HTTP="false")
        yield secure
    _client.cache_clear()


def test_a_bucket_and_an_authority_are_trusted_by_one_variable(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def authority() -> str:
        _client.cache_clear()
        with pytest.raises(AuthorityFailed) as failed:
            HttpAuthority(f"{address}/none").answer(b"query", 20)
        return str(failed.value)

    assert "(ConnectError)" in authority()
    assert ssl.create_default_context().cert_store_stats()["x509_ca"] != 1
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "root.pem"))
    assert "(ConnectError)" not in authority(), "it answers, although not as an authority"
    assert ssl.create_default_context().cert_store_stats()["x509_ca"] == 1, "so do mail servers"
    bucket = RemoteStore("s3://bucket/paraph")
    bucket.put("documents/a.pdf", b"%PDF-")
    assert bucket.get("documents/a.pdf") == b"%PDF-"


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
