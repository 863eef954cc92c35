"""GET /signature_requests/{id}/evidence (rule 4.7-7), and the download that it leads to."""

import io
import zipfile
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.sealing.finalize import finalize
from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument
from tests.api.v1.api_clients import ApiClient, api_client, error, payload
from tests.production import Client


def address_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def test_the_address_of_all_evidence_once_it_is_finalized(
    owner: ApiClient, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    created: dict[str, Any] = owner.create(payload(owner.document())).json()
    path = f"/signature_requests/{created['id']}/evidence"
    assert error(owner.get(path), 409, "conflict") == "The request is not finalized yet."
    for signer in created["signers"]:
        owner.post(f"/sandbox/signature_requests/{created['id']}/signers/{signer['id']}/sign", {})
    for row in RequestDocument.objects.all():
        finalize(row.pk)
    for stranger in (api_client(), api_client("pro", "production", owner.organization)):
        assert error(stranger.get(path), 404, "not_found")
    found = owner.get(path).json()
    assert found["expires_in"] == 900
    answer = client.get(address_of(found["evidence_url"]))
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/zip")
    bundle = b"".join(answer)
    assert len(bundle) == int(answer["Content-Length"])
    assert f'filename="request-{created["id"]}.zip"' in answer["Content-Disposition"]
    assert zipfile.ZipFile(io.BytesIO(bundle)).testzip() is None
    rest = client.get(address_of(found["evidence_url"]), headers={"Range": "bytes=1000-"})
    assert rest.status_code == 206 and b"".join(rest) == bundle[1000:], "it goes on where it was interrupted"

    assert (
        client.get(address_of(found["evidence_url"]).replace(f"bundles/{created['id']}", "bundles/1")).status_code
        == 403
    )
    delete_files(created["id"])
    assert client.get(address_of(found["evidence_url"])).status_code == 404
    assert error(owner.get(path), 410, "gone") == "The files of the request have been deleted."
    later = clock.now() + timedelta(seconds=901)
    monkeypatch.setattr(clock, "now", lambda: later)
    assert client.get(address_of(found["evidence_url"])).status_code == 403
