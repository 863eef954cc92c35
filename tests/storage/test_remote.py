"""The remote store, on obstore's memory store; addresses are signed without a network."""

import io
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.storage.remote import RemoteStore


def test_the_same_promises_as_a_folder() -> None:
    remote = RemoteStore("memory://")
    remote.put("documents/a.pdf", b"first")
    remote.put("documents/a.pdf", io.BytesIO(b"second"))
    assert remote.get("documents/a.pdf") == b"second"
    with remote.open("documents/a.pdf") as file:
        assert file.read(3) == b"sec"
        assert isinstance(file.read(), bytes)
        assert file.seek(0, 2) == 6
    remote.delete("documents/a.pdf")
    remote.delete("documents/a.pdf")
    with pytest.raises(FileNotFoundError):
        remote.get("documents/a.pdf")
    with pytest.raises(FileNotFoundError):
        remote.open("documents/a.pdf")
    with pytest.raises(ValueError, match="not an object key"):
        remote.put("../a", b"")


def test_a_draft_is_an_object_when_it_is_kept() -> None:
    remote = RemoteStore("memory://")
    with remote.stage() as draft:
        draft.file.write(b"written")
        draft.keep("documents/a.pdf")
    with remote.stage() as draft:
        draft.file.write(b"forgotten")
    assert remote.get("documents/a.pdf") == b"written"
    assert list(remote.keys_written_before("documents/", clock.now() + timedelta(minutes=1))) == ["documents/a.pdf"]


def test_keys_of_a_folder_that_are_old_enough() -> None:
    remote = RemoteStore("memory://")
    remote.put("pages/a/1.webp", b"a")
    remote.put("pages-of-another/1.webp", b"b")
    assert list(remote.keys_written_before("pages/", clock.now() + timedelta(minutes=1))) == ["pages/a/1.webp"]
    assert list(remote.keys_written_before("pages/", clock.now() - timedelta(minutes=1))) == []


def test_an_address_is_signed_for_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ENDPOINT_URL": "https://s3.example.com",
    }.items():
        monkeypatch.setenv(name, value)
    url = urlsplit(RemoteStore("s3://bucket/paraph").presign("documents/a.pdf", "Contract.pdf", 900))
    assert (url.netloc, url.path) == ("s3.example.com", "/bucket/paraph/documents/a.pdf")
    assert parse_qs(url.query)["X-Amz-Expires"] == ["900"]


def test_an_address_that_is_none_gets_a_sentence() -> None:
    with pytest.raises(DomainError, match="PARAPH_STORAGE_URL nowhere://x is not usable"):
        RemoteStore("nowhere://x")
