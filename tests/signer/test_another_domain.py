"""The service moves to another domain: what was sent before leads on, as docs/surroundings.md says."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client

from paraph.signature_requests.links import signing_url
from paraph.storage import store
from tests.factories import scene

pytestmark = pytest.mark.django_db
EARLIER, LATER = "https://sign.example.com", "https://signing.example.net"


def move(settings: Any, base_url: str) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"base_url": base_url})


def test_addresses_of_before_lead_on_at_the_new_domain(settings: Any, client: Client) -> None:
    move(settings, EARLIER)
    signer = scene().signers[0]
    store.put("documents/1/a.pdf", b"%PDF-")
    before = [signing_url(signer), store.presign("documents/1/a.pdf", "Contract.pdf")]
    move(settings, LATER)
    after = [signing_url(signer), store.presign("documents/1/a.pdf", "Contract.pdf")]
    for old, new in zip(before, after, strict=True):
        assert old.startswith(f"{EARLIER}/") and new.startswith(f"{LATER}/")
        assert urlsplit(old).path == urlsplit(new).path, "so a redirect at the earlier domain is enough"
        for host in (EARLIER, LATER):
            path = old.removeprefix(EARLIER)
            answer: Any = client.get(path, headers={"Host": urlsplit(host).netloc}, secure=True)
            if answer.streaming:
                assert b"".join(answer.streaming_content) == b"%PDF-"
            assert answer.status_code == 200, (path, host)
