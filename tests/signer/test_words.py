"""The words of signers in every language: complete, translated, used, with the forms that the language has; in the
script of the page, and in the JSON of the signer's endpoints."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from babel import Locale
from django.conf import settings
from django.utils import translation

import paraph
from paraph import words as catalog
from paraph.audit_trail.models import EventType
from paraph.flow.messages import emails
from paraph.flow.signing.sign import sandbox_sign
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.otp.codes import TooManySendsError
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Channel, Mode, SignatureRequest, Signer
from paraph.signature_requests.signing import PageNotShownError
from paraph.signer import answers
from paraph.signer.answers import STATUSES
from paraph.signer.shell import _NAMES, words_address
from paraph.tenants.models import Environment
from paraph.words import LOCALES
from tests.factories import TYPED, VISITOR, Scene, scene
from tests.production import Client
from tests.signer.calls import call, text

SOURCE = Path(paraph.__file__).parent
FOLDER = SOURCE / "words"
THEMES = ("page", "answer", "mail", "consent", "stamp", "proof", "verdict", "bundle", "verify")
_LOOKED_UP = re.compile(r"^approve_|_title$|_text$|_missing$|^code_why_|^send_by_")


def forms(sentence: Any) -> dict[str, str]:
    return sentence if isinstance(sentence, dict) else {"other": sentence}


def test_what_is_to_be_corrected_has_one_name_on_all_pages() -> None:
    for locale, _ in settings.LANGUAGES:
        with translation.override(locale):
            assert catalog.of("page", locale)["problems"] == translation.gettext("Please correct this")


@pytest.mark.parametrize("theme", THEMES)
def test_every_language_has_the_same_words_and_places_to_fill(theme: str) -> None:
    assert {path.stem for path in (FOLDER / theme).glob("*.json")} == set(LOCALES)
    english = catalog.of(theme, "en")
    for locale in LOCALES:
        words = catalog.of(theme, locale)
        assert list(words) == list(english)
        tags = Locale.parse(locale).plural_form.tags
        for name in words.keys() - {"locale"}:
            where = (locale, name)
            filled = set(re.findall(r"{\w+}", forms(english[name])["other"]))
            for category, form in forms(words[name]).items():
                own = set(re.findall(r"{\w+}", form))
                unsaid = {"{count}"} if category in ("one", "two", "zero") else set()
                assert own <= filled <= own | unsaid, (*where, category)
                assert form.strip() == form and form, where
            if isinstance(english[name], dict):
                assert set(forms(words[name])) == {*tags, "other"}, where


@pytest.mark.parametrize("theme", THEMES)
def test_no_sentence_is_left_in_english(theme: str) -> None:
    english = catalog.of(theme, "en")
    for locale in LOCALES[1:]:
        words = catalog.of(theme, locale)
        alike = {name for name, sentence in words.items() if sentence == english[name] and " " in str(sentence)}
        assert alike == set(), locale


def test_every_word_for_the_scripts_is_said_by_them() -> None:
    """A script names a word directly, or by the code of an error or of something missing."""
    scripts = "".join(path.read_text() for path in (SOURCE / "signer/static").rglob("*.js"))
    by_code = set(STATUSES) | {"signature_missing", "initials_missing", "locale"}
    assert [name for name in _NAMES if name not in by_code and f'"{name}"' not in scripts] == []


def test_every_word_of_the_page_is_used() -> None:
    files = [path for path in (SOURCE / "signer").rglob("*") if path.suffix in (".html", ".py", ".js")]
    files += (SOURCE / "signature_requests/fields").glob("*.py")  # problems with entered values
    source = "".join(path.read_text() for path in files)
    names = [_LOOKED_UP.sub("", name) for name in json.loads((FOLDER / "page/en.json").read_text())]
    assert [name for name in names if name and not re.search(rf"\b{name}", source)] == []


def test_every_word_of_the_answers_is_used() -> None:
    source = "".join(
        path.read_text()
        for room in ("signer", "signature_requests", "otp", "flow")
        for path in (SOURCE / room).rglob("*.py")
    )
    names = [name.removeprefix("approve_") for name in json.loads((FOLDER / "answer/en.json").read_text())]
    assert [name for name in names if f'"{name}"' not in source] == []


def test_every_word_of_the_proof_is_used() -> None:
    """A word is used where the proof is typeset, or as the word for a name that the journal holds."""
    setting = [*(SOURCE / "pdf/typesetting").rglob("proof*"), SOURCE / "flow/sealing/proof_content.py"]
    said = "".join(path.read_text() for path in setting if path.suffix != ".pyc")
    journaled = "".join(path.read_text() for path in SOURCE.rglob("*.py"))
    names = {f"event_{event.name.lower()}" for event in EventType}
    names |= {f"mode_{mode}" for mode in Mode} | {f"environment_{each}" for each in Environment}
    names |= {f"channel_{channel}" for channel in Channel}
    for name in json.loads((FOLDER / "proof/en.json").read_text()):
        kind, _, rest = name.partition("_")
        source, word = (journaled, rest) if kind in ("meta", "part") else (said, name)
        assert name in names or re.search(rf"\b{word}\b", source), name


@pytest.mark.parametrize("theme", THEMES)
def test_french_punctuation_never_begins_a_line(theme: str) -> None:
    for sentence in catalog.of(theme, "fr").values():
        for form in forms(sentence).values():
            told = re.sub(r"\d+:\d+|https?:", "", form)
            assert not re.search("[^\u202f][;!?]|[^\u00a0]:|«[^\u00a0]|[^\u00a0]»", told), form


def test_german_has_one_word_for_sealing() -> None:
    said = [form for theme in THEMES for each in catalog.of(theme, "de").values() for form in forms(each).values()]
    assert not [form for form in said if re.search(r"gesiegelt|\bsiegeln", form)]


Headers = dict[str, str]
Call = Callable[[Headers], Any]
CHANNEL = {"channel": "email"}


def post(made: Scene, end: str, body: Any, headers: Headers | None = None, position: int = 0) -> Any:
    return call(Client(), made, end, body, position, headers=headers)


def message(answer: Any) -> str:
    content = json.loads(answer.content)
    return str(content["error"]["message"] if "error" in content else content["message"])


def refusals() -> Iterator[tuple[str, int, str, Call]]:
    """Yield each refusal's name, status and code, and a call that gets it in the language that its headers name."""

    def of(end: str, body: Any, position: int = 0, **how: Any) -> Call:
        return lambda headers: post(scene(**how), end, body, headers, position)

    def get(rest: str) -> Call:
        return lambda headers: Client().get(scene().url(0, rest), headers=headers)

    def once(change: Callable[[Scene], object]) -> Call:
        def call(headers: Headers) -> Any:
            made = scene()
            change(made)
            return post(made, "/otp", CHANNEL, headers)

        return call

    def wrong_code(headers: Headers) -> Any:
        made = scene()
        wrong = "000000" if made.code() != "000000" else "111111"
        return post(made, "/signature", {"code": wrong, "consent": True}, headers)

    def lock(made: Scene) -> None:
        made.code()
        OneTimeCode.objects.update(locked_until=clock.now() + timedelta(hours=20), wrong_guesses=20)

    def form(headers: Headers) -> Any:
        return Client().post(scene().url(0, "/otp"), CHANNEL, headers=headers)

    signers, requests = Signer.objects.all(), SignatureRequest.objects.all()
    right, dot = {"code": "123456", "consent": True}, {"type": "drawn", "strokes": [[[0, 0]]]}
    sequence: dict[str, Any] = {"signers": 2, "mode": "sequential", "position": 1}
    yield "sent", 200, "", of("/otp", CHANNEL)
    yield "channel", 422, "validation_error", of("/otp", {"channel": "fax"})
    yield "no channel", 422, "validation_error", of("/otp", {})
    yield "not JSON", 422, "validation_error", of("/otp", "{")
    yield "too deep", 422, "validation_error", of("/otp", "[" * 100_000)
    yield "no object", 422, "validation_error", of("/otp", "[]")
    yield "too large", 413, "payload_too_large", of("/otp", " " * 600_000)
    yield "form", 415, "unsupported_media_type", form
    yield "method", 405, "method_not_allowed", get("/otp")
    yield "unknown link", 404, "not_found", lambda headers: Client().get("/sign/nobody/progress", headers=headers)
    yield "signed", 409, "already_signed", once(lambda _: signers.update(status="signed", signed_at=clock.now()))
    yield "expired", 410, "expired", once(lambda _: requests.update(expires_at=clock.now()))
    yield "not your turn", 409, "not_your_turn", of("/otp", CHANNEL, **sequence)
    yield "not your turn to sign", 409, "not_your_turn", of("/signature", right, **sequence)
    yield "wrong code", 422, "invalid_otp", wrong_code
    yield "locked", 429, "too_many_attempts", once(lock)
    yield "too many codes", 429, "rate_limited", once(lambda made: [post(made, "/otp", CHANNEL) for _ in range(5)])
    yield "no code", 422, "validation_error", of("/signature", {"consent": True})
    yield "no consent", 422, "validation_error", of("/signature", right | {"consent": False})
    yield "initials wanted", 422, "validation_error", of("/signature", right, initials_required=True)
    wrong = {"code": 1, "consent": 1, "signature": {"type": "x"}, "initials": 3}
    yield "nothing right", 422, "validation_error", of("/signature", wrong)
    yield "no ink", 422, "validation_error", of("/signature", right | {"signature": dot})
    yield "no page", 404, "not_found", get("/documents/0/pages/1/text")
    yield "no progress", 404, "not_found", get("/progress")
    yield "no proof", 404, "not_found", get("/proof.pdf")


REFUSALS = {name: (status, code, call) for name, status, code, call in refusals()}


@pytest.mark.django_db
@pytest.mark.parametrize("name", REFUSALS)
def test_each_refusal_in_the_one_envelope_and_in_german(name: str) -> None:
    status, code, call = REFUSALS[name]
    english, german = call({}), call({"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"})
    assert english.status_code == german.status_code == status
    assert english.json().get("error", {"code": ""})["code"] == code
    assert english.get("Allow", "") == ("POST" if status == 405 else "")
    assert (english["Content-Language"], german["Content-Language"]) == ("en", "de")
    assert message(german) != message(english)
    assert not re.search(r"\b(the|is|are|must|not|this|your)\b", message(german)), message(german)


@pytest.mark.django_db
def test_who_chooses() -> None:
    """The body's language counts first, then that of the address, the header and the request, and else English."""
    made = scene(locale="pl", locale_chosen=True)
    header, address = {"Accept-Language": "xx, sv;q=0.5"}, "/otp?lang=fi"
    assert post(made, "/otp", {"channel": "fax"})["Content-Language"] == "pl"
    assert post(made, "/otp", {"channel": "fax"}, header)["Content-Language"] == "sv"
    assert post(made, address, {"channel": "fax"}, header)["Content-Language"] == "fi"
    assert post(made, address, {"channel": "fax", "locale": "uk"}, header)["Content-Language"] == "uk"
    assert post(made, address, {"channel": "fax", "locale": 7}, header)["Content-Language"] == "fi"
    assert post(scene(), "/otp", {"channel": "fax"}, {"Accept-Language": "ja"})["Content-Language"] == "en"


@pytest.mark.django_db
def test_no_code_is_told_in_english() -> None:
    """Every code has words in each language, which replace the developer's sentence of the error."""
    for locale in LOCALES[1:]:
        for code in answers.STATUSES:
            refused = answers.refusal(DomainError(code, "The sentence of a developer."), locale)
            said = message(refused)
            assert said and "developer" not in said and refused["Content-Language"] == locale, (code, locale)


@pytest.mark.django_db
def test_what_is_told_with_places_and_times() -> None:
    said = catalog.phrase(catalog.of("answer", "de"), "too_many_messages", time="5 Min.")
    assert message(answers.refusal(TooManySendsError(300), "de")) == said
    shown = json.loads(answers.refusal(PageNotShownError(3, "Vertrag.pdf", 7), "de").content)["error"]
    assert shown["message"].startswith("Seite 3 von „Vertrag.pdf“") and shown["document_id"] == 7


@pytest.mark.django_db
def test_the_scripts_words_in_every_language(client: Client, made: Scene) -> None:
    """The file is cached for long and holds nothing of a request; the page's link to it names its version."""
    for locale in LOCALES:
        response = client.get(f"/sign/words/{locale}.js")
        assert response["Content-Type"] == "text/javascript; charset=utf-8"
        assert response["Cache-Control"] == "public, max-age=31536000, immutable"
        found = re.fullmatch(r'"use strict";\nconst words = (\{.*\});\n', response.content.decode())
        assert found
        said, of_page = json.loads(found.group(1)), catalog.of("page", locale)
        assert said["sealed"] == of_page["sealed"] and of_page["signed_title"] in said["done"]
    for locale in ("en", "ar"):
        page = client.get(made.url(), {"lang": locale}).content.decode()
        assert f'<script src="{words_address(locale)}" defer>' in page
    assert words_address("en").partition("?")[2] != words_address("ar").partition("?")[2]
    assert client.get("/sign/words/xx.js").status_code == 404
    assert client.post("/sign/words/en.js").status_code == 405


@pytest.mark.django_db
def test_messages_pages_and_answers_are_in_the_signers_language(client: Client) -> None:
    """The sender named the signer's language (rule 4.5), and another for the request."""
    of_signer = {"language": "pt", "locale": "pt", "phone": "+351912345678"}
    made = scene(locale="de", locale_chosen=True, signer=of_signer)
    signer = Signer.objects.select_related("request__organization").get()
    link, begins = "https://sign.example/x", catalog.of("mail", "pt")["open"]
    invitation = emails.invitation(signer, link)
    assert emails.invitation_subject("pt", signer.request.organization.name) == invitation.subject
    assert begins in invitation.text and begins in emails.reminder(signer, link).text
    code, sms = emails.one_time_code(signer, "123456"), emails.one_time_code_sms(signer, "123456")
    assert code == emails.one_time_code(signer, "123456", "pt") != emails.one_time_code(signer, "123456", "de")
    assert sms == emails.one_time_code_sms(signer, "123456", "pt") != emails.one_time_code_sms(signer, "123456", "de")
    page = text(client.get(made.url(), HTTP_ACCEPT_LANGUAGE="fr"))
    assert '<html lang="pt"' in page and consent_notice("pt", 1) in page
    assert post(made, "/otp", "{}").headers["Content-Language"] == "pt", "a program that names none"
    sandbox_sign(signer, TYPED, VISITOR)
    assert [each.metadata["locale"] for each in made.entries() if each.event_type == "signer.signed"] == ["pt"]
