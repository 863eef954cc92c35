"""``delivery`` of a signer tells an invitation that a ceiling of messages puts off."""

from datetime import timedelta
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.messaging.models import PutOffMail
from paraph.signature_requests.models import Signer
from tests.api.v1.api_clients import ApiClient, payload

pytestmark = pytest.mark.django_db


@pytest.fixture
def created(owner: ApiClient) -> dict[str, Any]:
    return dict(owner.create(payload(owner.document())).json())


def put_off(signer_id: int, until: Any) -> None:
    PutOffMail.objects.update_or_create(name=f"invitation-{signer_id}", defaults={"until": until, "reason": "x"})


def told(owner: ApiClient, request_id: int) -> list[Any]:
    """By order, as the request and the list tell it."""
    one = owner.get(f"/signature_requests/{request_id}").json()
    [listed] = [each for each in owner.get("/signature_requests").json()["data"] if each["id"] == request_id]
    deliveries = [signer["delivery"] for signer in one["signers"]]
    assert deliveries == [signer["delivery"] for signer in listed["signers"]]
    return deliveries


def test_until_when_an_invitation_is_put_off(owner: ApiClient, created: dict[str, Any]) -> None:
    [first, *others] = [signer["id"] for signer in created["signers"]]
    nothing = [None] * len(others)
    assert [signer["delivery"] for signer in created["signers"]] == told(owner, created["id"]) == [None, *nothing]
    until = clock.now() + timedelta(minutes=40)
    put_off(first, until)
    assert told(owner, created["id"]) == [{"put_off_until": clock.iso(until)}, *nothing]
    put_off(first, clock.now() - timedelta(seconds=1))  # its turn has come
    assert told(owner, created["id"]) == [None, *nothing]


@pytest.mark.parametrize("status", ["notified", "signed"])
def test_what_is_out_is_not_put_off(owner: ApiClient, created: dict[str, Any], status: str) -> None:
    """The note stays for a day when the mail is out."""
    ada = created["signers"][0]["id"]
    put_off(ada, clock.now() + timedelta(minutes=40))
    Signer.objects.filter(pk=ada).update(status=status, notified_at=clock.now())
    assert told(owner, created["id"])[0] is None
