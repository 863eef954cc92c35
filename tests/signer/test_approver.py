"""Approvers: they read and confirm with a code, draw nothing, and are told of approving everywhere."""

import html
import json
import re
from typing import Any

import pypdfium2
import pytest
from django.test import Client

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages.emails import invitation, one_time_code_sms
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sending.invite import invite
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import Approval, SignatureRequest, Signer
from paraph.signer import language
from paraph.storage import store
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db


def approved(**how: Any) -> Scene:
    """A request that the first approves and the second signs."""
    return scene(signers=2, approvers=[0], mode="sequential", **how)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


def call(made: Scene, **body: Any) -> Any:
    body = {"code": made.code(), "consent": True, **body}
    return Client().post(made.url(rest="/signature"), json.dumps(body), "application/json")


def printed(content: bytes) -> str:
    pages = pypdfium2.PdfDocument(content)
    return " ".join(" ".join(page.get_textpage().get_text_range() for page in pages).split())


def test_the_page_speaks_of_approving_and_has_no_step_to_sign(client: Client) -> None:
    made = approved(initials_required=True)
    page = text(client.get(made.url()))
    assert "Acme Ltd asks you to approve" in page and "You can approve until" in page
    assert re.search(r'<button [^>]*value="sign" data-sign>Approve</button>', page)
    assert "I have read what is shown here and approve it." in page and "contract-1.pdf" in page
    assert 'id="sign"' not in page and "stamp.svg" not in page and "initials" not in page.split("<main")[1]
    assert 'href="#confirm">Approve</a>' in page
    visible = re.sub(r"<[^>]+>", " ", page.split("<main")[1].split("<footer")[0])
    assert not re.search(r"\bsign(ing|ature)?\b", visible), visible


def test_a_signer_of_the_same_request_reads_what_others_read(client: Client) -> None:
    made = approved()
    sign(made)
    page = text(client.get(made.url(1)))
    assert "asks you to sign" in page and 'id="sign"' in page and "approve" not in page.split("<main")[1]


def test_an_approver_sees_the_documents_that_list_them(client: Client) -> None:
    made = approved(documents=2)
    Approval.objects.filter(request_document=made.request_documents[1]).delete()
    page = text(client.get(made.url()))
    assert "contract-1.pdf" in page and "contract-2.pdf" not in page
    other = made.request_documents[1].document_id
    assert client.get(made.url(rest=f"/documents/{other}.pdf")).status_code == 404
    own = made.request_documents[0].document_id
    assert client.get(made.url(rest=f"/documents/{own}.pdf")).getvalue() == made.uploads[0]


@pytest.mark.parametrize("field", ["signature", "initials"])
def test_an_approver_sends_no_mark(field: str) -> None:
    made = approved(initials_required=True)
    answer = call(made, **{field: {"type": "typed"}})
    assert answer.status_code == 422 and field in answer.json()["error"]["message"]
    assert Client().get(made.url(rest="/stamp.svg")).status_code == 404


def test_an_approval_is_journaled_as_one_with_its_own_consent() -> None:
    made = approved(initials_required=True)
    answer = call(made)
    assert answer.json()["status"] == "signed"
    approver = Signer.objects.get(pk=made.signers[0].pk)
    assert approver.signature_encrypted is None and approver.initials_encrypted is None
    facts = made.entries()[-1].stated
    assert (facts["role"], facts["documents_count"]) == ("approver", 1)
    assert facts["consent_notice"] == consent_notice("en", 1, approves=True)
    sign(made, 1, initials={"type": "typed"})
    signed = next(entry for entry in reversed(made.entries()) if entry.event_type == "signer.signed")
    assert "role" not in signed.metadata


def test_plain_forms_approve(client: Client) -> None:
    made = approved(initials_required=True)
    answer = client.post(made.url(), {"do": "sign", "code": made.code(), "consent": "on"})
    assert answer.status_code == 303
    page = text(client.get(made.url()))
    assert "You have approved" in page and "You approved on" in page


def test_the_sealed_file_has_one_stamp_and_the_proof_lists_the_approver() -> None:
    made = approved(initials_required=True)
    sign(made)
    sign(made, 1, initials={"type": "typed"})
    work_off()
    sealed = store.get(SealedDocument.objects.get().object_key)
    assert printed(sealed).count("Signed by") == 1
    proof = store.get(ProofFile.objects.get().object_key)
    said = printed(proof)
    assert "Everybody has signed or approved" in said and "Ada Lovelace" in said
    assert "Request completed: everyone has signed or approved" in said
    assert said.count("approves, without a signature on the documents") == 1
    files = {"uploaded.pdf": made.uploads[0], "signed.pdf": sealed, "proof.pdf": proof}
    assert check_evidence(files, sealing_context().roots("sandbox")).problems == []


def test_mails_and_codes_speak_of_approving() -> None:
    made = approved(send_email=True, signer={"phone": "+33612345678"})
    invite(made.signers[0].pk)
    mail = CapturedMessage.objects.get()
    assert mail.subject == "Acme Ltd asks you to approve" and "Read and approve" in mail.text
    made.code()
    assert "approval code" in CapturedMessage.objects.latest("id").subject
    signer = Signer.objects.select_related("request__organization").get(pk=made.signers[0].pk)
    assert "code to approve" in one_time_code_sms(signer, "123456")
    assert "to sign" not in invitation(signer, "https://sign.example/x").text


@pytest.mark.parametrize("locale", LOCALES)
def test_every_language_has_words_of_its_own_for_approvers(locale: str) -> None:
    approver, signer = language.words(locale, Signer(role="approver")), language.words(locale)
    assert approver["asks"] != signer["asks"] and approver["sign_documents"] != signer["sign_documents"]
    assert consent_notice(locale, 2, approves=True) != consent_notice(locale, 2)


def test_what_is_refused_is_told_in_the_words_of_approval() -> None:
    """By the same codes as signers, who read other sentences."""
    made = scene(signers=2, approvers=[0])
    document = f"/documents/{made.request_documents[0].document_id}/pages/1.webp"

    def told(locale: str, end: str, **body: Any) -> list[tuple[str, str]]:
        answers = [_refused(made.url(position, end), body, locale) for position in (0, 1)]
        assert answers[0][0] == answers[1][0]
        return answers

    def title(locale: str, state: str) -> tuple[str, str]:
        return state, f"{language.words(locale, made.signers[0])[f'{state}_title'].rstrip('.')}."

    for locale in LOCALES:
        [approver, signer] = told(locale, "/signature", code="123456", consent=False)
        assert approver[0] == "validation_error" and approver[1] != signer[1] and "consent" in approver[1]
    SignatureRequest.objects.update(expires_at=clock.now())
    for locale in LOCALES:
        for end, body in (("/otp", {"channel": "email"}), (document, {})):
            [approver, signer] = told(locale, end, **body)
            assert approver == title(locale, "expired") and approver != signer
    Signer.objects.update(status="signed", signed_at=clock.now())
    for locale in LOCALES:
        [approver, signer] = told(locale, "/otp", channel="email")
        assert approver == title(locale, "already_signed") and approver != signer


def _refused(url: str, body: dict[str, Any], locale: str) -> tuple[str, str]:
    headers = {"Accept-Language": locale}
    if body:
        answer = Client().post(url, json.dumps({**body, "locale": locale}), "application/json", headers=headers)
    else:
        answer = Client().get(url, headers=headers)
    error = answer.json()["error"]
    return error["code"], error["message"]
