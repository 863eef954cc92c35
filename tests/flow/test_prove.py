"""The proof of a request, and its publication (rules 2.2, 3.1, 6.2): entered values, and openings of the page and wrong
codes, which the journal does not hold; and an offline check that all files handed out belong together."""

import json
import re
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.models import ProofFile, SealedDocument, SealingFailure
from paraph.flow import events
from paraph.flow.housekeeping.retention import delete_files
from paraph.flow.personal_data.erase import erase_signer
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import prove, publish, seal
from paraph.flow.sealing.proof_content import proof_content
from paraph.flow.sending.create import Sender, create
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.otp.models import RefusedCode
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.untrusted.page_reading import render_page
from paraph.pdf.verification.proof_file import check_journal, check_signers, evidence_of, printed_text
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.fields.entry import filled_fields, values_of
from paraph.signature_requests.input import Assignment, DocumentInput, MagicFieldStamp, Tag
from paraph.signature_requests.models import Field, FirstOpening, SignatureRequest, Signer
from paraph.signature_requests.placing import place
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.admin_log import OPERATOR
from tests.api.v1.api_clients import payload
from tests.columns import columns
from tests.factories import TYPED, VISITOR, Scene, finish, scene, sign, uploaded
from tests.flow.test_erase import everything, files_of, proof_check, the_proof, tied
from tests.flow.test_jobs import work_off
from tests.flow.test_seal import completed
from tests.pdf.pdf_factory import paper, text
from tests.production import Client

pytestmark = pytest.mark.django_db


def sealed(**how: Any) -> Scene:
    made = completed(**how)
    for row in made.request_documents:
        seal(row.pk)
    return made


def finalized(made: Scene) -> bool:
    return SignatureRequest.objects.get(pk=made.request.pk).finalized


def test_the_proof_is_sealed_journaled_and_has_the_whole_journal() -> None:
    made = sealed(signers=2, signer={"phone": "+33612345678", "otp_channel": "sms"})
    stated = made.entries()
    prove(made.request.pk)
    row = ProofFile.objects.get(request=made.request)
    content, entry = store.get(row.object_key), made.entries()[-1]
    assert (entry.event_type, entry.signer_id) == ("signature_request.certificate_issued", None)
    assert entry.metadata["certificate_sha256"] == tokens.sha256(content).hex() == bytes(row.sha256).hex()
    assert "signed_pdf_sha256" not in entry.metadata and not finalized(made)
    found, evidence = verify(content, sealing_context().roots("sandbox")), evidence_of(content)
    assert found.ok and found.covers_whole_file and found.timestamp and evidence
    assert evidence["request"]["id"] == made.request.pk
    assert [line["hash"] for line in evidence["journal"]] == [bytes(entry.hash).hex() for entry in stated]
    assert evidence["documents"][0]["uploaded_sha256"] == tokens.sha256(made.uploads[0]).hex()
    assert [signer["full_name"] for signer in evidence["signers"]] == ["Ada Lovelace", "Émile Zola"]
    printed = printed_text(content)
    assert "+33612345678" in printed and "SMS" in printed and bytes(stated[-1].hash).hex()[:16] in printed
    assert SealedDocument.objects.get().facts["timestamp_authority"].replace(" ", "") in printed


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
    """The proof states when the seal was made: its row is written later, once the timestamp has come."""
    monkeypatch.setattr("paraph.flow.sealing.finalize.clock", SimpleNamespace(now=lambda: clock.now() + ahead))
    began = clock.now()
    made = sealed(documents=2)
    prove(made.request.pk)
    for document in proof_content(SignatureRequest.objects.get(pk=made.request.pk), clock.now()).documents:
        stamped_at, sealed_at = document.seal.timestamped_at, document.seal.sealed_at
        assert stamped_at and began <= sealed_at <= stamped_at
        assert sealed_at == stamped_at or not ahead
    evidence = evidence_of(the_proof())
    assert evidence
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
    assert set(stated.event_titles) == set(EventType) and set(stated.sender_events) < set(EventType)
    assert stated.event_titles["signer.signed"] == "Signed"
    ways = [(signer.channel, signer.destination) for signer in stated.signers]
    assert ways == [("email", signer.email) for signer in made.signers]


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
    """A request in which everyone has filled in their fields and signed, and all documents are sealed."""
    made = scene(fields=FIELDS, **how)
    for position in range(len(made.signers)):
        fill_and_sign(made, position)
    work_off()
    made.request.refresh_from_db()
    assert made.request.finalized
    return made


def fill_and_sign(made: Scene, position: int = 0) -> Signer:
    code, signer = made.code(position), made.signer(position)
    given = [
        {"document_id": row.document_id, "name": name, "value": value}
        for row in made.request_documents
        for name, value in ENTERED.items()
    ]
    return sign_verb(signer, Signature(code, TYPED, None, "en", filled_fields(signer, given)), VISITOR)


def signed_entry(made: Scene) -> Any:
    return next(entry for entry in made.entries() if entry.event_type == "signer.signed")


def test_the_journal_has_each_value_behind_a_commitment_until_the_files_go() -> None:
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
    assert broken_at(made.entries()) is None and values_of(Signer.objects.get())

    hashes = [bytes(entry.hash) for entry in made.entries()]
    entered = [each for each in ENTERED.values() if isinstance(each, str)]
    assert delete_files(made.request.pk)
    told = {field["name"]: field["value"] for field in signed_entry(made).metadata["fields"]}
    assert told == dict.fromkeys(values, "erased") | {"remarks": None}
    found = {f"{table}.{column}" for table, column, each in columns() if any(value in each for value in entered)}
    assert found == {"signature_requests_field.options"}, "which are asked, and not what was chosen"
    assert ([bytes(entry.hash) for entry in made.entries()], broken_at(made.entries())) == (hashes, None)
    assert values_of(Signer.objects.get()) == {} and signed_entry(made).ip == VISITOR.ip, "the rest stays"
    assert not Field.objects.exclude(value=None).exists(), "what the sender gave"


def test_the_proof_states_label_value_who_and_when_and_holds_once_they_are_erased(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made = finished(signers=2, documents=2)
    found = proof_check(made)
    assert found.problems == []
    assert "The 48 values of fields are those that the journal has." in found.matches
    assert "The proof prints the value of each field." in found.matches
    text = printed_text(the_proof())
    for fact in ("YourIBAN", "DE8937040044", "UnterdenLinden1", "1,250.50", "1December2026", "groundfloor(left)"):
        assert text.count(fact) == 4
    assert text.count("leftempty") == 4 and text.count("nottickedfloor") == 4
    evidence = evidence_of(the_proof())
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

    entered = ("3704 0044", "10117 Berlin", "1250.50", "2026-12-01")
    hashes = [bytes(entry.hash) for entry in made.entries()]
    erase_signer(OPERATOR, made.signers[0].pk)
    assert all(each in everything() for each in entered), "the other signer entered the same"
    erased = signed_entry(made).metadata["fields"]
    assert {field["value"] for field in erased} == {"erased", None, f"signer-{made.signers[0].pk}@erased.invalid"}
    assert [field["name"] for field in erased] == [field["name"] for field in FIELDS] * 2
    erase_signer(OPERATOR, made.signers[1].pk)
    assert not [each for each in entered if each in everything() + caplog.text]
    assert not Signer.objects.exclude(fields_encrypted=None).exists()
    assert not Field.objects.exclude(value=None).exists(), "what the sender gave"
    assert [bytes(entry.hash) for entry in made.entries()] == hashes
    assert broken_at(made.entries()) is None and proof_check(made).problems == []


@pytest.mark.parametrize("locale", ["ar", "de", "hu"])
def test_in_other_languages_it_is_verified_all_the_same(locale: str) -> None:
    made = finished(locale=locale)
    assert proof_check(made).problems == []


def test_another_value_in_the_evidence_is_noticed() -> None:
    finished()
    evidence, text = evidence_of(the_proof()), printed_text(the_proof())
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


def test_a_proof_without_fields_says_nothing_of_them(made: Scene) -> None:
    sign(made)
    work_off()
    assert "fields" not in signed_entry(made).metadata
    evidence = evidence_of(the_proof())
    assert evidence and "fields" not in evidence["signers"][0]
    assert "Fieldsfilledin" not in printed_text(the_proof())
    assert not [each for each in proof_check(made).matches if "field" in each]


def test_the_first_opening_alone_is_noted(client: Client) -> None:
    made = scene(signers=2, mode="sequential")
    client.head(made.url())
    assert not FirstOpening.objects.exists(), "who asks for the head alone sees no documents"
    client.get(made.url(), REMOTE_ADDR="192.0.2.7")
    first = FirstOpening.objects.get()
    assert (first.signer_id, first.ip) == (made.signers[0].pk, "192.0.2.7")
    client.get(made.url(), REMOTE_ADDR="192.0.2.8")
    assert FirstOpening.objects.get() == first and FirstOpening.objects.get().opened_at == first.opened_at
    client.get(made.url(1))
    assert FirstOpening.objects.count() == 2, "whose turn is still to come may read, and did"
    assert made.events() == ["signature_request.created"]
    FirstOpening.objects.all().delete()
    sign(made)
    client.get(made.url())
    assert not FirstOpening.objects.exists(), "a page without documents is no opening"


def test_wrong_codes_are_noted_with_their_time(client: Client, made: Scene) -> None:
    wrong = {"code": f"{(int(made.code()) + 1) % 10**6:06d}", "consent": True}
    before = clock.now()
    for _ in range(7):  # two of them are refused without being compared
        client.post(made.url(0, "/signature"), wrong, content_type="application/json")
    noted = RefusedCode.objects.order_by("id")
    assert [code.signer_id for code in noted] == [made.signers[0].pk] * 5
    assert all(before <= code.refused_at <= clock.now() for code in noted)
    assert made.events() == ["signature_request.created", "signer.otp_sent"]


def test_the_proof_and_its_evidence_state_them(client: Client) -> None:
    made = scene(signers=2)
    client.get(made.url(), REMOTE_ADDR="192.0.2.7")
    wrong = {"code": f"{(int(made.code()) + 1) % 10**6:06d}", "consent": True}
    client.post(made.url(0, "/signature"), wrong, content_type="application/json")
    for position in (0, 1):
        sign(made, position)
    seal(made.request_documents[0].pk)
    prove(made.request.pk)
    content = the_proof()
    opened = clock.iso_milliseconds(FirstOpening.objects.get().opened_at)
    refused = clock.iso_milliseconds(RefusedCode.objects.get().refused_at)
    evidence = evidence_of(content)
    assert evidence
    [first, second] = evidence["signers"]
    assert (first["first_opening"], first["refused_codes"]) == ({"at": opened, "ip": "192.0.2.7"}, [refused])
    assert "first_opening" not in second and second["refused_codes"] == []
    printed = printed_text(content)
    assert f"Pagefirstopened{opened.replace('T', '').replace('Z', 'UTC')}192.0.2.7" in printed
    assert f"Codesrefused{refused.replace('T', '').replace('Z', 'UTC')}" in printed
    created = clock.iso_milliseconds(made.entries()[0].created_at)
    assert evidence["request"]["created_at"] == created
    assert f"Created{created.replace('T', '').replace('Z', 'UTC')}" in printed


def replace_upload(made: Scene, number: int, content: bytes) -> None:
    document = made.request_documents[number - 1].document
    store.put(document.object_key, content)
    document.sha256, document.file_size = tokens.sha256(content), len(content)
    document.save()


def test_several_documents_and_signers() -> None:
    files = files_of(finish(scene(signers=3, documents=3)))
    result = tied(files)
    assert result.ok, result.problems
    assert sum("begins with" in sentence for sentence in result.matches) == 3
    assert sum("certificates of signed-" in sentence for sentence in result.matches) == 3
    del files["signed-2.pdf"]
    fewer = tied(files)
    assert fewer.ok and [sentence for sentence in fewer.notes if 'the signed file of "contract-2.pdf"' in sentence]


def test_two_documents_of_the_same_bytes() -> None:
    """The proof matches whether the upload is given once or twice."""
    made = scene(documents=2)
    replace_upload(made, 2, made.uploads[0])
    files = files_of(finish(made))
    assert files["uploaded-1.pdf"] == files["uploaded-2.pdf"]
    assert tied(files).ok, tied(files).problems
    del files["uploaded-1.pdf"]
    assert tied(files).ok, tied(files).problems


def test_an_upload_that_had_to_be_rewritten(made: Scene) -> None:
    damaged = paper(text("A contract", 72, 700)).replace(b"endobj", b"endobx", 1)
    replace_upload(made, 1, damaged)
    files = files_of(finish(made))
    assert SealedDocument.objects.get().facts["method"] == "normalised"
    assert not files["signed-1.pdf"].startswith(damaged)
    result = tied(files)
    assert result.ok, result.problems
    assert "uploaded-1.pdf had to be rewritten before it was sealed, as the journal says." in result.matches


@pytest.mark.parametrize("level", ["B-B", "B-T", "B-LTA"])
def test_the_evidence_holds_the_certificates_of_every_level(level: str, settings: Any) -> None:
    fields: dict[str, Any] = {"seal_level": level} | ({"timestamp_authorities": []} if level == "B-B" else {})
    settings.PARAPH = settings.PARAPH.model_copy(update=fields)
    files = files_of(finish(scene()))
    result, evidence = tied(files), evidence_of(files["proof.pdf"])
    assert result.ok, result.problems
    assert evidence is not None
    (document,) = evidence["documents"]
    kinds = {"B-B": {"seal"}, "B-T": {"seal", "timestamp"}, "B-LTA": {"seal", "timestamp", "archive_timestamp"}}
    assert set(document["certificates"]) == kinds[level] and document["seal"]["level"] == level
    assert "certificates" not in document["seal"]
    assert set(evidence["certificates"]) == {digest for chain in document["certificates"].values() for digest in chain}


CONTRACT = paper(text("I pay 1 EUR {{sign}}", 72, 700))
BEFORE_HEADER = b"a line that no PDF begins with\n" + CONTRACT
WRONG_TABLE = re.sub(rb"(?m)^0000000(\d{3}) 00000 n", rb"0000001\1 00000 n", CONTRACT)


@pytest.mark.parametrize("content", [BEFORE_HEADER, WRONG_TABLE])
def test_signers_see_what_is_sealed(client: Client, content: bytes, made: Scene) -> None:
    [row] = made.request_documents
    row.document = document = uploaded(made.scope(), content)
    row.save()
    assert document.method == "normalised" and store.get(document.object_key) == content
    shown = store.get(document.shown_key)
    assert shown != content and tokens.sha256(shown) == document.shown_sha256 and len(shown) == document.prepared_size

    picture = client.get(made.url(rest=f"/documents/{document.pk}/pages/1.webp"))
    assert picture.content == render_page(shown, 1, 2.0)

    files = files_of(finish(made))
    signed = files["signed-1.pdf"]
    assert signed.startswith(shown)
    seal = Entry.objects.get(event_type="signature_request.pades_signed").stated
    assert SealedDocument.objects.get().facts["method"] == seal["method"] == "normalised"
    assert seal["uploaded_pdf_sha256"] == tokens.sha256(content).hex()
    assert (seal["prepared_pdf_sha256"], seal["prepared_pdf_size"]) == (tokens.sha256(shown).hex(), len(shown))
    result = tied(files)
    assert result.ok, result.problems
    assert "signed-1.pdf begins with the file that stood in for uploaded-1.pdf, as the journal says." in result.matches


def test_the_journal_names_it_before_anybody_signs_and_tags_are_searched_in_it() -> None:
    scope = scene().scope()
    document = uploaded(scope, BEFORE_HEADER)
    stamp = {"type": "coordinates", "value": {"page_number": 1, "x": 50, "y": 50}}
    stamps = [{"signer_ref": ref, "stamps": [stamp]} for ref in ("ada", "grace")]
    given = payload(document.pk) | {"documents": [{"id": document.pk, "signers": stamps}]}
    made = create(scope, given, Sender(VISITOR))
    created = Entry.objects.get(request=made, event_type="signature_request.created").metadata
    told = {"document_id": document.pk, **document.preparation_facts()}
    assert created["prepared_documents"] == [told] and "documents" not in created
    store.delete(document.object_key)
    tag = MagicFieldStamp(type="magic_field", value=Tag(tag="{{sign}}"))
    tagged = DocumentInput(id=document.pk, signers=[Assignment(signer_ref="a", stamps=[tag])])
    assert len(place(tagged, "documents[0]", document, Problems()).placements) == 1
