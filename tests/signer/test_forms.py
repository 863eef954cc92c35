"""Forms as browsers send them without scripts: the whole journey, writing to the sender instead, and declining, which
pages of others do with JSON."""

import html
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.codes import six_digits
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.marks import signature_of
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.signer import language
from paraph.tenants.models import Organization
from paraph.words import LOCALES
from tests.factories import Scene, jobs, scene, sign

pytestmark = pytest.mark.django_db


def send(client: Client, made: Scene, rest: str = "", **fields: str) -> Any:
    return client.post(made.url(rest=rest), fields)


def sent_code() -> str:
    found = re.search(r"\b\d{6}\b", CapturedMessage.objects.latest("id").text)
    assert found
    return found.group()


def test_a_code_is_sent_and_signs(client: Client, made: Scene) -> None:
    answer = send(client, made, do="code")
    assert (answer.status_code, answer["Location"]) == (303, made.url())
    page = client.get(made.url()).content.decode()
    assert "Send a new code" in page
    assert re.search(r"Sent to a•••@example.com at <time [^>]*>\d\d:\d\d UTC</time>", page)
    answer = send(client, made, do="sign", code=sent_code(), consent="on")
    assert (answer.status_code, answer["Location"]) == (303, made.url())
    assert Signer.objects.get().status == "signed"
    assert 'data-state="already_signed"' in client.get(made.url()).content.decode()
    assert not answer.cookies


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_the_page_shows_the_code_in_the_sandbox_alone(client: Client, environment: str) -> None:
    """Also when it is loaded again, until it is used or replaced: it is stored nowhere."""
    made = scene(environment=environment)
    told = "Test environment: the code is {}."
    for _ in range(2):
        assert send(client, made, do="code").status_code == 303
        for _ in range(2):
            page = client.get(made.url()).content.decode()
            assert (told.format(sent_code()) in page) == (environment == "sandbox")
            assert "the code is" not in page.replace(told.format(sent_code()), "")
    Signer.objects.get().code.delete()
    assert "the code is" not in client.get(made.url()).content.decode()


def test_a_wrong_code_is_told_with_what_was_entered(client: Client, made: Scene) -> None:
    wrong = "111111" if made.code() != "111111" else "222222"
    answer = send(client, made, do="sign", code=wrong, consent="on")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<a href="#code">This code is not right. 4 tries are left.</a>' in page
    assert f'value="{wrong}"' in page and re.search(r'name="consent" checked', page)


def test_what_is_missing_is_named_with_its_field_and_counts_no_attempt(client: Client, made: Scene) -> None:
    made.code()
    answer = send(client, made, do="sign")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<a href="#consent">' in page and '<a href="#code">' in page
    assert Signer.objects.get().code.attempts == 0


def test_a_change_of_language_keeps_what_was_entered(client: Client, made: Scene) -> None:
    answer = send(client, made, lang="fr", code="123456", consent="on")
    page = answer.content.decode()
    assert answer.status_code == 200 and '<html lang="fr"' in page
    assert 'value="123456"' in page and re.search(r'name="consent" checked', page)
    assert 'href="#' in page and language.words("fr")["code_missing"]


def test_a_drawing_that_a_script_put_into_the_form_is_what_is_signed(client: Client, made: Scene) -> None:
    fields = {"signature-type": "drawn", "signature-strokes": "[[[0.1,0.1],[0.5,0.3],[0.9,0.1]]]"}
    answer = send(client, made, do="sign", code=made.code(), consent="on", **fields)
    assert answer.status_code == 303
    assert signature_of(Signer.objects.get()) == {"type": "drawn", "strokes": [[[0.1, 0.1], [0.5, 0.3], [0.9, 0.1]]]}


def test_forms_of_another_site_do_nothing(client: Client) -> None:
    made = made_with_contact(decline_allowed=True)
    fields = {"do": "code", "kind": "question", "message": "Hi", "reason": "No"}
    for rest in ("", "/ask", "/decline"):
        assert client.post(made.url(rest=rest), fields, HTTP_SEC_FETCH_SITE="cross-site").status_code == 422
    assert not CapturedMessage.objects.exists() and not Inquiry.objects.exists()
    assert SignatureRequest.objects.get().status == "pending"


@pytest.mark.parametrize("text", ["x" * 600_000, "é" * 300_000])
def test_a_form_beyond_its_limit_is_refused(client: Client, text: str) -> None:
    assert send(client, scene(), do="sign", code=text).status_code == 413


def test_another_channel_has_a_button_of_its_own(client: Client) -> None:
    made = scene(signer={"phone": "+33612345678"})
    assert "Send it by SMS instead" in client.get(made.url()).content.decode()
    assert send(client, made, do="code-sms").status_code == 303
    assert Signer.objects.get().code.channel == "sms"


@pytest.mark.parametrize(
    "text",
    [
        "244283", " 244283 ", "244 283", "244-283", "Code: 244283", "244\u00a0283", "244.283", "٢٤٤٢٨٣", "2 4 4 2 8 3",
        "244283\n",
    ],
)  # fmt: skip
def test_six_digits_are_found_in_whatever_is_pasted(text: str) -> None:
    assert six_digits(text) == "244283"


@pytest.mark.parametrize("text", ["", "24428", "2442831", "abc"])
def test_anything_else_is_no_code(text: str) -> None:
    assert six_digits(text) == "".join(text.split())


@pytest.mark.parametrize("strokes", ["[" + "[]," * 90_000 + "[]]", "[" * 5000, "{", "[[1," * 10])
def test_strokes_that_are_none_are_a_missing_drawing(client: Client, strokes: str) -> None:
    """Counted before anything is built of them."""
    fields = {"signature-type": "drawn", "signature-strokes": strokes}
    answer = send(client, scene(), do="sign", code="123456", consent="on", **fields)
    assert answer.status_code == 422 and '<a href="#signature-drawn">' in answer.content.decode()


def test_the_code_comes_in_the_language_of_the_page(client: Client) -> None:
    made = scene(locale="de", locale_chosen=True)
    for rest, locale in (("", "de"), ("?lang=fr", "fr")):
        send(client, made, rest, do="code")
        assert f'<html lang="{locale}"' in CapturedMessage.objects.latest("id").html


def made_with_contact(**facts: Any) -> Scene:
    made = scene(**facts)
    Organization.objects.update(contact_email="contracts@acme.example")
    return made


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def ask(client: Client, made: Scene, rest: str = "/ask", **fields: str) -> Any:
    return client.post(made.url(rest=rest), {"kind": "question", "message": "What is § 4 about?"} | fields)


def test_the_form_has_two_reasons_and_room_for_a_message(client: Client) -> None:
    made = made_with_contact()
    page = text(client.get(made.url(rest="/ask")))
    assert re.search(r'<form[^>]* data-form="ask"', page)
    for label in ("I have a question", "This is not for me"):
        assert re.search(rf'<label><input type="radio" [^>]*> <span>{label}</span></label>', page)
    assert '<label for="message">Your message</label>' in page and '<textarea id="message"' in page
    assert re.search(r"<button type=\"submit\"[^>]*>Send to Acme Ltd</button>", page)
    page = text(client.get(made.url(rest="/ask?sent=1")))  # by who only opens the address, nothing was sent
    assert "on its way" not in page and "<textarea" in page


def test_what_is_sent_is_kept_and_changes_nothing_else(client: Client) -> None:
    made = made_with_contact()
    before = made.events()
    answer = ask(client, made, kind="not_me")
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="/ask?sent=1"))
    inquiry = Inquiry.objects.get()
    assert (inquiry.signer_id, inquiry.kind, inquiry.text) == (made.signers[0].pk, "not_me", "What is § 4 about?")
    [(task, arguments)] = jobs()
    assert task == "forward_inquiry" and arguments["inquiry_id"] == inquiry.pk
    assert made.events() == before and Signer.objects.get().status == "pending"
    page = text(client.get(answer["Location"]))
    assert re.search(r'role="status">Your message is on its way to Acme Ltd\. The request stays open until', page)
    assert "<textarea" not in page and f'href="{made.url(rest="?lang=en")}"' in page


@pytest.mark.parametrize(
    ("message", "problem"),
    [(" \r\n ", "Please write a message."), ("</textarea><b>" + "é" * 1987, "Please write at most 2000 characters.")],
)
def test_what_cannot_be_sent_is_told_beside_its_field_with_what_was_entered(
    client: Client, message: str, problem: str
) -> None:
    answer = ask(client, made_with_contact(), message=message, kind="not_me")
    page = text(answer)
    assert answer.status_code == 422 and not Inquiry.objects.exists()
    assert re.search(rf'role="alert".*<a href="#message">{problem}</a>', page, re.DOTALL)
    assert f'<p class="problem" id="problem-message">{problem}</p>' in page
    assert message.strip() in page and re.search(r'value="not_me" checked', page)
    assert "</textarea><b>" not in answer.content.decode()


def test_ends_of_lines_count_once_and_a_reason_that_the_form_lacks_is_a_question(client: Client) -> None:
    answer = ask(client, made_with_contact(), kind="other", message="line\r\n" * 399 + "\x00end")
    inquiry = Inquiry.objects.get()
    assert answer.status_code == 303 and (inquiry.kind, inquiry.text) == ("question", "line\n" * 399 + "end")


def test_three_a_day_and_the_next_a_day_after_the_first(client: Client) -> None:
    made = made_with_contact(signers=2)
    for _ in range(3):
        assert ask(client, made).status_code == 303
    refused = ask(client, made)
    assert refused.status_code == 429 and 86_000 < int(refused["Retry-After"]) <= 86_400
    assert "You have sent three messages today." in text(refused) and "What is § 4 about?" in text(refused)
    assert client.post(made.url(1, "/ask"), {"kind": "question", "message": "I?"}).status_code == 303
    first = Inquiry.objects.order_by("id")[0]
    Inquiry.objects.filter(pk=first.pk).update(asked_at=clock.now() - timedelta(days=1))
    assert ask(client, made).status_code == 303


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
    assert "nothing was signed" not in text(client.get(ask(client, made)["Location"]))


def test_without_an_address_there_is_no_link_and_no_form(client: Client, made: Scene) -> None:
    assert "/ask" not in text(client.get(made.url()))
    for answer in (client.get(made.url(rest="/ask")), ask(client, made)):
        assert answer.status_code == 404
        assert "Acme Ltd has not given an address for questions." in text(answer) and "<form" not in text(answer)
    assert not Inquiry.objects.exists()


def test_a_wrong_link_and_another_method_are_refused(client: Client) -> None:
    assert client.get(f"/sign/{'x' * 43}/ask").status_code == 404
    assert client.put(made_with_contact().url(rest="/ask")).status_code == 405


def test_a_change_of_language_keeps_the_message_and_lasts(client: Client) -> None:
    made = made_with_contact()
    answer = ask(client, made, lang="fr")
    page = text(answer)
    assert answer.status_code == 200 and '<html lang="fr"' in page and "What is § 4 about?" in page
    assert 'action="?lang=fr"' in page
    sent = ask(client, made, rest="/ask?lang=fr")
    assert sent["Location"] == made.url(rest="/ask?lang=fr&sent=1")
    assert language.words("fr")["ask_sent"].partition("{")[0] in text(client.get(sent["Location"]))


def test_the_page_is_as_private_as_the_one_to_sign_on(client: Client) -> None:
    response = client.get(made_with_contact().url(rest="/ask"))
    assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
    assert "form-action 'self'" in response["Content-Security-Policy"] and not response.cookies
    assert not CapturedMessage.objects.exists()


def decline(made: Scene, body: Any, position: int = 0, headers: dict[str, str] | None = None) -> Any:
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
    assert '<textarea id="reason" name="reason"' in page and "This ends the request for everyone" in page
    assert "<script" not in page.split("<main")[1]
    for locale in LOCALES:
        assert client.get(made.url(rest=f"/decline?lang={locale}")).status_code == 200, locale
    answer = client.post(made.url(rest="/decline?lang=en"), {"reason": "Too\r\nexpensive"})
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="?lang=en"))
    assert SignatureRequest.objects.get().ended_reason == "Too\nexpensive"
    after = client.get(answer["Location"])
    assert after.status_code == 410 and "You have declined" in text(after)
    assert client.get(made.url(rest="/decline")).status_code == 303


@pytest.mark.parametrize(
    ("reason", "problem"), [(" \r\n ", "Please write a reason."), ("é" * 501, "Please write at most 500 characters.")]
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


def test_pages_of_others_decline_by_json() -> None:
    made = scene(signers=2, decline_allowed=True)
    answer = decline(made, {"reason": "The rent is wrong."})
    assert (answer.status_code, answer.json()) == (200, {"state": "declined"})
    assert SignatureRequest.objects.get().declined_by_id == made.signers[0].pk
    again = decline(made, {"reason": "The rent is wrong."})
    assert (again.status_code, again.json()["error"]["code"]) == (410, "expired")


@pytest.mark.parametrize("body", [{}, {"reason": ""}, {"reason": 5}, {"reason": "x" * 501}, {"reason": "x", "why": 1}])
def test_a_body_that_is_wrong_is_named(body: Any) -> None:
    made = scene(decline_allowed=True)
    answer = decline(made, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_error")
    assert ("why" if "why" in body else "reason") in answer.json()["error"]["message"]
    assert SignatureRequest.objects.get().status == "pending"


def test_it_is_refused_as_a_signature_is_and_where_it_is_not_allowed() -> None:
    made = scene(signers=2, mode="sequential")
    told = decline(made, {}, headers={"Accept-Language": "de"})
    assert (told.status_code, told.json()["error"]["code"]) == (403, "decline_not_allowed")
    assert told.json()["error"]["message"] == "Dieser Vorgang lässt nicht zu, dass jemand ablehnt."
    SignatureRequest.objects.update(decline_allowed=True)
    assert decline(made, {}, 1).json()["error"]["code"] == "not_your_turn"
    sign(made)
    assert (decline(made, {}).status_code, decline(made, {}).json()["error"]["code"]) == (409, "already_signed")
    wrong = Client().post(made.url(1, "/decline"), "reason", "text/plain")
    assert wrong.status_code == 415


def test_others_read_that_somebody_declined_and_not_who(client: Client) -> None:
    made = scene(signers=3, decline_allowed=True)
    sign(made, 1)
    decline(made, {"reason": "The rent is wrong."})
    signed, unsigned = text(client.get(made.url(1))), text(client.get(made.url(2)))
    assert "You have signed" in signed and "Someone has declined" in signed
    assert "The request has ended" in unsigned and "Someone has declined" in unsigned
    assert not any("Lovelace" in page or "is wrong" in page for page in (signed, unsigned))
    progress = client.get(made.url(1, "/progress")).json()
    assert progress == {"progress": "expired", "others": 2, "declined": True}
