"""The whole journey by plain forms, as a browser without scripts sends them."""

import re
from typing import Any

import pytest
from django.test import Client

from paraph.messaging.models import CapturedMessage
from paraph.otp.codes import six_digits
from paraph.signature_requests.marks import signature_of
from paraph.signature_requests.models import Signer
from paraph.signer import language
from tests.factories import Scene, scene

pytestmark = pytest.mark.django_db


def send(client: Client, made: Scene, rest: str = "", **fields: str) -> Any:
    return client.post(made.url(rest=rest), fields)


def sent_code() -> str:
    found = re.search(r"\b\d{6}\b", CapturedMessage.objects.latest("id").text)
    assert found
    return found.group()


def test_a_code_is_sent_and_signs(client: Client) -> None:
    made = scene()
    answer = send(client, made, do="code")
    assert (answer.status_code, answer["Location"]) == (303, made.url())
    page = client.get(made.url()).content.decode()
    assert "Send a new code" in page
    assert re.search(r"Sent to a•••@example.com at <time [^>]*>\d+:\d\d\W[AP]M UTC</time>", page)
    answer = send(client, made, do="sign", code=sent_code(), consent="on")
    assert (answer.status_code, answer["Location"]) == (303, made.url())
    assert Signer.objects.get().status == "signed"
    assert 'data-state="already_signed"' in client.get(made.url()).content.decode()
    assert not answer.cookies


def test_a_wrong_code_is_told_with_what_was_entered(client: Client) -> None:
    made = scene()
    wrong = "111111" if made.code() != "111111" else "222222"
    answer = send(client, made, do="sign", code=wrong, consent="on")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<a href="#code">This code is not right. 4 tries are left.</a>' in page
    assert f'value="{wrong}"' in page and re.search(r'name="consent" checked', page)


def test_what_is_missing_is_named_with_its_field_and_counts_no_attempt(client: Client) -> None:
    made = scene()
    made.code()
    answer = send(client, made, do="sign")
    page = answer.content.decode()
    assert answer.status_code == 422
    assert '<a href="#consent">' in page and '<a href="#code">' in page
    assert Signer.objects.get().code.attempts == 0


def test_a_change_of_language_keeps_what_was_entered(client: Client) -> None:
    made = scene()
    answer = send(client, made, lang="fr", code="123456", consent="on")
    page = answer.content.decode()
    assert answer.status_code == 200 and '<html lang="fr"' in page
    assert 'value="123456"' in page and re.search(r'name="consent" checked', page)
    assert 'href="#' in page and language.words("fr")["code_missing"]


def test_a_drawing_that_a_script_put_into_the_form_is_what_is_signed(client: Client) -> None:
    made = scene()
    fields = {"signature-type": "drawn", "signature-strokes": "[[[0.1,0.1],[0.5,0.3],[0.9,0.1]]]"}
    answer = send(client, made, do="sign", code=made.code(), consent="on", **fields)
    assert answer.status_code == 303
    assert signature_of(Signer.objects.get()) == {"type": "drawn", "strokes": [[[0.1, 0.1], [0.5, 0.3], [0.9, 0.1]]]}


def test_a_form_of_another_site_is_refused(client: Client) -> None:
    made = scene()
    answer = client.post(made.url(), {"do": "code"}, HTTP_SEC_FETCH_SITE="cross-site")
    assert answer.status_code == 422 and not CapturedMessage.objects.exists()


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
        "244283",
        " 244283 ",
        "244 283",
        "244-283",
        "Code: 244283",
        "244\u00a0283",
        "244.283",
        "٢٤٤٢٨٣",
        "2 4 4 2 8 3",
        "244283\n",
    ],
)
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
