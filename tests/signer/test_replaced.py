"""A link that a newer one has replaced: all pages and endpoints say so, and nothing about the newer one (rule 20)."""

from typing import Any

import pytest

from paraph.flow.sending.correct import correct_signer
from paraph.otp import codes
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.links import token
from paraph.signature_requests.models import FirstOpening, Signer
from paraph.tenants.admin_log import OPERATOR
from tests.factories import VISITOR, Scene, scene
from tests.production import Client
from tests.signer.calls import call, refused

pytestmark = pytest.mark.django_db

NEW = "ada.lovelace@example.org"


def correct(made: Scene) -> Signer:
    return correct_signer(made.scope(), OPERATOR, made.request.pk, made.signers[0].pk, {"email": NEW}, origin=VISITOR)


@pytest.fixture
def replaced() -> tuple[Scene, str]:
    """A scene that still has the earlier link, and the newer token."""
    made = scene(decline_allowed=True)
    return made, token(correct(made))


def test_each_page_is_410_and_says_so(client: Client, replaced: tuple[Scene, str]) -> None:
    made, newest = replaced
    document = made.request_documents[0].document_id
    for rest in ("", "/ask", "/decline", f"/documents/{document}/text"):
        response = client.get(made.url(rest=rest))
        assert response.status_code == 410, rest
        content = response.content.decode()
        assert 'data-state="replaced"' in content and "This link has been replaced" in content
        assert newest not in content and "example.org" not in content and "Lovelace" not in content
        assert response["Cache-Control"] == "no-store" and response["Referrer-Policy"] == "no-referrer"
    assert client.get(f"/sign/{newest}").status_code == 200
    assert FirstOpening.objects.count() == 1


def test_forms_and_endpoints_do_nothing(client: Client, replaced: tuple[Scene, str]) -> None:
    made, newest = replaced
    form = client.post(made.url(), {"do": "code"})
    assert form.status_code == 410 and 'data-state="replaced"' in form.content.decode()
    answers = [
        call(client, made, "/otp", {"channel": "email"}),
        call(client, made, "/signature", {"code": "123456", "consent": True}),
        call(client, made, "/decline", {"reason": "No."}),
        client.get(made.url(rest="/progress")),
        client.get(made.url(rest=f"/documents/{made.request_documents[0].document_id}/pages/1.webp")),
    ]
    for answer in answers:
        assert refused(answer) == (410, "replaced") and newest not in answer.content.decode()
        assert answer.json()["error"]["message"] == "This link has been replaced."
    assert not OneTimeCode.objects.exists() and made.events()[-1] == "signer.corrected"


def test_a_form_that_comes_as_the_link_is_replaced_shows_no_documents(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = scene(pages=1)
    code = made.code()
    guess = codes.guess

    def corrected_meanwhile(*given: Any) -> bytes:
        found = guess(*given)
        correct(made)
        return found

    monkeypatch.setattr(codes, "guess", corrected_meanwhile)
    response = client.post(made.url(), {"do": "sign", "code": code, "consent": "on"})
    content = response.content.decode()
    assert response.status_code == 410 and 'data-state="replaced"' in content
    assert 'class="page"' not in content and "signer.signed" not in made.events()
