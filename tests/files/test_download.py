"""Presigned downloads."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode, urlsplit

import pytest

from paraph.kernel import clock
from paraph.storage import objects, store
from tests.production import Client

pytestmark = pytest.mark.django_db  # the end of a response looks after the connection

CONTENT = bytes(range(256)) * 3000


@pytest.fixture
def address() -> str:
    store.put("documents/contract.pdf", CONTENT)
    return relative(store.presign("documents/contract.pdf", 'Vertrag "Süd" 1.pdf'))


def relative(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_whole_file(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 200
    assert b"".join(response) == CONTENT
    assert response["Content-Length"] == str(len(CONTENT))
    assert response["Content-Type"] == "application/pdf"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response["Cache-Control"]
    assert response["Content-Disposition"] == "attachment; filename*=utf-8''Vertrag%20%22S%C3%BCd%22%201.pdf"


def test_ranges(client: Client, address: str) -> None:
    """One that is not served gets the whole."""
    for header, start, end in (
        ("bytes=0-9", 0, 10),
        ("bytes=767990-", 767990, 768000),
        ("bytes=-5", 767995, 768000),
        ("bytes=5-9999999", 5, 768000),
    ):
        response = client.get(address, headers={"Range": header})
        assert (response.status_code, b"".join(response)) == (206, CONTENT[start:end]), header
        assert response["Content-Range"] == f"bytes {start}-{end - 1}/{len(CONTENT)}"
    beyond = client.get(address, headers={"Range": "bytes=768000-"})
    assert (beyond.status_code, beyond["Content-Range"]) == (416, "bytes */768000")
    for header in ("bytes=9-5", "bytes=0-1,3-4", "lines=1-2", "bytes=-", "nonsense"):
        whole = client.get(address, headers={"Range": header})
        assert (whole.status_code, b"".join(whole)) == (200, CONTENT), header


def test_a_changed_link_is_refused(client: Client, address: str) -> None:
    replaced = [("contract", "contracts"), ("expires=1", "expires=2"), ("Vertrag", "Betrag")]
    path = address.partition("?")[0]
    odd = [address[:-1], path, f"{path}?expires=x&filename=&signature=%F0%9F%98%80"]
    for changed in (*odd, *(address.replace(*each) for each in replaced)):
        response = client.get(changed)
        assert response.status_code == 403, changed
        assert response.json()["error"]["code"] == "forbidden"


def test_an_old_link_is_refused(client: Client, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    later = datetime.now(UTC) + timedelta(seconds=901)
    monkeypatch.setattr(clock, "now", lambda: later)
    response = client.get(address)
    assert response.status_code == 403
    assert "expired" in response.json()["error"]["message"]


def test_a_link_to_nothing(client: Client) -> None:
    assert client.get(relative(store.presign("documents/none.pdf", "a.pdf"))).status_code == 404
    query = {"expires": "9999999999", "filename": "a"}
    signature = objects._signatures("../secret.key", *query.values())[0]
    assert client.get(f"/files/../secret.key?{urlencode({**query, 'signature': signature})}").status_code == 404


def test_only_reading(client: Client, address: str) -> None:
    assert client.post(address).status_code == 405
    head = client.head(address)
    assert (head.status_code, head["Content-Length"]) == (200, str(len(CONTENT)))
    head.close()
