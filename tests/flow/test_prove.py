"""The proof of a request, and its publication (rules 2.2, 3.1, 6.2)."""

import io
import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pikepdf
import pytest
from django.db import transaction

from paraph.audit_trail.append import broken_at
from paraph.audit_trail.models import EventType
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow import events
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import prove, publish, seal
from paraph.flow.sealing.proof_content import proof_content
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from tests.factories import Scene, scene, sign


def sealed(**how: Any) -> Scene:
    made = scene(**how)
    for position in range(len(made.signers)):
        sign(made, position)
    for row in made.request_documents:
        seal(row.pk)
    return made


def finalized(made: Scene) -> bool:
    return SignatureRequest.objects.get(pk=made.request.pk).finalized


@pytest.mark.django_db
def test_from_signature_to_finalized() -> None:
    made = sealed(signers=2, documents=2, mode="sequential")
    prove(made.request.pk)
    assert not finalized(made)
    publish(made.request.pk)
    assert finalized(made)
    assert made.events() == [
        "signature_request.created",
        "signer.otp_sent",
        "signer.signed",
        "signer.otp_sent",
        "signer.signed",
        "request.completed",
        "signature_request.pades_signed",
        "signature_request.pades_signed",
        "signature_request.certificate_issued",
    ]
    assert broken_at(made.entries()) is None


@pytest.mark.django_db
def test_the_proof_is_sealed_and_its_digest_journaled() -> None:
    made = sealed()
    prove(made.request.pk)
    row = ProofFile.objects.get(request=made.request)
    content = store.get(row.object_key)
    entry = made.entries()[-1]
    assert (entry.event_type, entry.signer_id) == ("signature_request.certificate_issued", None)
    assert entry.metadata["certificate_sha256"] == tokens.sha256(content).hex() == bytes(row.sha256).hex()
    assert "signed_pdf_sha256" not in entry.metadata
    found = verify(content, sealing_context().roots("sandbox"))
    assert found.ok and found.covers_whole_file and found.timestamp


@pytest.mark.django_db
def test_the_evidence_in_the_proof_carries_the_whole_journal() -> None:
    made = sealed(signers=2)
    stated = made.entries()
    prove(made.request.pk)
    with pikepdf.open(io.BytesIO(store.get(ProofFile.objects.get().object_key))) as document:
        evidence = json.loads(document.attachments["evidence.json"].get_file().read_bytes())
    assert evidence["request"]["id"] == made.request.pk
    assert [line["hash"] for line in evidence["journal"]] == [bytes(entry.hash).hex() for entry in stated]
    assert evidence["documents"][0]["uploaded_sha256"] == tokens.sha256(made.uploads[0]).hex()
    assert [signer["full_name"] for signer in evidence["signers"]] == ["Ada Lovelace", "Émile Zola"]


@pytest.mark.django_db
def test_the_proof_names_channel_and_destination_of_each_signer() -> None:
    made = sealed(signer={"phone": "+33612345678", "otp_channel": "sms"})
    prove(made.request.pk)
    import pypdfium2

    with pypdfium2.PdfDocument(store.get(ProofFile.objects.get().object_key)) as document:
        text = "".join(page.get_textpage().get_text_bounded() for page in document)
    flat = text.replace("\r", "").replace("\n", "").replace(" ", "").replace("\u00a0", "")
    assert "+33612345678" in flat and "SMS" in flat
    assert bytes(made.entries()[-2].hash).hex()[:16] in flat
    assert SealedDocument.objects.get().seal["timestamp_authority"].replace(" ", "") in flat


@pytest.mark.django_db
def test_proving_and_publishing_again_change_nothing() -> None:
    made = sealed()
    for _ in range(2):
        prove(made.request.pk)
    for _ in range(2):
        publish(made.request.pk)
    assert made.events().count("signature_request.certificate_issued") == 1
    assert finalized(made)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("which", ["sealed", "proof"])
def test_what_storage_changed_is_not_published(which: str) -> None:
    made = sealed()
    prove(made.request.pk)
    row = SealedDocument.objects.get() if which == "sealed" else ProofFile.objects.get()
    good = store.get(row.object_key)
    store.put(row.object_key, good[:-1] + b" ")
    with pytest.raises(DomainError):
        publish(made.request.pk)
    assert not finalized(made)
    failure = SealingFailure.objects.get()
    assert failure.stage == "publish" and row.object_key in failure.cause
    store.put(row.object_key, good)
    publish(made.request.pk)
    assert finalized(made) and not SealingFailure.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("ahead", [timedelta(), timedelta(minutes=3)], ids=["a clock like others", "a clock ahead"])
def test_a_seal_is_printed_not_after_its_timestamp(monkeypatch: pytest.MonkeyPatch, ahead: timedelta) -> None:
    """As of its making: its row is written once the timestamp has come."""
    monkeypatch.setattr("paraph.flow.sealing.finalize.clock", SimpleNamespace(now=lambda: clock.now() + ahead))
    began = clock.now()
    made = sealed(documents=2)
    prove(made.request.pk)
    for document in proof_content(SignatureRequest.objects.get(pk=made.request.pk), clock.now()).documents:
        stamped_at, sealed_at = document.seal.timestamped_at, document.seal.sealed_at
        assert stamped_at and began <= sealed_at <= stamped_at
        assert sealed_at == stamped_at or not ahead
    with pikepdf.open(io.BytesIO(store.get(ProofFile.objects.get().object_key))) as pdf:
        evidence = json.loads(pdf.attachments["evidence.json"].get_file().read_bytes())
    for stated in evidence["documents"]:
        assert stated["seal"]["sealed_at"] <= stated["seal"]["timestamped_at"]


@pytest.mark.django_db
def test_the_lines_of_the_journal_carry_the_names() -> None:
    made = sealed(signers=2)
    stated = proof_content(SignatureRequest.objects.get(pk=made.request.pk), clock.now())
    names = {made.signers[0].pk: "Ada Lovelace", made.signers[1].pk: "Émile Zola", None: ""}
    assert [(line.event_type, line.signer, line.at) for line in stated.journal] == [
        (entry.event_type, names[entry.signer_id], entry.created_at) for entry in made.entries()
    ]
    assert {line.signer for line in stated.journal} == {"Ada Lovelace", "Émile Zola", ""}


@pytest.mark.django_db
def test_every_event_has_a_title_in_the_proof() -> None:
    stated = proof_content(SignatureRequest.objects.get(pk=sealed().request.pk), clock.now())
    assert set(stated.event_titles) == set(EventType) and set(stated.sender_events) < set(EventType)
    assert stated.event_titles["signer.signed"] == "Signed"


@pytest.mark.django_db
def test_a_reminder_is_called_one_in_the_language_of_the_request() -> None:
    made = sealed()
    request = SignatureRequest.objects.get(pk=made.request.pk)
    with transaction.atomic():
        for reminder in (False, True):
            events.signer_notified(made.signers[0], "captured:1", reminder=reminder)
    for locale, titles in (
        ("en", ["Invitation sent", "Reminder sent"]),
        ("de", ["Einladung versandt", "Erinnerung versandt"]),
    ):
        request.locale = locale
        stated = proof_content(request, clock.now())
        lines = [line for line in stated.journal if line.event_type == EventType.SIGNER_NOTIFIED]
        assert [line.title or stated.event_titles[line.event_type] for line in lines] == titles
