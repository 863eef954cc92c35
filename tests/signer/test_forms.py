"""Forms as browsers send them without scripts: the whole journey, writing to the sender instead, and declining, which
other sites' pages do with JSON."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.codes import six_digits
from paraph.signature_requests.marks import signature_of
from paraph.signature_requests.models import Inquiry, SignatureRequest, Signer
from paraph.tenants.models import Organization
from tests.factories import Scene, jobs, scene, sign
from tests.signer.calls import call, refused, text

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
    page = text(client.get(made.url()))
    assert "Send a new code" in page
    assert re.search(r"Sent to a•••@example.com at <time [^>]*>\d\d:\d\d UTC</time>", page)
    answer = send(client, made, do="sign", code=sent_code(), consent="on")
    assert (answer.status_code, answer["Location"]) == (303, made.url())
    assert Signer.objects.get().status == "signed"
    assert 'data-state="already_signed"' in text(client.get(made.url()))
    assert not answer.cookies


@pytest.mark.parametrize("environment", ["sandbox", "production"])
def test_the_page_shows_the_code_in_the_sandbox_alone(client: Client, environment: str) -> None:
    """Each load of the page shows the code until it is used or replaced, although it is stored nowhere."""
    made = scene(environment=environment)
    told = "Test environment: the code is {}."
    for _ in range(2):
        assert send(client, made, do="code").status_code == 303
        for _ in range(2):
            page = text(client.get(made.url()))
            assert (told.format(sent_code()) in page) == (environment == "sandbox")
            assert "the code is" not in page.replace(told.format(sent_code()), "")
    Signer.objects.get().code.delete()
    assert "the code is" not in text(client.get(made.url()))


def test_a_wrong_code_is_told_with_what_was_entered(client: Client, made: Scene) -> None:
    wrong = "111111" if made.code() != "111111" else "222222"
    answer = send(client, made, do="sign", code=wrong, consent="on")
    page = text(answer)
    assert answer.status_code == 422
    assert '<a href="#code">This code is not right. 4 tries are left.</a>' in page
    assert f'value="{wrong}"' in page and re.search(r'name="consent" checked', page)


def test_what_is_missing_is_named_with_its_field_and_counts_no_attempt(client: Client, made: Scene) -> None:
    made.code()
    answer = send(client, made, do="sign")
    page = text(answer)
    assert answer.status_code == 422
    assert '<a href="#consent">' in page and '<a href="#code">' in page
    assert Signer.objects.get().code.attempts == 0


@pytest.mark.parametrize(
    ("rest", "entered", "kept"),
    [
        ("", {"code": "123456", "consent": "on"}, r'name="consent" checked[^$]*value="123456"'),
        (
            "/ask",
            {"kind": "not_me", "message": "What is § 4 about?"},
            r'value="not_me" checked[^$]*>What is § 4 about\?<',
        ),
        ("/decline", {"reason": "Trop cher"}, r">Trop cher</textarea>"),
    ],
)
def test_a_change_of_language_keeps_what_was_entered(
    client: Client, rest: str, entered: dict[str, str], kept: str
) -> None:
    made = made_with_contact(decline_allowed=True)
    answer = send(client, made, rest, lang="fr", **entered)
    page = text(answer)
    assert answer.status_code == 200 and '<html lang="fr"' in page and re.search(kept, page)
    assert rest == "" or 'action="?lang=fr"' in page
    assert made.events() == ["signature_request.created"] and not Inquiry.objects.exists()


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


def test_a_form_beyond_its_limit_is_refused(client: Client, made: Scene) -> None:
    assert send(client, made, do="sign", code="é" * 300_000).status_code == 413


def test_each_channel_of_the_signer_has_a_button_of_its_own(client: Client) -> None:
    made = scene(signer={"phone": "+33612345678"})
    page = text(client.get(made.url()))
    assert "Send it by SMS instead" in page and "•••78" in page
    assert 'data-channel="email"' in page and 'data-channel="sms"' in page
    assert send(client, made, do="code-sms").status_code == 303
    assert Signer.objects.get().code.channel == "sms"
    page = text(client.get(scene(signer={"phone": "+33612345678", "otp_channel": "sms"}).url()))
    assert 'data-channel="email"' not in page


def test_six_digits_are_found_in_whatever_is_pasted_and_anything_else_is_no_code() -> None:
    for pasted in ("244283", " 244283 ", "244 283", "244-283", "Code: 244283", "244\u00a0283", "244.283", "٢٤٤٢٨٣",
                   "2 4 4 2 8 3", "244283\n"):  # fmt: skip
        assert six_digits(pasted) == "244283", pasted
    for pasted in ("", "24428", "2442831", "abc"):
        assert six_digits(pasted) == pasted


def test_strokes_that_are_none_are_a_missing_drawing(client: Client, made: Scene) -> None:
    """Strokes are counted before anything is built from them."""
    for strokes in ("[" + "[]," * 90_000 + "[]]", "[" * 5000, "{", "[[1," * 10):
        fields = {"signature-type": "drawn", "signature-strokes": strokes}
        answer = send(client, made, do="sign", code="123456", consent="on", **fields)
        assert answer.status_code == 422 and '<a href="#signature-drawn">' in text(answer)


def made_with_contact(**facts: Any) -> Scene:
    made = scene(**facts)
    Organization.objects.update(contact_email="contracts@acme.example")
    return made


def ask(client: Client, made: Scene, rest: str = "/ask", **fields: str) -> Any:
    return client.post(made.url(rest=rest), {"kind": "question", "message": "What is § 4 about?"} | fields)


def test_the_form_has_two_reasons_and_room_for_a_message_where_there_is_an_address(client: Client) -> None:
    made = made_with_contact()
    page = text(client.get(made.url(rest="/ask")))
    assert re.search(r'<form[^>]* data-form="ask"', page)
    for label in ("I have a question", "This is not for me"):
        assert re.search(rf'<label><input type="radio" [^>]*> <span>{label}</span></label>', page)
    assert '<label for="message">Your message</label>' in page and '<textarea id="message"' in page
    assert re.search(r"<button type=\"submit\"[^>]*>Send to Acme Ltd</button>", page)
    page = text(client.get(made.url(rest="/ask?sent=1")))  # opening this address alone sends nothing
    assert "on its way" not in page and "<textarea" in page
    Organization.objects.update(contact_email="")
    assert "/ask" not in text(client.get(made.url()))
    for answer in (client.get(made.url(rest="/ask")), ask(client, made)):
        assert answer.status_code == 404 and "<form" not in text(answer)
        assert "Acme Ltd has not given an address for questions." in text(answer)
    assert not Inquiry.objects.exists()


def test_what_is_sent_is_kept_and_changes_nothing_else(client: Client) -> None:
    made = made_with_contact()
    before = made.events()
    answer = ask(client, made, rest="/ask?lang=en", kind="not_me", message="line\r\n" * 399 + "\x00end")
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="/ask?lang=en&sent=1"))
    inquiry = Inquiry.objects.get()
    assert (inquiry.signer_id, inquiry.kind, inquiry.text) == (made.signers[0].pk, "not_me", "line\n" * 399 + "end")
    [(task, arguments)] = jobs()
    assert task == "forward_inquiry" and arguments["inquiry_id"] == inquiry.pk
    assert made.events() == before and Signer.objects.get().status == "pending"
    page = text(client.get(answer["Location"]))
    assert re.search(r'role="status">Your message is on its way to Acme Ltd\. The request stays open until', page)
    assert "<textarea" not in page and f'href="{made.url(rest="?lang=en")}"' in page
    sign(made)
    assert ask(client, made, kind="other").status_code == 303
    assert Inquiry.objects.latest("id").kind == "question", "the form has no such reason"
    told = text(client.get(made.url(rest="/ask?sent=1")))
    assert "on its way to Acme Ltd." in told and "stays open" not in told and "nothing was signed" not in told


@pytest.mark.parametrize(
    ("rest", "element", "entered", "problem"),
    [
        ("/ask", "message", " \r\n ", "Please write a message."),
        ("/ask", "message", "</textarea><b>" + "é" * 1987, "Please write at most 2000 characters."),
        ("/decline", "reason", " \r\n ", "Please write a reason."),
        ("/decline", "reason", "</textarea><b>" + "é" * 487, "Please write at most 500 characters."),
    ],
)
def test_what_cannot_be_sent_is_told_beside_its_field_with_what_was_entered(
    client: Client, rest: str, element: str, entered: str, problem: str
) -> None:
    made = made_with_contact(decline_allowed=True)
    answer = send(client, made, rest, kind="not_me", **{element: entered})
    page = text(answer)
    assert answer.status_code == 422 and not Inquiry.objects.exists()
    assert SignatureRequest.objects.get().status == "pending"
    assert re.search(rf'role="alert".*<a href="#{element}">{problem}</a>', page, re.DOTALL)
    assert f'<p class="problem" id="problem-{element}">{problem}</p>' in page
    assert entered.strip() in page and (rest == "/decline" or re.search(r'value="not_me" checked', page))
    assert "</textarea><b>" not in answer.content.decode()


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


def decline(made: Scene, body: Any, position: int = 0, headers: dict[str, str] | None = None) -> Any:
    return call(Client(), made, "/decline", body, position, headers=headers)


def test_the_link_stands_beside_ask_where_the_request_allows_it(client: Client) -> None:
    made = made_with_contact(decline_allowed=True)
    links = re.search(r'<ul class="links">.*?</ul>', text(client.get(made.url())))
    assert links and "Ask Acme Ltd" in links.group() and f'href="{made.url(rest="/decline")}">Decline<' in links.group()
    assert re.search(r'href="[^"]*/decline\?lang=fr#/decline">Refuser<', text(client.get(made.url(rest="?lang=fr"))))
    Organization.objects.update(contact_email="")
    assert f'href="{made.url(rest="/decline")}"' in text(client.get(made.url()))
    SignatureRequest.objects.update(decline_allowed=False)
    assert "/decline" not in text(client.get(made.url()))
    made = scene(signers=2, mode="sequential", decline_allowed=True)  # whoever must wait has no link
    assert "/decline" not in text(client.get(made.url(1)))
    assert client.get(made.url(1, "/decline"))["Location"] == made.url(1)


def test_the_form_declines_without_scripts(client: Client) -> None:
    made = scene(decline_allowed=True)
    page = text(client.get(made.url(rest="/decline")))
    assert '<textarea id="reason" name="reason"' in page and "This ends the request for everyone" in page
    assert "<script" not in page.split("<main")[1]
    answer = client.post(made.url(rest="/decline?lang=en"), {"reason": "Too\r\nexpensive"})
    assert (answer.status_code, answer["Location"]) == (303, made.url(rest="?lang=en"))
    assert SignatureRequest.objects.get().ended_reason == "Too\nexpensive"
    after = client.get(answer["Location"])
    assert after.status_code == 410 and "You have declined" in text(after)
    assert client.get(made.url(rest="/decline")).status_code == 303


def test_pages_of_others_decline_by_json() -> None:
    made = scene(signers=2, decline_allowed=True)
    answer = decline(made, {"reason": "The rent is wrong."})
    assert (answer.status_code, answer.json()) == (200, {"state": "declined"})
    assert SignatureRequest.objects.get().declined_by_id == made.signers[0].pk
    assert refused(decline(made, {"reason": "The rent is wrong."})) == (410, "expired")


def test_a_body_that_is_wrong_is_named() -> None:
    made = scene(decline_allowed=True)
    for body, named in (({}, "reason"), ({"reason": 5}, "reason"), ({"reason": "x" * 501}, "reason"),
                        ({"reason": "x", "why": 1}, "why")):  # fmt: skip
        answer = decline(made, body)
        assert refused(answer) == (422, "validation_error") and named in answer.json()["error"]["message"]
    assert SignatureRequest.objects.get().status == "pending"


def test_it_is_refused_as_a_signature_is_and_where_it_is_not_allowed() -> None:
    made = scene(signers=2, mode="sequential")
    told = decline(made, {}, headers={"Accept-Language": "de"})
    assert refused(told) == (403, "decline_not_allowed")
    assert told.json()["error"]["message"] == "Dieser Vorgang lässt nicht zu, dass jemand ablehnt."
    SignatureRequest.objects.update(decline_allowed=True)
    assert refused(decline(made, {}, 1)) == (409, "not_your_turn")
    sign(made)
    assert refused(decline(made, {})) == (409, "already_signed")
    assert Client().post(made.url(1, "/decline"), "reason", "text/plain").status_code == 415


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
