"""``/sign/{token}/decline``: the page, without scripts too, and the endpoint for pages of others."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client

from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def call(made: Scene, body: Any, position: int = 0, headers: dict[str, str] | None = None) -> Any:
    return Client().post(made.url(position, "/decline"), json.dumps(body), "application/json", headers=headers or {})


def test_the_link_stands_beside_ask_where_the_request_allows_it(client: Client) -> None:
    made = scene(decline_allowed=True)
    Organization.objects.update(contact_email="contracts@acme.example")
    links = re.search(r'<ul class="links">.*?</ul>', text(client.get(made.url())))
    assert links and "Ask Acme Ltd" in links.group() and f'href="{made.url(rest="/decline")}">Decline<' in links.group()
    assert re.search(r'href="[^"]*/decline\?lang=fr#/decline">Refuser<', text(client.get(made.url(rest="?lang=fr"))))
    Organization.objects.update(contact_email="")
    assert f'href="{made.url(rest="/decline")}"' in text(client.get(made.url()))
    SignatureRequest.objects.update(decline_allowed=False)
    assert "/decline" not in text(client.get(made.url()))


def test_who_must_wait_has_no_link(client: Client) -> None:
    made = scene(signers=2, mode="sequential", decline_allowed=True)
    assert "/decline" not in text(client.get(made.url(1)))
    assert client.get(made.url(1, "/decline"))["Location"] == made.url(1)


def test_the_form_declines_without_scripts(client: Client) -> None:
    made = scene(decline_allowed=True)
    page = text(client.get(made.url(rest="/decline")))
    assert '<textarea id="reason" name="reason"' in page and "This ends the request for everybody" in page
    assert "<script" not in page.split("<main")[1]
    answer = client.post(made.url(rest="/decline?lang=en"), {"reason": "Too\r\nexpensive"})
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="?lang=en"))
    assert SignatureRequest.objects.get().ended_reason == "Too\nexpensive"
    after = client.get(answer["Location"])
    assert after.status_code == 410 and "You have declined" in text(after)
    assert client.get(made.url(rest="/decline")).status_code == 303


@pytest.mark.parametrize(
    ("reason", "problem"),
    [(" \r\n ", "Please write a reason."), ("é" * 501, "Please write at most 500 characters.")],
)
def test_what_cannot_be_taken_is_told_beside_its_field(client: Client, reason: str, problem: str) -> None:
    made = scene(decline_allowed=True)
    answer = client.post(made.url(rest="/decline"), {"reason": reason})
    assert answer.status_code == 422 and f'<a href="#reason">{problem}</a>' in text(answer)
    assert reason.strip() in text(answer) and SignatureRequest.objects.get().status == "pending"


def test_a_change_of_language_keeps_the_reason(client: Client) -> None:
    made = scene(decline_allowed=True)
    page = text(client.post(made.url(rest="/decline"), {"reason": "Zu teuer", "lang": "de"}))
    assert ">Zu teuer</textarea>" in page and "Möchten Sie ablehnen?" in page
    assert SignatureRequest.objects.get().status == "pending"


def test_every_language_has_the_page(client: Client) -> None:
    made = scene(decline_allowed=True)
    for locale in LOCALES:
        assert client.get(made.url(rest=f"/decline?lang={locale}")).status_code == 200, locale


def test_a_form_of_another_site_declines_nothing(client: Client) -> None:
    made = scene(decline_allowed=True)
    answer = client.post(made.url(rest="/decline"), {"reason": "No"}, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 422 and SignatureRequest.objects.get().status == "pending"


def test_pages_of_others_decline_by_json() -> None:
    made = scene(signers=2, decline_allowed=True)
    answer = call(made, {"reason": "The rent is wrong."})
    assert (answer.status_code, answer.json()) == (200, {"state": "declined"})
    assert SignatureRequest.objects.get().declined_by_id == made.signers[0].pk
    again = call(made, {"reason": "The rent is wrong."})
    assert (again.status_code, again.json()["error"]["code"]) == (410, "expired")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": 5}, {"reason": "x" * 501}, {"reason": "x", "why": 1}])
def test_a_body_that_is_wrong_is_named(body: Any) -> None:
    made = scene(decline_allowed=True)
    answer = call(made, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_error")
    assert ("why" if "why" in body else "reason") in answer.json()["error"]["message"]
    assert SignatureRequest.objects.get().status == "pending"


def test_it_is_refused_as_a_signature_is_and_where_it_is_not_allowed() -> None:
    made = scene(signers=2, mode="sequential")
    told = call(made, {}, headers={"Accept-Language": "de"})
    assert (told.status_code, told.json()["error"]["code"]) == (403, "decline_not_allowed")
    assert told.json()["error"]["message"] == "Dieser Vorgang lässt nicht zu, dass jemand ablehnt."
    SignatureRequest.objects.update(decline_allowed=True)
    assert call(made, {}, 1).json()["error"]["code"] == "not_your_turn"
    sign(made)
    assert (call(made, {}).status_code, call(made, {}).json()["error"]["code"]) == (409, "already_signed")
    wrong = Client().post(made.url(1, "/decline"), "reason", "text/plain")
    assert wrong.status_code == 415


def test_others_read_that_somebody_declined_and_not_who(client: Client) -> None:
    made = scene(signers=3, decline_allowed=True)
    sign(made, 1)
    call(made, {"reason": "The rent is wrong."})
    signed, unsigned = text(client.get(made.url(1))), text(client.get(made.url(2)))
    assert "You have signed" in signed and "Somebody has declined" in signed
    assert "The request has ended" in unsigned and "Somebody has declined" in unsigned
    assert not any("Lovelace" in page or "is wrong" in page for page in (signed, unsigned))
    progress = client.get(made.url(1, "/progress")).json()
    assert progress == {"progress": "expired", "others": 2, "declined": True}
