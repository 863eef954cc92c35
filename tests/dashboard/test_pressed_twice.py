"""Two presses of a button, with any gap between them: a draft is sent once or discarded once, and both presses lead to
the outcome."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from paraph.drafts.models import Draft
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants import limits
from paraph.tenants.models import Member
from tests.dashboard.conftest import BrowserClient
from tests.drafts.author import Author, author
from tests.tenancy import create_application

OPTIONS = {"title": "Lease", "locale": "en", "validity_days": 7}
SLOW = 0.25
"""Seconds that sending a draft takes here at least, from :data:`BEGUN` until it is committed."""

BEGUN = Event()

Press = Callable[[Client, str], Any]


def review(action: str) -> Press:
    return lambda client, draft: client.post(f"{draft}/review", OPTIONS | {"action": action})


def form(step: str, **entered: Any) -> Press:
    return lambda client, draft: client.post(f"{draft}/{step}", entered)


SEND, DISCARD = review("send"), form("delete")
AFTER: dict[str, Press] = {
    "send": SEND,
    "send and sign": review("sign"),
    "save": review("save"),
    "as template": review("template"),
    "template": form("template", name="Lease", **{"role-0": "Tenant"}),
    "discard": DISCARD,
    "documents": form("documents", action="next"),
    "signers": form("signers", mode="parallel", **{"signer-TOTAL_FORMS": 0, "signer-INITIAL_FORMS": 0}),
    "places": form("places", **{"stamp-TOTAL_FORMS": 0, "stamp-INITIAL_FORMS": 0}),
}


@pytest.fixture(autouse=True)
def _slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = limits.use_web_send

    def use_web_send(*arguments: Any) -> None:
        BEGUN.set()
        time.sleep(SLOW)
        counted(*arguments)

    monkeypatch.setattr("paraph.flow.sending.drafts.use_web_send", use_web_send)


def browser(member: Member) -> Client:
    client = BrowserClient()
    client.force_login(member.user)
    return client


def pressed(charles: Author, draft: Draft, gap: float | None, *presses: Press) -> list[Any]:
    """Return the answers to two presses on connections of their own: at once, or the second ``gap`` seconds after the
    first has begun to send."""
    address = f"/app/{charles.scope.organization_id}/drafts/{draft.pk}"
    clients = [browser(charles.member) for _ in presses]
    BEGUN.clear()

    def press(number: int) -> Any:
        try:
            if number and gap is not None:
                assert BEGUN.wait(20)
                time.sleep(gap)
            return presses[number](clients[number], address)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(presses)) as pool:
        return list(pool.map(press, range(len(presses))))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("gap", [0.12, pytest.param(2 * SLOW, marks=pytest.mark.thorough)])
def test_whatever_is_pressed_after_send_leads_to_the_request(gap: float) -> None:
    charles, wrong = author("enterprise"), []
    for name, second in AFTER.items():
        draft = charles.draft()
        answers = pressed(charles, draft, gap, SEND, second)
        draft.refresh_from_db()
        request = f"/app/{charles.scope.organization_id}/requests/{draft.request_id}"
        led = [answer.headers.get("Location", answer.status_code) for answer in answers]
        wrong += [] if led == [request, request] else [(name, led)]
        assert (draft.title, draft.content) == ("", {}), name
    assert not wrong, wrong
    assert SignatureRequest.objects.count() == len(AFTER)


@pytest.mark.django_db(transaction=True)
def test_send_and_discard_at_once_are_one_of_them(charles: Author) -> None:
    for _ in range(4):
        draft = charles.draft()
        sent, discarded = pressed(charles, draft, None, SEND, DISCARD)
        request = SignatureRequest.objects.filter(title="Lease").order_by("-pk").first()
        SignatureRequest.objects.update(title="seen")
        assert Draft.objects.filter(pk=draft.pk).exists() == bool(request)
        if request:
            assert {sent.headers["Location"], discarded.headers["Location"]} == {
                f"/app/{charles.scope.organization_id}/requests/{request.pk}"
            }
        else:
            assert (sent.status_code, discarded.status_code) == (404, 303)


@pytest.mark.django_db(transaction=True)
def test_send_after_discard_sends_nothing(charles: Author) -> None:
    for application, status in ((None, 404), (1, 410)):
        draft = charles.draft()
        if application:
            made = create_application(charles.scope.organization_id, "production", "shop")
            Draft.objects.filter(pk=draft.pk).update(application=made.application)
        client, address = browser(charles.member), f"/app/{charles.scope.organization_id}/drafts/{draft.pk}"
        assert DISCARD(client, address).status_code == 303
        assert SEND(client, address).status_code == status
    assert not SignatureRequest.objects.exists() and not Draft.objects.exclude(content={}).exists()
