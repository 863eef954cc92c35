"""Certificates of an authority of one's own: ``SSL_CERT_FILE`` is all that buckets and timestamp authorities need."""

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraph.pdf.timestamps.authorities import HttpAuthority, _client
from paraph.pdf.timestamps.timestamp import AuthorityFailed
from paraph.storage.remote import RemoteStore
from tests.receiver import own_authority
from tests.storage.s3_server import s3_server, use


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Of a server with a certificate by an authority that nobody knows."""
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
