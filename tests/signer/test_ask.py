"""``/sign/{token}/ask``: writing to the sender instead of signing."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.signer import language
from paraph.tenants.models import Organization
from tests.factories import Scene, jobs, scene, sign

pytestmark = pytest.mark.django_db


def made_with_contact(**facts: Any) -> Scene:
    made = scene(**facts)
    Organization.objects.update(contact_email="contracts@acme.example")
    return made


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def send(client: Client, made: Scene, rest: str = "/ask", **fields: str) -> Any:
    return client.post(made.url(rest=rest), {"kind": "question", "message": "What is § 4 about?"} | fields)


def test_the_form_has_two_reasons_and_room_for_a_message(client: Client) -> None:
    page = text(client.get(made_with_contact().url(rest="/ask")))
    assert re.search(r'<form[^>]* data-form="ask"', page)
    for label in ("I have a question", "This is not for me"):
        assert re.search(rf'<label><input type="radio" [^>]*> <span>{label}</span></label>', page)
    assert '<label for="message">Your message</label>' in page and '<textarea id="message"' in page
    assert re.search(r"<button type=\"submit\"[^>]*>Send to Acme Ltd</button>", page)


def test_what_is_sent_is_kept_and_changes_nothing_else(client: Client) -> None:
    made = made_with_contact()
    before = made.events()
    answer = send(client, made, kind="not_me")
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="/ask?sent=1"))
    inquiry = Inquiry.objects.get()
    assert (inquiry.signer_id, inquiry.kind, inquiry.text) == (made.signers[0].pk, "not_me", "What is § 4 about?")
    [(task, arguments)] = jobs()
    assert task == "forward_inquiry" and arguments["inquiry_id"] == inquiry.pk
    assert made.events() == before and Signer.objects.get().status == "pending"
    page = text(client.get(answer["Location"]))
    assert re.search(r'role="status">Your message is on its way to Acme Ltd\. The request stays open until', page)
    assert "<textarea" not in page and f'href="{made.url(rest="?lang=en")}"' in page


def test_a_reason_that_the_form_lacks_is_a_question(client: Client) -> None:
    made = made_with_contact()
    assert send(client, made, kind="other").status_code == 303
    assert Inquiry.objects.get().kind == "question"


def test_nothing_was_sent_by_who_only_opens_the_address(client: Client) -> None:
    page = text(client.get(made_with_contact().url(rest="/ask?sent=1")))
    assert "on its way" not in page and "<textarea" in page


@pytest.mark.parametrize(
    ("message", "problem"),
    [(" \r\n ", "Please write a message."), ("é" * 2001, "Please write at most 2000 characters.")],
)
def test_what_cannot_be_sent_is_told_beside_its_field_with_what_was_entered(
    client: Client, message: str, problem: str
) -> None:
    answer = send(client, made_with_contact(), message=message, kind="not_me")
    page = text(answer)
    assert answer.status_code == 422 and not Inquiry.objects.exists()
    assert re.search(rf'role="alert".*<a href="#message">{problem}</a>', page, re.DOTALL)
    assert f'<p class="problem" id="problem-message">{problem}</p>' in page
    assert message.strip() in page and re.search(r'value="not_me" checked', page)


def test_ends_of_lines_count_once(client: Client) -> None:
    assert send(client, made_with_contact(), message="line\r\n" * 399 + "\x00end").status_code == 303
    assert Inquiry.objects.get().text == "line\n" * 399 + "end"


def test_three_a_day_and_the_next_a_day_after_the_first(client: Client) -> None:
    made = made_with_contact(signers=2)
    for _ in range(3):
        assert send(client, made).status_code == 303
    refused = send(client, made)
    assert refused.status_code == 429 and 86_000 < int(refused["Retry-After"]) <= 86_400
    assert "You have sent three messages today." in text(refused) and "What is § 4 about?" in text(refused)
    assert client.post(made.url(1, "/ask"), {"kind": "question", "message": "I?"}).status_code == 303
    first = Inquiry.objects.order_by("id")[0]
    Inquiry.objects.filter(pk=first.pk).update(asked_at=clock.now() - timedelta(days=1))
    assert send(client, made).status_code == 303


@pytest.mark.parametrize("state", ["ready", "not_your_turn", "locked", "expired"])
def test_every_state_leads_there(client: Client, state: str) -> None:
    made = made_with_contact(signers=2, mode="sequential")
    position = 1 if state == "not_your_turn" else 0
    if state == "locked":
        made.code()
        OneTimeCode.objects.update(locked_until=clock.now() + timedelta(hours=3))
    elif state == "expired":
        SignatureRequest.objects.update(expires_at=clock.now(), status="expired")
    page = text(client.get(made.url(position)))
    address = made.url(position, "/ask")
    assert f'data-state="{state}"' in page and f'<a href="{address}?lang=en">Ask Acme Ltd</a>' in page
    answer = client.post(address, {"kind": "question", "message": "Why?"})
    told = text(client.get(answer["Location"]))
    assert ("The request stays open until" in told) == (state != "expired") and "on its way to Acme Ltd." in told


def test_who_has_signed_is_not_told_that_nothing_was_signed(client: Client) -> None:
    made = made_with_contact()
    sign(made)
    assert "nothing was signed" not in text(client.get(send(client, made)["Location"]))


def test_without_an_address_there_is_no_link_and_no_form(client: Client) -> None:
    made = scene()
    assert "/ask" not in text(client.get(made.url()))
    for answer in (client.get(made.url(rest="/ask")), send(client, made)):
        assert answer.status_code == 404
        assert "Acme Ltd has not given an address for questions." in text(answer) and "<form" not in text(answer)
    assert not Inquiry.objects.exists()


def test_a_wrong_link_and_a_form_of_another_site_are_refused(client: Client) -> None:
    made = made_with_contact()
    assert client.get(f"/sign/{'x' * 43}/ask").status_code == 404
    fields = {"kind": "question", "message": "Hi"}
    answer = client.post(made.url(rest="/ask"), fields, HTTP_SEC_FETCH_SITE="cross-site")
    assert answer.status_code == 422 and not Inquiry.objects.exists()
    assert client.put(made.url(rest="/ask")).status_code == 405


def test_a_change_of_language_keeps_what_was_entered_and_lasts(client: Client) -> None:
    made = made_with_contact()
    answer = send(client, made, lang="fr")
    page = text(answer)
    assert answer.status_code == 200 and '<html lang="fr"' in page and "What is § 4 about?" in page
    assert 'action="?lang=fr"' in page
    sent = send(client, made, rest="/ask?lang=fr")
    assert sent["Location"] == made.url(rest="/ask?lang=fr&sent=1")
    assert language.words("fr")["ask_sent"].partition("{")[0] in text(client.get(sent["Location"]))


def test_what_was_entered_is_text_not_markup(client: Client) -> None:
    page = send(client, made_with_contact(), message="</textarea><b>" + "x" * 2000).content.decode()
    assert "</textarea><b>" not in page


def test_the_page_is_as_private_as_the_one_to_sign_on(client: Client) -> None:
    response = client.get(made_with_contact().url(rest="/ask"))
    assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
    assert "form-action 'self'" in response["Content-Security-Policy"] and not response.cookies
    assert not CapturedMessage.objects.exists()
