"""The proof names every fact of rule 2.2, for every script and size, and never lets text run off the page."""

import io
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pikepdf
import pypdfium2 as pdfium
import pytest

from paraph.pdf.typesetting.proof import (
    JournalLine,
    ProofContent,
    ProofDocument,
    ProofField,
    ProofSeal,
    ProofSigner,
    proof,
    verdict,
)
from paraph.pdf.typesetting.proof_words import metadata_label, metadata_values
from paraph.pdf.verification.proof_file import printed_text
from paraph.words import LOCALES, date, direction, of
from tests.independent import need
from tests.pdf.pictures import DRAWN, ink_box, pictures, squeezed, texts

AT = datetime(2026, 11, 21, 14, 5, 9, 123000, tzinfo=UTC)
UPLOADED, SIGNED, LAST = "a1" * 32, "b2" * 32, "c3" * 32
CONSENT = "I have read the documents and sign them electronically; the exact words stand here."
AGENT = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"
SEAL = ProofSeal(
    algorithm="RSASSA_PKCS1_V1_5_SHA_256",
    key_id="local:9f86d081884c7d65",
    sealed_at=AT + timedelta(minutes=1),
    timestamped_at=AT + timedelta(minutes=1, milliseconds=456),
    timestamp_authority="Example Timestamp Authority",
    timestamp_policy_oid="1.3.6.1.4.1.99999.1.2",
)
ANNA = ProofSigner("Anna-Maria Rossi", "anna@example.org", 1, "email", "anna@example.org", AT, "203.0.113.7", AGENT)
BO = ProofSigner("Bo Łukasiewicz", "bo@example.org", 2, "sms", "+33612345678", AT, signature=DRAWN)
NOTED = [
    {"document_id": 7, "prints_differently": [2, 3], "can_change": ["scripts", "hover_annotations"]},
    {"document_id": 8, "prints_differently": [1], "print_unknown": 1, "can_change": []},
    {"document_id": 9, "prints_differently": [], "drawn_differently": [{"page_number": 4}], "can_change": []},
]
SENT = {"provider": "sms", "recipient": "+33612345678", "resend": True, "acknowledgement": "SM-77"}
SENT_AT = AT - timedelta(minutes=2, milliseconds=3)
SEALED = {"signed_pdf_sha256": SIGNED, "nested": {"a": [1]}}
JOURNAL = [
    JournalLine(1, "signature_request.created", AT - timedelta(hours=1), metadata={"documents": NOTED}),
    JournalLine(2, "signer.otp_sent", SENT_AT, BO.name, "198.51.100.4", metadata=SENT),
    JournalLine(
        3, "signer.signed", AT, ANNA.name, "203.0.113.7", AGENT, {"consent_notice": CONSENT, "documents_count": 1}
    ),
    JournalLine(4, "signature_request.pades_signed", AT, metadata=SEALED),
]
CONTENT = ProofContent(
    request_id=1042,
    organization="Acme & Söhne",
    environment="production",
    mode="sequential",
    created_at=AT - timedelta(hours=1),
    completed_at=AT,
    issued_at=AT + timedelta(minutes=2),
    signers=[ANNA, BO],
    documents=[ProofDocument(7, "Vertrag.pdf", 3, UPLOADED, SIGNED, SEAL)],
    journal=JOURNAL,
    journal_hash=LAST,
    evidence={"request": {"id": 1042}, "name": "王 \u0000 é"},
    event_titles={"signer.otp_sent": "One-time code sent"},
    sender_events={"signature_request.created"},
)


def letters(text: str) -> str:
    """Return letters and digits only, as PDFium loses hyphens at the ends of lines."""
    return "".join(filter(str.isalnum, text))


def whole_text(content: ProofContent) -> str:
    return squeezed("".join(texts(proof(content))))


@cache
def plain() -> str:
    return whole_text(CONTENT)


def test_who_signed_without_a_code_is_not_said_to_have_had_one() -> None:
    """A test in the sandbox signs without a code; the address is named all the same."""
    without = replace(CONTENT, signers=[replace(ANNA, channel="", destination="")], environment="sandbox")
    assert squeezed("One-time code") + "e-mail" in plain()
    told = whole_text(replace(without, journal=CONTENT.journal[2:]))
    assert squeezed("One-time code") not in told and "anna@example.org" in told
    assert squeezed("at least one signature was made by a test, without a one-time code.") in told
    assert squeezed("after entering") not in told


@pytest.mark.parametrize("locale", LOCALES)
def test_approvals_by_a_test_are_told_where_somebody_approved(locale: str) -> None:
    words = of("proof", locale)
    act = replace(ANNA, channel="", destination="")
    signed = replace(CONTENT, signers=[act, BO], locale=locale)
    approved = replace(signed, signers=[replace(act, signature=None), BO])
    assert verdict(signed, words).startswith(words["signed_by_test"])
    assert verdict(approved, words).startswith(words["signed_or_approved_by_test"])


FACTS = [
    "Request 1042",
    "Acme & Söhne",
    "production",
    "one after the other",
    "Both signers have signed",
    "Anna-Maria Rossi",
    "e-mail → anna@example.org",
    "SMS → +33612345678",
    "203.0.113.7",
    AGENT,
    "Vertrag.pdf",
    "Pages 3",
    f"SHA-256 of the uploaded file {UPLOADED}",
    f"SHA-256 of the signed file {SIGNED}",
    "RSASSA_PKCS1_V1_5_SHA_256",
    "local:9f86d081884c7d65",
    "2026-11-21 14:06:09.579 UTC",
    "Timestamp issued by Example Timestamp Authority",
    "policy 1.3.6.1.4.1.99999.1.2",
    "14:03:09.120 UTC One-time code sent",
    f"“{CONSENT}”",
    "sent to: +33612345678",
    "sent again: yes",
    "can look different from what was signed: document 7 has pages that print differently: 2, 3; parts "
    "that can change: "
    "scripts, comments that appear or disappear under the mouse",
    "document 8 has pages that print differently: 1; pages not compared with their print: 1",
    "SM-77",
    'nested: {"a": [1]}',
    f"Hash of the last entry {LAST}",
    "sha256sum signed.pdf",
    "Page 1 of",
]


def test_every_fact_is_in_the_proof() -> None:
    assert [fact for fact in FACTS if squeezed(fact) not in plain()] == []


def test_journal_lines_are_attributed_by_name() -> None:
    text = plain()
    journal = text[text.index("Attributedto") :]
    for event, who in [
        ("signature_request.created", "Acme&Söhne"),
        ("signer.otp_sent", "BoŁukasiewicz"),
        ("signer.signed", "Anna-MariaRossi"),
        ("signature_request.pades_signed", "Service"),
    ]:
        after = journal[journal.index(event) :]
        following = after[: after.find("2026-11-21", 1)]
        assert who in following


def test_a_day_is_written_once_and_events_in_one_piece() -> None:
    text = "\n".join(texts(proof(CONTENT)))
    journal = text[text.index("Attributed to") : text.index("Hash of the last entry")]
    assert journal.count("2026-11-21") == 1
    assert "signature_request.created" in journal and "signature_request.pades_signed" in journal
    later = [replace(line, at=line.at + timedelta(days=number)) for number, line in enumerate(CONTENT.journal)]
    assert all(f"2026-11-2{day}" in whole_text(replace(CONTENT, journal=later)) for day in "1234")


@pytest.mark.parametrize("documents", range(1, 7))
def test_no_line_of_the_journal_is_left_behind_on_a_page(documents: int) -> None:
    pages = texts(proof(replace(CONTENT, documents=[CONTENT.documents[0]] * documents)))
    [page] = [page for page in pages if "Audit journal" in page]
    assert "signature_request.created" in page and "signer.otp_sent" in page


def test_signatures_are_shown_and_named_as_they_are_sealed() -> None:
    tap = replace(ANNA, signature={"type": "drawn", "strokes": [[[0.5, 0.5]]]})
    for signer, kind in [(ANNA, "name,typed"), (BO, "drawn"), (tap, "name,typed")]:
        text = whole_text(replace(CONTENT, signers=[signer]))
        assert ("name,typed" in text, "drawn" in text) == (kind == "name,typed", kind == "drawn")
    [typed, drawn] = [
        next(pictures(proof(replace(CONTENT, signers=[replace(ANNA, signature=mark)]))))
        for mark in (ANNA.signature, DRAWN)
    ]
    assert typed.tobytes() != drawn.tobytes()


def test_what_else_a_signer_did_and_how_the_name_is_written_is_in_the_proof() -> None:
    """A name in Han characters is not read as Mandarin, but gives way to the address."""
    opened, refused = AT - timedelta(minutes=9), [AT - timedelta(minutes=2), AT - timedelta(minutes=1)]
    seen = replace(ANNA, opened_at=opened, opened_ip="192.0.2.99", refused_codes=refused)
    fields = [ProofField("Lease.pdf", "Remarks", ""), ProofField("Lease.pdf", "#b[x] *y*", "$z$ @a")]
    han = replace(ANNA, name="\U00030000\U00030001", email="han@example.org")
    signers = [seen, replace(ANNA, fields=fields), replace(ANNA, name="ꦗꦮ"), han]
    text = whole_text(replace(CONTENT, signers=signers))
    assert "Pagefirstopened2026-11-2113:56:09.123UTC192.0.2.99" in text
    assert "Codesrefused2026-11-2114:03:09.123UTC2026-11-2114:04:09.123UTC" in text
    assert "Pagefirstopened" not in plain() and "Codesrefused" not in plain()
    assert "Remarksleftempty" in text and "#b[x]*y*$z$@a" in text
    assert "writtenintransliteration" in text
    assert "theaddressstandsinplaceofthename" in text and text.count(han.email) >= 2


def test_entries_of_the_journal_say_in_words_what_was() -> None:
    sent, signed = JOURNAL[1:3]
    kept = {"acknowledgement": "captured:5", "provider": "email"}
    fields = [{"document_id": 7, "name": "iban", "type": "text", "value": "DE89"}] * 3
    journal = [replace(sent, title="Reminder sent", metadata=kept), replace(signed, metadata={"fields": fields})]
    text = whole_text(replace(CONTENT, journal=journal, environment="sandbox"))
    assert "Remindersent" in text, "a title of its own"
    assert "delivery:message5inthesandboxinbox" in text and "channel:e-mail" in text
    assert "fieldsfilledin:3" in text, "whose values stand above"
    assert [word for word in ("One-timecodesent", "captured", "iban", "'") if word in text] == []


@pytest.mark.parametrize("locale", LOCALES)
@pytest.mark.parametrize(("channel", "kept"), [("email", "kept_mail"), ("sms", "kept_sms")])
def test_what_nobody_took_is_said_to_be_kept(locale: str, channel: str, kept: str) -> None:
    """A proof of production names neither a sandbox nor a confirmation."""
    words = of("proof", locale)
    facts = {"acknowledgement": "captured:5", "provider": channel}
    assert list(metadata_values("acknowledgement", facts, "production", words)) == [words[kept].format(number=5)]
    assert metadata_label("acknowledgement", "captured:5", words) == words["meta_delivery"]
    taken = facts | {"acknowledgement": "250 Ok: queued"}
    assert list(metadata_values("acknowledgement", taken, "production", words)) == ["250 Ok: queued"]
    assert metadata_label("acknowledgement", "250 Ok", words) == words["meta_acknowledgement"]


def test_the_sandbox_is_marked_on_every_page_and_only_there() -> None:
    assert all("SANDBOX" in page for page in texts(proof(replace(CONTENT, environment="sandbox"))))
    assert "notlegallybinding" in whole_text(replace(CONTENT, environment="sandbox"))
    assert "SANDBOX" not in plain()


def test_a_missing_timestamp_is_said_plainly() -> None:
    bare = replace(SEAL, timestamped_at=None, timestamp_authority="", timestamp_policy_oid="")
    stamped = CONTENT.documents[0]
    text = whole_text(replace(CONTENT, documents=[replace(stamped, seal=bare)]))
    assert squeezed("No timestamp authority could be reached when this document was sealed.") in text
    assert squeezed("without a timestamp, because no timestamp authority could be reached") in text
    mixed = whole_text(replace(CONTENT, documents=[stamped, replace(stamped, seal=bare)]))
    assert squeezed("1 of 2 carry an RFC 3161 timestamp of Example Timestamp Authority") in mixed


def test_it_is_pdf_a_3b_with_the_evidence_attached() -> None:
    with pikepdf.open(io.BytesIO(proof(CONTENT))) as document:
        with document.open_metadata() as metadata:
            assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "B")
        attached = document.attachments["evidence.json"].get_file()
        assert json.loads(attached.read_bytes()) == CONTENT.evidence
        assert attached.mime_type == "application/json"
        assert str(document.Root.AF[0].AFRelationship) == "/Data"
        assert document.Root.MarkInfo.Marked, "tagged, for who listens to it"


def test_nothing_runs_off_the_page() -> None:
    endless = "x" * 300
    seal = replace(SEAL, key_id=f"arn:{endless}/{endless}", timestamp_authority=endless)
    metadata = {endless: endless, "consent_notice": f"{CONSENT} " * 200}
    signer = replace(ANNA, name=endless, email=f"{endless}@e.org", destination=f"{endless}@f.org", user_agent=endless)
    content = replace(
        CONTENT,
        organization=f"{endless} GmbH",
        signers=[signer],
        documents=[ProofDocument(7, f"{endless}.pdf", 3, UPLOADED, SIGNED, seal)],
        journal=[JournalLine(1, "signer.signed", AT, endless, "::1", endless * 2, metadata)],
    )
    pdf = proof(content)
    assert squeezed("".join(texts(pdf))).count("theexactwordsstandhere") >= 198, "at most cut by a page's end"
    for picture in pictures(pdf, scale=1):
        box = ink_box(picture)
        assert box is not None
        left, top, right, bottom = box
        assert left >= 50 and top >= 30 and right <= picture.width - 50 and bottom <= picture.height - 30


def test_markup_in_any_field_stays_text() -> None:
    text = '#panic("x") "))) #panic("y") \\u{41} *b* _i_ $x$ `r` a\\b "c" = h <x> @y a\x00b a\u202eb\u200bc'
    content = replace(
        CONTENT,
        organization=text,
        signers=[replace(ANNA, name=text, destination=text, user_agent=text)],
        documents=[replace(CONTENT.documents[0], name=text)],
        journal=[JournalLine(1, text, AT, text, text, text, {text: text, "consent_notice": text})],
    )
    expected = squeezed(re.sub("[\x00\u202e\u200b]", "", text))
    assert whole_text(content).count(expected) >= 10


@pytest.mark.thorough
def test_the_largest_request_fits() -> None:
    signers = [replace(ANNA, name=f"Signer Number{i}", order=i) for i in range(1, 101)]
    documents = [replace(CONTENT.documents[0], name=f"document-{i}.pdf") for i in range(1, 51)]
    journal = [replace(CONTENT.journal[i % 4], position=i, signer=signers[i % 100].name) for i in range(1, 1001)]
    pages = texts(proof(replace(CONTENT, signers=signers, documents=documents, journal=journal)))
    text = squeezed("".join(pages))
    assert "All100signershavesigned" in text
    assert all(f"SignerNumber{i}" in text for i in range(1, 101))
    assert all(f"document-{i}.pdf" in text for i in range(1, 51))
    assert f"Page {len(pages)} of {len(pages)}" in pages[-1]


def test_the_same_content_gives_the_same_bytes() -> None:
    first = proof(CONTENT)
    assert proof(replace(CONTENT, request_id=7)) != first
    assert proof(CONTENT) == first


def test_threads_do_not_meet() -> None:
    contents = [replace(CONTENT, request_id=9000 + number) for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(proof, contents))
    for content, pdf in zip(contents, results, strict=True):
        with pdfium.PdfDocument(pdf) as document:
            assert f"Request {content.request_id}" in document[0].get_textpage().get_text_bounded()


@pytest.mark.parametrize("locale", LOCALES)
def test_the_proof_speaks_every_language(locale: str) -> None:
    """Typst refuses a letter that no font has, and the facts stay as they are."""
    words = of("proof", locale)
    qualified = [replace(CONTENT.documents[0], seal=replace(SEAL, qualified=True))]
    content = replace(CONTENT, locale=locale, environment="sandbox", signers=[replace(ANNA, opened_at=AT), BO])
    pdf = proof(replace(content, documents=qualified))
    with pikepdf.open(io.BytesIO(pdf)) as document:
        assert str(document.Root.Lang) == locale
        assert json.loads(document.attachments["evidence.json"].get_file().read_bytes()) == CONTENT.evidence
    text = printed_text(pdf)
    for exact in (
        LAST,
        "anna@example.org",
        "+33612345678",
        "2026-11-2114:05:09.123UTC",
        UPLOADED,
        SIGNED,
        "203.0.113.7",
    ):
        assert exact in text
    if direction(locale) == "ltr":
        said = letters("".join(texts(pdf)))
        for name in ("title", "both_signed", "not_binding", "qualified_seal", "journal_note", "step_together"):
            assert letters(words[name]) in said, name
        assert letters(date(AT, locale)) in said
        assert letters(words["qualified_seal"]) not in letters("".join(texts(proof(content))))
    box = ink_box(next(pictures(pdf, scale=1)))
    assert box is not None and box[0] >= 55 and box[2] <= 541, "digests beside their names stay within the margins"


def test_an_arabic_proof_goes_from_right_to_left() -> None:
    """The title ends at the right edge; digests keep their order however they are broken."""
    endless = "a1" * 60
    line = replace(CONTENT.journal[3], metadata={"signed_pdf_sha256": endless})
    pdf = proof(replace(CONTENT, locale="ar", signers=[replace(ANNA, name="王小明")], journal=[line]))
    assert endless in printed_text(pdf)
    first = next(pictures(pdf, scale=1))
    title = ink_box(first.crop((0, 60, first.width, 105)))
    assert title is not None and title[2] > first.width - 62 and title[0] > first.width / 2


def test_sixty_values_over_three_pages_say_on_each_whose_they_are() -> None:
    long = ProofField("Lease.pdf", "Remarks", "What was agreed upon besides. " * 60)
    fields = [ProofField("Lease.pdf", f"Label {number}", f"Value {number}\nand more") for number in range(59)]
    told = replace(CONTENT, signers=[ANNA, replace(BO, fields=[*fields, long])])
    pages = [squeezed(page) for page in texts(proof(told))]
    filled = [page for page in pages if re.search(r"Label\d+Value\d+andmore", page)]
    assert len(filled) == 3
    for page in filled:
        assert page.count(squeezed(f"{BO.name}Signed2026-11-2114:05:09.123UTC·Lease.pdf")) == 1
    assert "".join(filled).count("andmore") == 59 and "Fieldsfilledin" in filled[0]
    for picture in pictures(proof(told), scale=1):
        box = ink_box(picture)
        assert box is not None and box[0] >= 50 and box[2] <= 546


def test_the_page_that_verifies_is_named_and_a_camera_reads_its_address(tmp_path: Path) -> None:
    address = "https://sign.example.org/verify"
    *_, page = pictures(proof(replace(CONTENT, verify_page=address)))
    page.getchannel("A").point(lambda ink: 255 - ink).save(tmp_path / "page.png")
    command = [need("zbarimg", "zbar-tools"), "--raw", "-q", str(tmp_path / "page.png")]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout == f"{address}\n"
    for locale in LOCALES:
        told = whole_text(replace(CONTENT, verify_page=address, locale=locale))
        turned = "".join(reversed(re.split(r"(\W+)", address)))  # as PDFium reads it within Arabic
        assert (turned if direction(locale) == "rtl" else address) in told, locale
    assert "/verify" not in whole_text(CONTENT)
