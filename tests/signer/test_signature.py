"""POST /sign/{token}/signature."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import RequestFactory

from paraph.audit_trail.models import Entry
from paraph.flow.ending import expire
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.links import token
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signer.signature import signature
from paraph.words import LOCALES, moment
from tests.factories import Scene, scene
from tests.production import Client

pytestmark = pytest.mark.django_db

DRAWN = {"type": "drawn", "strokes": [[[0, 0.5], [0.25, 0.1]], [[1, 1.0]]]}


def post(client: Client, made: Scene, body: dict[str, Any], position: int = 0) -> Any:
    return client.post(
        made.url(position, "/signature"), body, content_type="application/json", HTTP_USER_AGENT="Test/1"
    )


def sign(client: Client, made: Scene, position: int = 0, **more: Any) -> Any:
    return post(client, made, {"code": made.code(position), "consent": True, **more}, position)


def refused(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def test_signs(client: Client) -> None:
    made = scene(signers=2)
    response = sign(client, made)
    signer = Signer.objects.get(pk=made.signers[0].pk)
    assert (signer.status, signature_of(signer), initials_of(signer)) == ("signed", {"type": "typed"}, None)
    assert response.status_code == 200
    assert response.json() == {
        "status": "signed",
        "signed_at": clock.iso(signer.signed_at or clock.now()),
        "signature_request": {"id": made.request.pk, "status": "pending"},
    }
    assert OneTimeCode.objects.get(signer=signer).used_at


def test_the_journal_tells_what_was_accepted(client: Client) -> None:
    made = scene(signers=2, documents=2)
    sign(client, made, locale="fr")
    entry = made.entries()[-1]
    assert made.events() == ["signature_request.created", "signer.otp_sent", "signer.signed"]
    assert (entry.signer_id, entry.ip, entry.user_agent) == (made.signers[0].pk, "127.0.0.1", "Test/1")
    assert entry.stated == {"consent_notice": consent_notice("fr", 2), "documents_count": 2, "locale": "fr"}
    assert "les 2 documents" in entry.stated["consent_notice"]


def test_a_drawn_signature_and_initials_of_few_points_are_kept_as_sent(client: Client) -> None:
    made = scene(signers=2, initials_required=True)
    assert sign(client, made, signature=DRAWN, initials=DRAWN, locale="en").status_code == 200
    signer = Signer.objects.get(pk=made.signers[0].pk)
    assert (signature_of(signer), initials_of(signer)) == (DRAWN, DRAWN)
    assert sign(client, scene(), signature=points(20_000)).status_code == 200, "as many as are allowed"


@pytest.mark.parametrize(
    "strokes",
    [
        [[[0.5, 0.5]]],
        [[[0.5, 0.5], [0.5, 0.5005]]],
        [[[0.2, 0.2]]] * 201,
        [[[0.1, 0.1]], [[0.4, 0.1], [0.405, 0.1]], [[0.9, 0.9]]],  # dots, one of a finger that was not still
        [[[0.2, 0.2]]] * 200 + [[[0.9, 0.9]]],  # of more than 200 strokes the longest stay, here the first
    ],
)
@pytest.mark.parametrize("field", ["signature", "initials"])
def test_a_drawing_without_ink_is_refused_and_no_attempt_is_counted(
    client: Client, field: str, strokes: list[list[list[float]]]
) -> None:
    made = scene(initials_required=True)
    code = made.code()
    marks = {"signature": DRAWN, "initials": DRAWN, field: {"type": "drawn", "strokes": strokes}}
    response = post(client, made, {"code": code, "consent": True, **marks})
    assert refused(response) == (422, "validation_error")
    assert response.json()["error"]["message"].startswith(f"{field}: There’s no line in this drawing")
    assert OneTimeCode.objects.get().attempts == 0 and made.events().count("signer.signed") == 0
    assert post(client, made, {"code": code, "consent": True, "signature": DRAWN, "initials": DRAWN}).status_code == 200


def test_the_last_signature_completes_the_request(client: Client) -> None:
    made = scene(signers=2, mode="sequential")
    assert sign(client, made, 0).json()["signature_request"]["status"] == "pending"
    assert sign(client, made, 1).json()["signature_request"]["status"] == "completed"
    request = SignatureRequest.objects.get(pk=made.request.pk)
    assert (request.status, request.finalized) == ("completed", False)
    assert request.completed_at
    assert made.events()[-2:] == ["signer.signed", "request.completed"]
    assert Entry.objects.get(request=request, event_type="request.completed").signer_id is None


def test_a_signer_signs_once(client: Client) -> None:
    made = scene(signers=2)
    sign(client, made)
    assert refused(post(client, made, {"code": "000000", "consent": True})) == (409, "already_signed")
    assert made.events().count("signer.signed") == 1


def test_from_the_second_of_expiry_on(client: Client, made: Scene) -> None:
    code = made.code()
    SignatureRequest.objects.update(expires_at=clock.now())
    assert refused(post(client, made, {"code": code, "consent": True})) == (410, "expired")
    assert SignatureRequest.objects.get().status == "pending"  # refused before the job has run
    assert expire(made.request.pk)
    assert refused(post(client, made, {"code": code, "consent": True})) == (410, "expired")


def test_wrong_codes_are_counted_and_the_sixth_guess_is_refused_even_if_right(client: Client, made: Scene) -> None:
    code = made.code()
    wrong = {"code": f"{(int(code) + 1) % 10**6:06d}", "consent": True}
    answers = [post(client, made, wrong) for _ in range(5)]
    assert [refused(answer) for answer in answers] == [(422, "invalid_otp")] * 5
    told = [answer.json()["error"] for answer in answers]
    assert [error["attempts_left"] for error in told] == [4, 3, 2, 1, 0]
    assert not any("retry_after" in error for error in told)
    assert ["no longer works after five wrong tries" in error["message"] for error in told] == [False] * 4 + [True]
    assert refused(post(client, made, {"code": code, "consent": True})) == (429, "too_many_attempts")
    sent = client.post(made.url(0, "/otp"), {"channel": "email"}, content_type="application/json")
    assert sent.status_code == 200
    assert refused(post(client, made, wrong)) == (422, "invalid_otp")
    assert post(client, made, {"code": sent.json()["sandbox_code"], "consent": True}).status_code == 200


def test_a_locked_signer_gets_no_code_and_signs_with_none(client: Client, made: Scene) -> None:
    code = made.code()
    until = clock.now() + timedelta(hours=23, minutes=30)
    OneTimeCode.objects.update(locked_until=until)
    locked = post(client, made, {"code": code, "consent": True})
    unsent = client.post(made.url(0, "/otp"), {"channel": "email"}, content_type="application/json")
    for answer in (locked, unsent):
        assert refused(answer) == (429, "too_many_attempts")
        assert answer.json()["error"]["locked"] is True
        assert f"Codes work again from {moment(until, 'en')[:17]}" in answer.json()["error"]["message"]
        assert 84_500 < int(answer["Retry-After"]) <= 84_600
    assert CapturedMessage.objects.count() == 1
    OneTimeCode.objects.update(locked_until=clock.now())
    assert post(client, made, {"code": code, "consent": True}).status_code == 200


def test_only_the_newest_code_within_its_time(client: Client, made: Scene) -> None:
    assert refused(post(client, made, {"code": "123456", "consent": True})) == (422, "invalid_otp")
    old = made.code()
    new = made.code()
    if old != new:
        told = post(client, made, {"code": old, "consent": True})
        assert refused(told) == (422, "invalid_otp") and "This code has expired." in told.json()["error"]["message"]
    OneTimeCode.objects.update(expires_at=clock.now())
    assert refused(post(client, made, {"code": new, "consent": True})) == (422, "invalid_otp")
    OneTimeCode.objects.update(expires_at=clock.now() + timedelta(minutes=1))
    assert post(client, made, {"code": f" {new[:3]} {new[3:]}", "consent": True}).status_code == 200


def points(count: int) -> dict[str, Any]:
    return {"type": "drawn", "strokes": [[[0.1, 0.5], *[[0.5, 0.5]] * (count - 1)]]}


BAD_BODIES: list[tuple[dict[str, Any], str]] = [
    ({"code": None}, "code"),
    ({"code": 123456}, "code"),
    ({"consent": False}, "consent"),
    ({"consent": "true"}, "consent"),
    ({"consent": None}, "consent"),
    ({"signature": "typed"}, "signature"),
    ({"signature": {"type": "stamped"}}, "signature"),
    ({"signature": {"type": "drawn"}}, "signature.strokes"),
    ({"signature": {"type": "drawn", "strokes": []}}, "signature.strokes"),
    ({"signature": {"type": "drawn", "strokes": [[]]}}, "signature.strokes[0]"),
    ({"signature": {"type": "drawn", "strokes": [[[0, 1.1]]]}}, "signature.strokes[0][0][1]"),
    ({"signature": {"type": "drawn", "strokes": [[[-0.1, 0]]]}}, "signature.strokes[0][0][0]"),
    ({"signature": {"type": "drawn", "strokes": [[[0, True]]]}}, "signature.strokes[0][0][1]"),
    ({"signature": {"type": "drawn", "strokes": [[["0", 0]]]}}, "signature.strokes[0][0][0]"),
    ({"signature": {"type": "drawn", "strokes": [[[0, 0, 0]]]}}, "signature.strokes[0][0]"),
    ({"signature": {"type": "drawn", "strokes": [[[float("nan"), 0]]]}}, "signature.strokes[0][0][0]"),
    ({"signature": {"type": "drawn", "strokes": [[[float("inf"), 0]]]}}, "signature.strokes[0][0][0]"),
    ({"signature": points(20_001)}, "20000"),
    ({"initials": {"type": "typed"}}, "initials"),
    ({"locale": "xx"}, "locale"),
    ({"locale": 1}, "locale"),
]


def test_a_bad_body_is_refused_by_name(client: Client, made: Scene) -> None:
    code = made.code()
    for change, named in BAD_BODIES:
        response = post(client, made, {"code": code, "consent": True, **change})
        assert refused(response) == (422, "validation_error")
        assert named in response.json()["error"]["message"]
    assert OneTimeCode.objects.get().attempts == 0


def test_missing_fields_are_refused_by_name(client: Client) -> None:
    made = scene(initials_required=True)
    message = post(client, made, {}).json()["error"]["message"]
    assert "code" in message and "consent" in message
    response = sign(client, made)
    assert refused(response) == (422, "validation_error")
    assert "initials" in response.json()["error"]["message"]


@pytest.mark.parametrize("rest", ["/signature", "/otp"])
def test_a_body_that_is_too_large(client: Client, rest: str) -> None:
    made, whole = scene(), json.dumps({"code": "000000", "channel": "email", "consent": True, "more": ""})
    fitting = whole[:-2] + "x" * (512 * 1024 - len(whole)) + whole[-2:]
    response = client.post(made.url(0, rest), fitting, content_type="application/json")
    assert response.status_code == (200 if rest == "/otp" else 422), response.content
    response = client.post(made.url(0, rest), fitting + " ", content_type="application/json")
    assert refused(response) == (413, "payload_too_large")


def test_a_body_that_is_too_large_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    made, read = scene(), io.BytesIO(b"{}")
    request = RequestFactory().generic("POST", made.url(0, "/signature"), b"{}", "application/json")
    request.META["CONTENT_LENGTH"] = str(512 * 1024 + 1)
    monkeypatch.setattr(request, "_stream", read)
    assert signature(request, token(made.signers[0])).status_code == 413
    assert read.tell() == 0


def test_a_body_in_chunks(made: Scene) -> None:
    body = json.dumps({"code": made.code(), "consent": True}).encode()
    for content, expected in ((b"x" * (512 * 1024 + 1), 413), (body, 200)):
        request = RequestFactory().generic("POST", made.url(0, "/signature"), b"{}", "application/json")
        request.META |= {"wsgi.input": io.BytesIO(content), "CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
        assert signature(request, token(made.signers[0])).status_code == expected


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"strokes": [[[0, 0]]], "more": [[]] * 80_000}, "20000 points"),
        ({"strokes": [[["x", 2]] * 45_000]}, "20000 points each"),
        ({"strokes": [[[]] * 20_001]}, "20000"),
        ({"strokes": [[[5, 5]] * 100] * 200}, "signature.strokes[0][0][0]"),
    ],
)
def test_points_are_counted_first_and_one_wrong_one_is_enough(client: Client, body: dict[str, Any], named: str) -> None:
    response = post(client, scene(), {"code": "000000", "consent": True, "signature": {"type": "drawn", **body}})
    assert refused(response) == (422, "validation_error")
    message = response.json()["error"]["message"]
    assert named in message and " more" not in message.replace("more arrays", "")


def test_a_crash_tells_the_incident_and_nothing_else(
    client: Client, monkeypatch: pytest.MonkeyPatch, made: Scene
) -> None:

    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("paraph.flow.signing.sign.codes.guess", fail)
    response = post(client, made, {"code": "000000", "consent": True})
    assert refused(response) == (500, "internal_error")
    assert response["X-Request-Id"] in response.json()["error"]["message"]
    assert "secret" not in response.content.decode()


@pytest.mark.parametrize("locale", LOCALES)
def test_each_locale_has_its_own_notice(client: Client, locale: str, made: Scene) -> None:
    assert sign(client, made, locale=locale).status_code == 200
    notices = {consent_notice(other, count) for other in LOCALES for count in (1, 2)}
    assert len(notices) == 2 * len(LOCALES)
    assert Signer.objects.get().locale == locale
