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
from tests.signer.calls import call, refused, sign

pytestmark = pytest.mark.django_db


def post(client: Client, made: Scene, body: dict[str, Any]) -> Any:
    return call(client, made, "/signature", body)


DRAWN = {"type": "drawn", "strokes": [[[0, 0.5], [0.25, 0.1]], [[1, 1.0]]]}


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


def test_the_journal_tells_what_was_accepted() -> None:
    made = scene(signers=2, documents=2)
    sign(Client(headers={"User-Agent": "Test/1"}), made, locale="fr")
    entry = made.entries()[-1]
    assert made.events() == ["signature_request.created", "signer.otp_sent", "signer.signed"]
    assert (entry.signer_id, entry.ip, entry.user_agent) == (made.signers[0].pk, "127.0.0.1", "Test/1")
    assert entry.stated == {"consent_notice": consent_notice("fr", 2), "documents_count": 2, "locale": "fr"}
    assert "les 2 documents" in entry.stated["consent_notice"]
    assert Signer.objects.get(pk=made.signers[0].pk).locale == "fr"
    notices = {consent_notice(locale, count) for locale in LOCALES for count in (1, 2)}
    assert len(notices) == 2 * len(LOCALES)


def test_a_drawn_signature_and_initials_of_few_points_are_kept_as_sent(client: Client) -> None:
    made = scene(signers=2, initials_required=True)
    assert sign(client, made, signature=DRAWN, initials=DRAWN, locale="en").status_code == 200
    signer = Signer.objects.get(pk=made.signers[0].pk)
    assert (signature_of(signer), initials_of(signer)) == (DRAWN, DRAWN)
    assert sign(client, scene(), signature=points(20_000)).status_code == 200, "as many as are allowed"


NO_INK: list[list[list[list[float]]]] = [
    [[[0.5, 0.5]]],
    [[[0.5, 0.5], [0.5, 0.5005]]],
    [[[0.2, 0.2]]] * 201,
    [[[0.1, 0.1]], [[0.4, 0.1], [0.405, 0.1]], [[0.9, 0.9]]],  # dots, one by an unsteady finger
    [[[0.2, 0.2]]] * 200 + [[[0.9, 0.9]]],  # of more than 200 strokes the longest are kept, here the first
]


def test_a_drawing_without_ink_is_refused_and_no_attempt_is_counted(client: Client) -> None:
    made = scene(initials_required=True)
    body = {"code": made.code(), "consent": True, "signature": DRAWN, "initials": DRAWN}
    for field in ("signature", "initials"):
        for strokes in NO_INK:
            response = post(client, made, body | {field: {"type": "drawn", "strokes": strokes}})
            assert refused(response) == (422, "validation_error")
            assert response.json()["error"]["message"].startswith(f"{field}: There’s no line in this drawing")
    assert OneTimeCode.objects.get().attempts == 0 and made.events().count("signer.signed") == 0
    assert post(client, made, body).status_code == 200


def test_the_last_signature_completes_the_request(client: Client) -> None:
    made = scene(signers=2, mode="sequential")
    assert sign(client, made, 0).json()["signature_request"]["status"] == "pending"
    assert sign(client, made, 1).json()["signature_request"]["status"] == "completed"
    request = SignatureRequest.objects.get(pk=made.request.pk)
    assert (request.status, request.finalized) == ("completed", False)
    assert request.completed_at
    assert made.events()[-2:] == ["signer.signed", "request.completed"]
    assert Entry.objects.get(request=request, event_type="request.completed").signer_id is None


def test_from_the_second_of_expiry_on(client: Client, made: Scene) -> None:
    body = {"code": made.code(), "consent": True}
    SignatureRequest.objects.update(expires_at=clock.now())
    assert refused(post(client, made, body)) == (410, "expired")
    assert SignatureRequest.objects.get().status == "pending"  # refused before the job has run
    assert expire(made.request.pk)
    assert refused(post(client, made, body)) == (410, "expired")


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
    sent = call(client, made, "/otp", {"channel": "email"})
    assert sent.status_code == 200
    assert refused(post(client, made, wrong)) == (422, "invalid_otp")
    assert post(client, made, {"code": sent.json()["sandbox_code"], "consent": True}).status_code == 200


def test_a_locked_signer_gets_no_code_and_signs_with_none(client: Client, made: Scene) -> None:
    code = made.code()
    until = clock.now() + timedelta(hours=23, minutes=30)
    OneTimeCode.objects.update(locked_until=until)
    locked = post(client, made, {"code": code, "consent": True})
    unsent = call(client, made, "/otp", {"channel": "email"})
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
    ({"signature": {"type": "stamped"}}, "signature.type"),
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
    ({"signature": {"type": "drawn", "strokes": [[[0, 0]]], "more": [[]] * 80_000}}, "20000 points"),  # counted first
    ({"signature": {"type": "drawn", "strokes": [[["x", 2]] * 45_000]}}, "20000 points each"),
    ({"signature": {"type": "drawn", "strokes": [[[]] * 20_001]}}, "20000"),
    (
        {"signature": {"type": "drawn", "strokes": [[[5, 5]] * 100] * 200}},
        "signature.strokes[0][0][0]",
    ),  # the first of many problems is enough
    ({"initials": {"type": "typed"}}, "initials"),
    ({"locale": "xx"}, "locale"),
    ({"locale": 1}, "locale"),
]


def test_a_bad_body_is_refused_by_name(client: Client, made: Scene) -> None:
    code = made.code()
    for change, named in BAD_BODIES:
        response = post(client, made, {"code": code, "consent": True, **change})
        assert refused(response) == (422, "validation_error")
        message = response.json()["error"]["message"]
        assert named in message and " more" not in message.replace("more arrays", "")
    message = post(client, made, {}).json()["error"]["message"]
    assert "code" in message and "consent" in message
    assert OneTimeCode.objects.get().attempts == 0
    wanted = sign(client, scene(initials_required=True))
    assert refused(wanted) == (422, "validation_error") and "initials" in wanted.json()["error"]["message"]


def test_a_body_that_is_too_large_is_not_read(made: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps({"code": made.code(), "consent": True}).encode().ljust(512 * 1024)
    said = {"CONTENT_LENGTH": str(512 * 1024 + 1)}
    chunked = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}
    for content, meta, expected in ((body + b" ", said, 413), (body + b" ", chunked, 413), (body, chunked, 200)):
        read = io.BytesIO(content)
        request = RequestFactory().generic("POST", made.url(0, "/signature"), b"{}", "application/json")
        request.META |= {"wsgi.input": read, **meta}
        monkeypatch.setattr(request, "_stream", read)
        assert signature(request, token(made.signers[0])).status_code == expected
        assert read.tell() == 0 or meta is chunked, "in chunks nobody says how large it is"


def test_a_crash_tells_the_incident_and_nothing_else(
    client: Client, monkeypatch: pytest.MonkeyPatch, made: Scene
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("paraph.flow.signing.sign.codes.guess", fail)
    response = post(client, made, {"code": "000000", "consent": True, "locale": "es"})
    assert refused(response) == (500, "internal_error")
    message = response.json()["error"]["message"]
    assert response["X-Request-Id"] in message and "Algo ha fallado por nuestra parte." in message
    assert "secret" not in response.content.decode()
