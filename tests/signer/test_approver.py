"""Approvers read and confirm with a code, draw nothing, and find every text speaking of approving, not signing."""

import re
from typing import Any

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
from paraph.words import LOCALES, for_approvers, of
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off
from tests.pdf.pictures import texts
from tests.signer.calls import call, text

pytestmark = pytest.mark.django_db

CONSENTED = {"consent": True}


def approved(**how: Any) -> Scene:
    """A request that the first person approves and the second signs."""
    return scene(signers=2, approvers=[0], mode="sequential", **how)


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


def test_an_approver_sends_no_mark(client: Client) -> None:
    made = approved(initials_required=True)
    for field in ("signature", "initials"):
        answer = call(client, made, "/signature", CONSENTED | {"code": made.code(), field: {"type": "typed"}})
        assert answer.status_code == 422 and field in answer.json()["error"]["message"]
    assert client.get(made.url(rest="/stamp.svg")).status_code == 404


def test_an_approval_is_journaled_as_one_with_its_own_consent(client: Client) -> None:
    made = approved(initials_required=True)
    answer = call(client, made, "/signature", CONSENTED | {"code": made.code()})
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
    assert "".join(texts(sealed)).count("Signed by") == 1
    proof = store.get(ProofFile.objects.get().object_key)
    said = " ".join(" ".join(texts(proof)).split())
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


def test_every_language_has_words_of_its_own_for_approvers() -> None:
    for locale in LOCALES:
        approver, signer = language.words(locale, Signer(role="approver")), language.words(locale)
        for name in ("asks", "sign_documents", "expired_title", "already_signed_title"):
            assert approver[name] != signer[name], (locale, name)
        answer = of("answer", locale)
        assert for_approvers(answer)["consent"] != answer["consent"], locale
        assert consent_notice(locale, 2, approves=True) != consent_notice(locale, 2), locale


def test_what_is_refused_is_told_in_the_words_of_approval(client: Client) -> None:
    """Approvers get the same error codes as signers, but sentences of their own."""
    made = scene(signers=2, approvers=[0])
    picture = f"/documents/{made.request_documents[0].document_id}/pages/1.webp"
    words = language.words("de", made.signers[0])

    def told(answer: Any) -> tuple[str, str]:
        error = answer.json()["error"]
        return error["code"], error["message"]

    def posted(end: str, **body: Any) -> list[tuple[str, str]]:
        return [told(call(client, made, end, {**body, "locale": "de"}, position)) for position in (0, 1)]

    [approver, signer] = posted("/signature", code="123456", consent=False)
    assert approver[0] == signer[0] == "validation_error"
    assert approver[1] != signer[1] and "consent" in approver[1]
    SignatureRequest.objects.update(expires_at=clock.now())
    seen = [told(client.get(made.url(position, picture), HTTP_ACCEPT_LANGUAGE="de")) for position in (0, 1)]
    for [approver, signer] in (seen, posted("/otp", channel="email")):
        assert approver == ("expired", f"{words['expired_title'].rstrip('.')}.") and approver != signer
    Signer.objects.update(status="signed", signed_at=clock.now())
    [approver, signer] = posted("/otp", channel="email")
    assert approver == ("already_signed", f"{words['already_signed_title'].rstrip('.')}.") and approver != signer
