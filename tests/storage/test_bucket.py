"""A bucket on an S3 server whose internal endpoint is not the one that callers reach, or whose certificate is by a
private authority: ``SSL_CERT_FILE`` is all that the bucket and timestamp authorities then need."""

import ssl
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.pdf.timestamps.authorities import HttpAuthority, _client
from paraph.pdf.timestamps.timestamp import AuthorityFailed
from paraph.storage import store
from paraph.storage.encrypted import CHUNK, is_encrypted
from paraph.storage.remote import RemoteStore, internal_endpoint
from tests.receiver import own_authority
from tests.storage.s3_server import s3_server, use

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


@pytest.mark.usefixtures("data_dir")
def test_encrypted_objects_of_a_bucket(configured: Any, client: Any) -> None:
    configured(storage_url=URL, storage_key="k" * 32)
    with store.stage() as staged:
        staged.file.write(CONTENT)
        staged.keep(KEY)
    assert is_encrypted(RemoteStore(URL).get(KEY)) and store.get(KEY) == CONTENT
    address = urlsplit(store.presign(KEY, "Contract.pdf"))
    answer = client.get(f"{address.path}?{address.query}", headers={"Range": f"bytes={CHUNK - 2}-{CHUNK + 1}"})
    assert answer.status_code == 206
    assert b"".join(answer.streaming_content) == CONTENT[CHUNK - 2 : CHUNK + 2]
    RemoteStore(URL).put(KEY, CONTENT)
    store.encrypting().encrypt_anew(KEY)
    assert is_encrypted(RemoteStore(URL).get(KEY)) and store.get(KEY) == CONTENT


def test_files_are_listed_by_when_they_were_written() -> None:
    bucket = RemoteStore(URL)
    bucket.put(KEY, CONTENT)
    now = clock.now()
    [(key, size, written)] = bucket.listing("documents/", "")
    assert (key, size) == (KEY, len(CONTENT)) and abs(written - now) < timedelta(hours=1)
    bucket.put("documents/zzz.pdf", CONTENT)
    assert [key for key, *_ in bucket.listing("documents/", KEY)] == ["documents/zzz.pdf"]
    bucket.delete(KEY, "documents/none.pdf", "documents/zzz.pdf")
    assert list(bucket.listing("documents/", "")) == []


@pytest.mark.parametrize("size", [0, 1, 6 << 20, 17 << 20])
def test_a_store_that_knows_no_checksums_keeps_returns_and_deletes(size: int, tmp_path: Path) -> None:
    bucket, content = RemoteStore(URL), bytes(size)
    (tmp_path / "file").write_bytes(content)
    with (tmp_path / "file").open("rb") as file:
        bucket.put(KEY, file)
    assert bucket.get(KEY) == content
    bucket.delete(KEY)
    bucket.delete(KEY)
    with pytest.raises(FileNotFoundError):
        bucket.get(KEY)


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
