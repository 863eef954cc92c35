"""The proof of a request, and its publication (rules 2.2, 3.1, 6.2)."""

import io
import json
from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pikepdf
import pytest
from django.db import transaction
from django.db.utils import DatabaseError

from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import EventType
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow import events
from paraph.flow.ending import end_early, expire
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import prove, publish, seal
from paraph.flow.sealing.proof_content import proof_content
from paraph.flow.signing.decline_or_ask import decline
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import check_journal, check_signers, evidence_of, printed_text
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.fields.entry import filled_fields, values_of, write
from paraph.signature_requests.models import Field, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from paraph.words import LOCALES, of
from tests.columns import columns
from tests.factories import TYPED, VISITOR, Scene, scene, sign
from tests.flow.test_erase import everything
from tests.flow.test_jobs import work_off

pytestmark = pytest.mark.django_db


def sealed(**how: Any) -> Scene:
    made = scene(**how)
    for position in range(len(made.signers)):
        sign(made, position)
    for row in made.request_documents:
        seal(row.pk)
    return made


def finalized(made: Scene) -> bool:
    return SignatureRequest.objects.get(pk=made.request.pk).finalized


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


def test_the_proof_names_channel_and_destination_of_each_signer() -> None:
    made = sealed(signer={"phone": "+33612345678", "otp_channel": "sms"})
    prove(made.request.pk)
    import pypdfium2

    with pypdfium2.PdfDocument(store.get(ProofFile.objects.get().object_key)) as document:
        text = "".join(page.get_textpage().get_text_bounded() for page in document)
    flat = text.replace("\r", "").replace("\n", "").replace(" ", "").replace("\u00a0", "")
    assert "+33612345678" in flat and "SMS" in flat
    assert bytes(made.entries()[-2].hash).hex()[:16] in flat
    assert SealedDocument.objects.get().facts["timestamp_authority"].replace(" ", "") in flat


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


def test_the_lines_of_the_journal_carry_the_names() -> None:
    made = sealed(signers=2)
    stated = proof_content(SignatureRequest.objects.get(pk=made.request.pk), clock.now())
    names = {made.signers[0].pk: "Ada Lovelace", made.signers[1].pk: "Émile Zola", None: ""}
    assert [(line.event_type, line.signer, line.at) for line in stated.journal] == [
        (entry.event_type, names[entry.signer_id], entry.created_at) for entry in made.entries()
    ]
    assert {line.signer for line in stated.journal} == {"Ada Lovelace", "Émile Zola", ""}


def test_every_event_has_a_title_in_the_proof() -> None:
    stated = proof_content(SignatureRequest.objects.get(pk=sealed().request.pk), clock.now())
    assert set(stated.event_titles) == set(EventType) and set(stated.sender_events) < set(EventType)
    assert stated.event_titles["signer.signed"] == "Signed"


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


FIELDS: list[dict[str, Any]] = [
    {"type": "text", "name": "iban", "label": "Your IBAN"},
    {"type": "multiline", "name": "address", "height": 40},
    {"type": "number", "name": "rent"},
    {"type": "date", "name": "begin"},
    {"type": "checkbox", "name": "pets"},
    {"type": "checkbox", "name": "cats", "required": False},
    {"type": "choice", "name": "floor", "options": ["ground floor (left)", "first"]},
    {"type": "text", "name": "flat", "value": "4b", "read_only": True},
    {"type": "text", "name": "remarks", "required": False},
    {"type": "signed_on", "name": "day"},
    {"type": "full_name", "name": "name"},
    {"type": "email", "name": "mail"},
]
ENTERED: dict[str, Any] = {
    "iban": "DE89 3704 0044",
    "address": "Unter den Linden 1\n10117 Berlin",
    "rent": "1250.50",
    "begin": "2026-12-01",
    "pets": True,
    "floor": "ground floor (left)",
}


def finished(**how: Any) -> Scene:
    """Everyone has filled in their fields and signed, and all is sealed."""
    made = scene(fields=FIELDS, **how)
    for position in range(len(made.signers)):
        fill_and_sign(made, position)
    work_off()
    made.request.refresh_from_db()
    assert made.request.finalized
    return made


def fill_and_sign(made: Scene, position: int = 0, **others: Any) -> Signer:
    code = made.code(position)
    signer = Signer.objects.select_related("request").get(pk=made.signers[position].pk)
    given = [
        {"document_id": row.document_id, "name": name, "value": value}
        for row in made.request_documents
        for name, value in {**ENTERED, **others}.items()
    ]
    return sign_verb(signer, Signature(code, TYPED, None, "en", filled_fields(signer, given)), VISITOR)


def signed_entry(made: Scene) -> Any:
    return next(entry for entry in made.entries() if entry.event_type == "signer.signed")


def proof_file() -> bytes:
    return store.get(ProofFile.objects.get().object_key)


def check(made: Scene) -> EvidenceCheck:
    files = {f"uploaded-{number}.pdf": content for number, content in enumerate(made.uploads)}
    for sealed in SealedDocument.objects.all():
        files[f"signed-{sealed.pk}.pdf"] = store.get(sealed.object_key)
    return check_evidence({**files, "proof.pdf": proof_file()}, sealing_context().roots("sandbox"))


def test_the_journal_has_each_value_behind_a_commitment() -> None:
    made = finished()
    entry = signed_entry(made)
    assert [field["name"] for field in entry.metadata["fields"]] == [field["name"] for field in FIELDS]
    values = {field["name"]: field["value"] for field in entry.metadata["fields"]}
    today = f"{entry.created_at:%Y-%m-%d}"
    filled = {"flat": "4b", "remarks": None, "cats": False, "day": today, "name": "Ada Lovelace"}
    assert values == {**ENTERED, **filled, "mail": "ada1@example.com"}
    assert set(entry.metadata["fields"][0]) == {"document_id", "name", "type", "value"}
    with_salts = {path for path in entry.salts if path.startswith("metadata/fields/")}
    assert with_salts == {f"metadata/fields/{n}/value" for n, (_, v) in enumerate(values.items()) if v is not None}
    assert broken_at(made.entries()) is None


def test_the_proof_states_label_value_who_and_when_and_is_verified() -> None:
    made = finished(signers=2, documents=2)
    found = check(made)
    assert found.problems == []
    assert "The 48 values of fields are those that the journal has." in found.matches
    assert "The proof prints the value of each field." in found.matches
    text = printed_text(proof_file())
    for fact in ("YourIBAN", "DE8937040044", "UnterdenLinden1", "1,250.50", "1December2026", "groundfloor(left)"):
        assert text.count(fact) == 4
    assert text.count("leftempty") == 4 and text.count("nottickedfloor") == 4
    evidence = evidence_of(proof_file())
    assert evidence
    [first, *_] = evidence["signers"][0]["fields"]
    assert first == {
        "document_id": made.request_documents[0].document_id,
        "name": "iban",
        "type": "text",
        "label": "Your IBAN",
        "value": "DE89 3704 0044",
        "printed": "DE89 3704 0044",
    }


@pytest.mark.parametrize("locale", ["ar", "de", "hu"])
def test_in_other_languages_it_is_verified_all_the_same(locale: str) -> None:
    made = finished(locale=locale)
    assert check(made).problems == []


def test_another_value_in_the_evidence_is_noticed() -> None:
    finished()
    evidence, text = evidence_of(proof_file()), printed_text(proof_file())
    assert evidence
    assert problems(evidence, text) == []
    journal = json.loads(json.dumps(evidence))
    signed = next(entry for entry in journal["journal"] if entry["event_type"] == "signer.signed")
    signed["metadata"]["fields"][4]["value"] = False
    assert any("broken at entry" in problem for problem in problems(journal, text))
    stated = json.loads(json.dumps(evidence))
    stated["signers"][0]["fields"][2] |= {"value": "1350.50", "printed": "1,350.50"}
    assert problems(stated, text + "1,350.50") == ["The values of fields are not those that the journal has."]
    stated["signers"][0]["fields"] = evidence["signers"][0]["fields"][::-1]
    assert problems(stated, text) == ["The values of fields are not those that the journal has."]
    del stated["signers"][0]["fields"]
    assert problems(stated, text) == ["The values of fields are not those that the journal has."]
    assert problems(evidence, text.replace("1,250.50", "1,350.50")) == ["The proof does not print the value of rent."]
    for position, said in ((0, "DE89 3704 0045"), (2, "1,350.50"), (8, "None.")):
        stated = json.loads(json.dumps(evidence))
        field = stated["signers"][0]["fields"][position]
        field["printed"] = said
        told = [f"The proof prints another value than the journal has for {field['name']}."]
        assert problems(stated, text + "".join(said.split())) == told


def problems(evidence: dict[str, Any], text: str) -> list[str]:
    result = EvidenceCheck()
    check_journal(result, evidence["journal"], text)
    check_signers(result, evidence["signers"], evidence["journal"], text)
    return result.problems


def test_erasing_leaves_no_value_and_chain_and_proof_hold(caplog: pytest.LogCaptureFixture) -> None:
    made = finished(signers=2)
    entered = ("3704 0044", "10117 Berlin", "1250.50", "2026-12-01")
    hashes = [bytes(entry.hash) for entry in made.entries()]
    assert all(each in everything() for each in entered)
    erase_signer(OPERATOR, made.signers[0].pk)
    assert all(each in everything() for each in entered), "the other signer entered the same"
    erased = signed_entry(made).metadata["fields"]
    assert {field["value"] for field in erased} == {"erased", None, f"signer-{made.signers[0].pk}@erased.invalid"}
    assert [field["name"] for field in erased] == [field["name"] for field in FIELDS]

    erase_signer(OPERATOR, made.signers[1].pk)
    assert not [each for each in entered if each in everything()]
    assert not list(Signer.objects.exclude(fields_encrypted=None))
    assert [bytes(entry.hash) for entry in made.entries()] == hashes
    assert broken_at(made.entries()) is None and check(made).problems == []
    assert not [each for each in entered if each in caplog.text]
    assert not Field.objects.exclude(value=None).exists(), "what the sender gave"


def test_the_database_lets_no_value_go_without_its_commitment() -> None:
    made = finished()
    entry = signed_entry(made)
    entry.metadata["fields"][0]["value"] = "DE00"
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        entry.save(update_fields=["metadata"])


def test_values_go_with_the_files() -> None:
    made = finished()
    assert values_of(Signer.objects.get())
    hashes = [bytes(entry.hash) for entry in made.entries()]
    values = [each for each in ENTERED.values() if isinstance(each, str)]
    assert set(values) <= {field["value"] for field in signed_entry(made).metadata["fields"]}
    assert delete_files(made.request.pk)
    assert values_of(Signer.objects.get()) == {}
    told = signed_entry(made).metadata["fields"]
    assert [each["name"] for each in told] == [each["name"] for each in FIELDS]
    assert {each["name"]: each["value"] for each in told if each["value"] != "erased"} == {"remarks": None}
    found = {f"{table}.{column}" for table, column, each in columns() if any(value in each for value in values)}
    assert found == {"signature_requests_field.options"}, "which are asked, and not what was chosen"
    assert ([bytes(entry.hash) for entry in made.entries()], broken_at(made.entries())) == (hashes, None)
    assert signed_entry(made).ip == VISITOR.ip, "the rest stays"
    assert not Field.objects.exclude(value=None).exists(), "what the sender gave"


def expired(made: Scene) -> None:
    SignatureRequest.objects.update(expires_at=clock.now())
    expire(made.request.pk)


def ended(made: Scene) -> None:
    end_early(OPERATOR, made.request.pk, "Over.")


def declined(made: Scene) -> None:
    decline(Signer.objects.select_related("request__organization").get(pk=made.signers[1].pk), "No.", VISITOR)


@pytest.mark.parametrize("end", [expired, ended, declined])
def test_what_was_never_signed_goes_with_the_end_of_the_request(end: Callable[[Scene], None]) -> None:
    made = scene(fields=FIELDS, signers=2, decline_allowed=True)
    fill_and_sign(made, 0)
    second = Signer.objects.get(pk=made.signers[1].pk)
    write(second, {Field.objects.filter(signer=second)[0].pk: "DE89"})
    second.save(update_fields=["fields_encrypted"])
    end(made)
    assert SignatureRequest.objects.get().status == "expired"
    first, second = Signer.objects.order_by("order")
    assert values_of(second) == {} and values_of(first)


def test_a_proof_without_fields_says_nothing_of_them(made: Scene) -> None:
    sign(made)
    work_off()
    assert "fields" not in signed_entry(made).metadata
    evidence = evidence_of(proof_file())
    assert evidence and "fields" not in evidence["signers"][0]
    assert "Fieldsfilledin" not in printed_text(proof_file())
    assert not [each for each in check(made).matches if "field" in each]


def test_every_language_has_its_words() -> None:
    for name in ("fields", "ticked", "unticked", "left_empty", "meta_fields"):
        assert len({of("proof", locale)[name] for locale in LOCALES}) >= len(LOCALES) - 2, name
