"""The JSON of the signer's endpoints speaks each language of the page: that of the body's ``locale``, or the first that
``Accept-Language`` names."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from paraph import words as catalog
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.otp.codes import TooManySendsError
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signed_documents import PageNotShownError
from paraph.signer import answers
from paraph.words import LOCALES
from tests.factories import Scene, scene
from tests.production import Client

pytestmark = pytest.mark.django_db
Headers = dict[str, str]
Call = Callable[[Headers], Any]


def post(made: Scene, end: str, body: Any, headers: Headers | None = None, position: int = 0) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return Client().post(made.url(position, end), text, content_type="application/json", headers=headers or {})


def told(answer: Any) -> str:
    content = answer.json()
    return str(content["error"]["message"] if "error" in content else content["message"])


def refusals() -> Iterator[tuple[str, int, Call]]:
    """A name, a status, and a call that is answered so in the language that it names."""

    def a_scene(**how: Any) -> Scene:
        return scene(**how)

    def of(end: str, body: Any, **how: Any) -> Call:
        return lambda headers: post(a_scene(**how), end, body, headers)

    def wrong_code(headers: Headers) -> Any:
        made = scene()
        code = made.code(0)
        wrong = "000000" if code != "000000" else "111111"
        return post(made, "/signature", {"code": wrong, "consent": True}, headers)

    def locked(headers: Headers) -> Any:
        made = scene()
        made.code(0)
        OneTimeCode.objects.update(locked_until=clock.now() + timedelta(hours=20), wrong_guesses=20)
        return post(made, "/otp", {"channel": "email"}, headers)

    def too_many(headers: Headers) -> Any:
        made = scene()
        for _ in range(5):
            post(made, "/otp", {"channel": "email"})
        return post(made, "/otp", {"channel": "email"}, headers)

    def signed(headers: Headers) -> Any:
        made = scene()
        Signer.objects.filter(pk=made.signers[0].pk).update(status="signed", signed_at=clock.now())
        return post(made, "/otp", {"channel": "email"}, headers)

    def expired(headers: Headers) -> Any:
        made = scene()
        SignatureRequest.objects.update(expires_at=clock.now())
        return post(made, "/otp", {"channel": "email"}, headers)

    def not_your_turn(headers: Headers) -> Any:
        return post(scene(signers=2, mode="sequential"), "/otp", {"channel": "email"}, headers, position=1)

    def get(rest: str) -> Call:
        return lambda headers: Client().get(scene().url(0, rest), headers=headers)

    def method(headers: Headers) -> Any:
        return Client().get(scene().url(0, "/otp"), headers=headers)

    def form(headers: Headers) -> Any:
        return Client().post(scene().url(0, "/otp"), {"channel": "email"}, headers=headers)

    def unknown(headers: Headers) -> Any:
        return Client().post("/sign/nobody/otp", "{}", content_type="application/json", headers=headers)

    yield "sent", 200, of("/otp", {"channel": "email"})
    yield "channel", 422, of("/otp", {"channel": "fax"})
    yield "no channel", 422, of("/otp", {})
    yield "not JSON", 422, of("/otp", "{")
    yield "no object", 422, of("/otp", "[]")
    yield "too large", 413, of("/otp", " " * 600_000)
    yield "form", 415, form
    yield "method", 405, method
    yield "unknown link", 404, unknown
    yield "signed", 409, signed
    yield "expired", 410, expired
    yield "not your turn", 409, not_your_turn
    yield "wrong code", 422, wrong_code
    yield "locked", 429, locked
    yield "too many codes", 429, too_many
    yield "no code", 422, of("/signature", {"consent": True})
    yield "no consent", 422, of("/signature", {"code": "123456", "consent": False})
    yield "initials wanted", 422, of("/signature", {"code": "123456", "consent": True}, initials_required=True)
    yield "nothing right", 422, of("/signature", {"code": 1, "consent": 1, "signature": {"type": "x"}, "initials": 3})
    yield (
        "no ink",
        422,
        of("/signature", {"code": "123456", "consent": True, "signature": {"type": "drawn", "strokes": [[[0, 0]]]}}),
    )
    yield "no page", 404, get("/documents/0/pages/1/text")
    yield "no progress", 404, get("/progress")
    yield "no proof", 404, get("/proof.pdf")


REFUSALS = {name: (status, call) for name, status, call in refusals()}


@pytest.mark.parametrize("name", REFUSALS)
def test_each_answer_speaks_german(name: str) -> None:
    status, call = REFUSALS[name]
    english, german = call({}), call({"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"})
    assert english.status_code == german.status_code == status
    assert (english["Content-Language"], german["Content-Language"]) == ("en", "de")
    assert told(german) != told(english)
    assert not re.search(r"\b(the|is|are|must|not|this|your)\b", told(german)), told(german)


@pytest.mark.parametrize("locale", LOCALES)
def test_every_language_of_the_page(locale: str) -> None:
    made = scene()
    sent = post(made, "/otp", {"channel": "email", "locale": locale}, {"Accept-Language": "sv"})
    recipient = "a•••@example.com"
    assert told(sent) == catalog.phrase(catalog.of("answer", locale), "code_sent", recipient=recipient)
    assert sent["Content-Language"] == locale
    refused = post(made, "/signature", {"code": "1", "consent": True, "signature": {"type": "x"}, "locale": locale})
    assert refused["Content-Language"] == locale and "signature.type" in told(refused)
    asked = post(made, "/otp", {"channel": "fax"}, {"Accept-Language": locale})
    assert told(asked) == catalog.phrase(catalog.of("answer", locale), "field_choice", field="channel", values="email")


@pytest.mark.parametrize("locale", LOCALES)
def test_at_a_ceiling_messages_are_named(locale: str) -> None:
    words, made = catalog.of("answer", locale), scene()
    for _ in range(5):
        post(made, "/otp", {"channel": "email"})
    answer = post(made, "/otp", {"channel": "email", "locale": locale})
    begin = words["too_many_messages"].partition("{time}")[0]
    assert answer.status_code == 429 and told(answer).startswith(begin)
    assert words["too_many_messages"] != words["too_many"]


def test_who_chooses() -> None:
    """The body, then the address, then the header, then the request, then English."""
    made = scene(locale="pl", locale_chosen=True)
    header, address = {"Accept-Language": "xx, sv;q=0.5"}, "/otp?lang=fi"
    assert post(made, "/otp", {"channel": "fax"})["Content-Language"] == "pl"
    assert post(made, "/otp", {"channel": "fax"}, header)["Content-Language"] == "sv"
    assert post(made, address, {"channel": "fax"}, header)["Content-Language"] == "fi"
    assert post(made, address, {"channel": "fax", "locale": "uk"}, header)["Content-Language"] == "uk"
    assert post(made, address, {"channel": "fax", "locale": 7}, header)["Content-Language"] == "fi"
    assert post(scene(), "/otp", {"channel": "fax"}, {"Accept-Language": "ja"})["Content-Language"] == "en"


@pytest.mark.parametrize("locale", LOCALES[1:])
def test_no_code_is_told_in_english(locale: str) -> None:
    """Also where somebody raises it who has no words for it."""
    for code in answers.STATUSES:
        refused = answers.refusal(DomainError(code, "The sentence of a developer."), locale)
        message = json.loads(refused.content)["error"]["message"]
        assert message and "developer" not in message and refused["Content-Language"] == locale, code


def test_what_is_told_with_places_and_times() -> None:
    assert "5 Min." in json.loads(answers.refusal(TooManySendsError(300), "de").content)["error"]["message"]
    shown = json.loads(answers.refusal(PageNotShownError(3, "Vertrag.pdf", 7), "de").content)["error"]
    assert shown["message"].startswith("Seite 3 von „Vertrag.pdf“") and shown["document_id"] == 7


def test_an_outage_and_a_fault_speak_too(monkeypatch: pytest.MonkeyPatch) -> None:
    made = scene()
    monkeypatch.setattr("paraph.signer.otp.send_otp", lambda *_: 1 // 0)
    crashed = post(made, "/otp", {"channel": "email"}, {"Accept-Language": "es"})
    assert crashed.status_code == 500 and "Algo ha fallado por nuestra parte." in told(crashed)
