"""A proof, its signed file and its upload: what ties them together, and every way in which they can disagree. A file is
a proof if it was sealed as one, by the organization that sealed its documents; older proofs remain proofs."""

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.keys import KeyKind, development_authority
from paraph.keys.certificates import read_roots
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.typesetting.proof import proof
from paraph.pdf.verdict import SubIndication
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import check_journal
from tests.keys.certified_keys import Root, make_key, make_root
from tests.pdf.pdf_factory import flipped, paper, text
from tests.pdf.sealed_files import OWN, PROOF, authority, sealed, sealed_without_purpose, stamped
from tests.pdf.typesetting.test_proof import ANNA, AT, BO, CONTENT

Change = Callable[[Any], None]
ISSUED_BEFORE = Path(__file__).parents[1] / "issued_before"
SIGNERS = [{"id": 11, "full_name": ANNA.name, "email": ANNA.email}, {"id": 12, "full_name": BO.name, "email": BO.email}]


@cache
def uploaded() -> bytes:
    return paper(text("A contract", 100, 700))


@cache
def signed() -> bytes:
    return sealed(uploaded(), at=clock.now()).content


def hashed(facts: dict[str, Any]) -> str:
    line = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(line.encode()).hexdigest()


def evidence(signed_sha256: str | None = None) -> dict[str, Any]:
    digest = signed_sha256 or hashlib.sha256(signed()).hexdigest()
    seal = {"signed_pdf_sha256": digest, "method": "appended"}
    chain = (OWN.sealing_key.certificate, OWN.root)
    document = {
        "id": 7,
        "name": "c.pdf",
        "uploaded_sha256": hashlib.sha256(uploaded()).hexdigest(),
        "seal": seal,
        "certificates": {"seal": [hashlib.sha256(link).hexdigest() for link in chain]},
    }
    events: list[tuple[str, int | None, dict[str, Any]]] = [
        ("signature_request.created", None, {}),
        ("signer.signed", 11, {}),
        ("signer.signed", 12, {}),
        ("signature_request.pades_signed", None, seal),
    ]
    journal: list[dict[str, Any]] = []
    for position, (event, signer, metadata) in enumerate(events, start=1):
        previous = journal[-1]["hash"] if journal else "00" * 32
        entry = {"position": position, "event_type": event, "signer_id": signer, "metadata": metadata}
        entry["previous_hash"] = previous
        journal.append({**entry, "hash": hashed(entry)})
    return {
        "format": "paraph-evidence/2",
        "request": {"id": PROOF.request_id, "environment": PROOF.environment},
        "signers": list(SIGNERS),
        "documents": [document],
        "certificates": {hashlib.sha256(link).hexdigest(): base64.b64encode(link).decode() for link in chain},
        "journal": journal,
    }


def proven(content: dict[str, Any], printed: str | None = None, *, states_purpose: bool = True, **how: Any) -> bytes:
    """Return a sealed proof with this evidence. ``how``: options that differ from those of the service."""
    last = printed or content["journal"][-1]["hash"]
    made = proof(replace(CONTENT, evidence=content, journal_hash=last))
    given = {"key": OWN.proof_key, "purpose": PROOF, "at": clock.now(), **how}
    return sealed(made, **given).content if states_purpose else sealed_without_purpose(made, **given)


def checked(proof_file: bytes, *roots: bytes, signers: Sequence[str] = (), **files: Any) -> EvidenceCheck:
    """Check a proof. ``roots``: by default that of the tests; ``files``: those that replace files of the proof."""
    given = {"signed.pdf": signed(), "uploaded.pdf": uploaded(), "proof.pdf": proof_file}
    given |= {f"{name}.pdf": pdf for name, pdf in files.items()}
    return check_evidence(given, roots or [OWN.root], signers=signers)


def test_three_files_that_belong_together() -> None:
    result = checked(proven(evidence()))
    assert result.ok and result.problems == []
    assert "signed.pdf begins with uploaded.pdf." in result.matches
    assert "The journal's 4 entries follow from each other." in result.matches
    assert "The journal names one signature by each signer: Anna-Maria Rossi, Bo Łukasiewicz." in result.matches
    assert "The proof prints the address of each signer." in result.matches
    certificates = (
        "The proof holds the 2 certificates of signed.pdf, and they are those that made its seal and timestamps."
    )
    assert certificates in result.matches
    assert "The seal of proof.pdf says what it is for: proof of signature request 71 (production)." in result.matches
    assert "The seal of signed.pdf says what it is for: document of signature request 71 (production)." in (
        result.matches
    )
    assert result.to_json()["sealed"]["proof.pdf"]["purpose"] == PROOF.to_json()
    result = checked(proven(evidence()), authority("rsa-3072").root)
    assert result.verdict.sub_indication == result.to_json()["sub_indication"] == "NO_CERTIFICATE_CHAIN_FOUND"


def put(*path: Any, value: Any = ...) -> Change:
    """Return a change that sets one value of evidence or of a journal, or deletes it."""

    def change(content: Any) -> None:
        *way, last = path
        for step in way:
            content = content[step]
        content[last] = value
        if value is ...:
            del content[last]

    return change


def _chain(kind: str, key: str, *roots: KeyKind) -> Change:
    """Return a change that states another chain of certificates."""

    def change(content: dict[str, Any]) -> None:
        chain = [getattr(authority("p-256"), key).certificate, *(authority(root).root for root in roots)]
        content["documents"][0]["certificates"][kind] = [hashlib.sha256(link).hexdigest() for link in chain]
        for link in chain:
            content["certificates"][hashlib.sha256(link).hexdigest()] = base64.b64encode(link).decode()

    return change


def _certificate_under_another_digest(content: dict[str, Any]) -> None:
    first, second = content["certificates"]
    content["certificates"][first] = content["certificates"][second]


_ANOTHER_SIGNER = put("signers", 0, value=SIGNERS[0] | {"id": 99, "full_name": "Eve"})
_LACKS = "The evidence of proof.pdf lacks what evidence must state."
_OTHERS = "The proof states other certificates than those of signed.pdf, or does not hold them all ({})."


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (put("journal", 0, "event_type", value="signer.signed"), "The journal is broken at entry 1."),
        (put("journal", 0), "The journal is broken at entry 1."),
        (
            put("documents", 0, "seal", value={"signed_pdf_sha256": "ab" * 32, "method": "appended"}),
            'The journal names no such seal of "c.pdf".',
        ),
        (put("documents", value=[]), "The proof names no document."),
        (put("signers", value=[]), "The proof names no signer."),
        (_ANOTHER_SIGNER, "The journal names 0 signatures by Eve; one is needed."),
        (_ANOTHER_SIGNER, "The journal names signatures by others than the signers: 11."),
        (
            put("signers", 0, value=SIGNERS[0] | {"email": "eve@example.org"}),
            "The proof does not print eve@example.org.",
        ),
        (_chain("seal", "timestamp_key", "p-256"), _OTHERS.format("seal")),
        (_chain("seal", "sealing_key", "rsa-3072"), _OTHERS.format("seal")),
        (_chain("timestamp", "timestamp_key"), _OTHERS.format("timestamp")),
        (_certificate_under_another_digest, _LACKS),
        (put("certificates"), _LACKS),
        (put("documents", 0, "seal"), _LACKS),
    ],
)
def test_changed_evidence_is_told(change: Change, problem: str) -> None:
    content = evidence()
    change(content)
    result = checked(proven(content))
    assert not result.ok and problem in result.problems


def test_openings_and_refused_codes_are_compared_with_the_pages() -> None:
    at = "2026-11-21T14:05:09.123Z"  # the proof prints it, but as the time of a signature
    content = evidence()
    content["signers"] = [SIGNERS[0] | {"first_opening": {"at": at, "ip": ""}, "refused_codes": [at]}, SIGNERS[1]]
    result = checked(proven(content))
    assert result.ok and "The proof prints when pages were first opened and which codes were refused." in result.matches
    content["signers"][0]["refused_codes"].append("2026-11-21T03:00:00.000Z")
    result = checked(proven(content))
    name = SIGNERS[0]["full_name"]
    told = f"The proof does not print an opening of the page or a refused code: {name}, 2026-11-21T03:00:00.000Z."
    assert not result.ok and told in result.problems
    content["signers"][0]["first_opening"] = "yesterday"
    assert _LACKS in checked(proven(content)).problems


def test_another_hash_printed_than_attached() -> None:
    result = checked(proven(evidence(), printed="ab" * 32))
    assert result.problems == ["The proof does not print the journal's last hash."]


_MISSING = 'No file that was given is the {0} file of "c.pdf": none has its digest.'
_UNNAMED = "The proof says nothing of {0}.pdf."
FILES: dict[str, tuple[Callable[[], dict[str, bytes]], SubIndication, list[str]]] = {
    "another upload": (lambda: {"uploaded": uploaded() + b" "}, "HASH_FAILURE", [_MISSING, _UNNAMED]),
    "an altered document": (lambda: {"signed": flipped(signed(), 200)}, "HASH_FAILURE", [_MISSING, _UNNAMED]),
    "an altered proof": (lambda: {"proof": proven(evidence()) + b"%"}, "FORMAT_FAILURE", []),
    "one file more": (lambda: {"more": paper("")}, "SIGNED_DATA_NOT_FOUND", [_UNNAMED]),
    "another document, which holds": (lambda: {"signed": stamped()}, "SIGNED_DATA_NOT_FOUND", [_MISSING, _UNNAMED]),
    "no proof": (
        lambda: {"proof": signed()},
        "SIGNED_DATA_NOT_FOUND",
        ["One proof file is needed; 0 of the files are proofs."],
    ),
}
"""Files in the place of those of the proof, with what is told of them."""


@pytest.mark.parametrize("kind", FILES)
def test_another_file_is_told(kind: str) -> None:
    make, sub_indication, problems = FILES[kind]
    given: dict[str, Any] = make()
    [name] = given
    result = checked(proven(evidence()), **given)
    assert not result.ok and result.verdict.sub_indication == sub_indication, result.problems
    assert {each.format(name) for each in problems} <= set(result.problems)
    assert problems or any(each.startswith(f"{name}.pdf: ") for each in result.problems)


def test_a_signed_file_that_does_not_begin_with_the_upload() -> None:
    other = sealed(paper(text("Another contract", 100, 700)), at=clock.now()).content
    result = checked(proven(evidence(hashlib.sha256(other).hexdigest())), signed=other)
    assert result.problems == ["signed.pdf does not begin with the bytes of uploaded.pdf."]


@pytest.mark.parametrize("locale", ["ar", "de", "uk"])
def test_a_proof_in_any_language_is_read(locale: str) -> None:
    """Addresses that take several lines, openings and refused codes are found, and only those that are printed."""
    content, email = evidence(), f"{'an.address.' * 8}of+somebody@{'example.' * 6}org"
    opened, refused = AT - timedelta(minutes=9), AT - timedelta(minutes=1)
    visits: dict[str, Any] = {"first_opening": {"at": clock.iso_milliseconds(opened), "ip": ""}}
    visits["refused_codes"] = [clock.iso_milliseconds(refused)]
    content["signers"] = [SIGNERS[0] | {"email": email} | visits, SIGNERS[1]]
    seen = replace(ANNA, name="נועה", email=email, destination=email, opened_at=opened, refused_codes=[refused])

    def made(**printed: Any) -> EvidenceCheck:
        stated = {"signers": [seen, BO], "journal_hash": content["journal"][-1]["hash"]} | printed
        typeset = proof(replace(CONTENT, locale=locale, evidence=content, **stated))
        return checked(sealed(typeset, key=OWN.proof_key, purpose=PROOF, at=clock.now()).content)

    assert made().problems == []
    assert made(journal_hash="ab" * 32).problems == ["The proof does not print the journal's last hash."]
    other = replace(seen, email="o@e.org", destination="o@e.org", opened_at=AT)
    assert [problem.split(":")[0] for problem in made(signers=[other, BO]).problems] == [
        f"The proof does not print {email}.",
        "The proof does not print an opening of the page or a refused code",
    ]


Journal = list[dict[str, Any]]
SALTS = {"ip": "00" * 16, "metadata/recipient": "11" * 16, "metadata/recipients/1": "22" * 16}


def commitment(salt: str, value: str) -> str:
    return hashlib.sha256(bytes.fromhex(salt) + value.encode()).hexdigest()


def salted_journal() -> Journal:
    """Return a plain entry, and one with commitments."""
    plain = {"position": 1, "ip": "", "metadata": {}, "previous_hash": "00" * 32}
    first = {**plain, "hash": hashed(plain)}
    stated: dict[str, Any] = {
        "format": 2,
        "position": 2,
        "ip": "203.0.113.9",
        "metadata": {"recipient": "Zoë@example.com", "recipients": ["a@example.com", "b@example.com"], "resend": False},
        "previous_hash": first["hash"],
    }
    covered: dict[str, Any] = deepcopy(stated)
    covered["ip"] = commitment(SALTS["ip"], "203.0.113.9")
    covered["metadata"]["recipient"] = commitment(SALTS["metadata/recipient"], "Zoë@example.com")
    covered["metadata"]["recipients"][1] = commitment(SALTS["metadata/recipients/1"], "b@example.com")
    return [first, {**stated, "salts": dict(SALTS), "hash": hashed(covered)}]


def journal_check(entries: Journal) -> EvidenceCheck:
    result = EvidenceCheck()
    check_journal(result, entries, entries[-1]["hash"])
    return result


def test_it_follows_and_is_left_as_it_was() -> None:
    entries = salted_journal()
    assert journal_check(entries).problems == []
    assert entries == salted_journal()


def _commitment_in_place(entries: Any) -> None:
    entries[1]["metadata"]["recipients"][0] = commitment("33" * 16, "a@example.com")
    entries[1]["salts"]["metadata/recipients/0"] = "33" * 16


@pytest.mark.parametrize(
    "change",
    [
        put(1, "salts"),
        put(1, "ip", value="203.0.113.8"),
        put(1, "metadata", "recipients", 1, value="c@example.com"),
        put(1, "salts", "ip", value="01" * 16),
        put(1, "metadata", "resend", value=True),
        _commitment_in_place,
    ],
)
def test_whatever_is_changed_breaks_it(change: Change) -> None:
    entries = salted_journal()
    change(entries)
    assert journal_check(entries).problems == ["The journal is broken at entry 2."]


def issued_before() -> dict[str, bytes]:
    """Return the files of a request from a version whose seals did not state their purpose."""
    return {path.name: path.read_bytes() for path in ISSUED_BEFORE.glob("*.pdf")}


def test_a_proof_of_an_earlier_version_verifies_as_what_it_is() -> None:
    result = check_evidence(issued_before(), read_roots(ISSUED_BEFORE / "root.pem"))
    assert result.ok, result.problems
    for name in ("proof.pdf", "signed.pdf"):
        assert f"{name} was sealed before seals said what they were for." in result.matches


def test_evidence_under_the_seal_of_a_document_is_no_proof() -> None:
    for key in (OWN.sealing_key, OWN.proof_key):
        for format_ in ("paraph-evidence/1", "paraph-evidence/2"):
            result = checked(
                proven(evidence() | {"format": format_}, purpose=document_purpose(71, "production"), key=key)
            )
            assert result.problems == [
                "One proof file is needed; 0 of the files are proofs.",
                "proof.pdf carries evidence, but is no proof: its seal says that it is the document of signature "
                "request 71 (production).",
            ]


@pytest.mark.parametrize("purpose", [proof_purpose(72, "production"), proof_purpose(71, "sandbox")])
def test_a_proof_of_another_request_or_environment(purpose: Purpose) -> None:
    assert checked(proven(evidence(), purpose=purpose)).problems == [
        f"The seal of proof.pdf was made for another purpose: {purpose}."
    ]


@pytest.mark.parametrize("purpose", [document_purpose(72, "production"), document_purpose(71, "sandbox"), PROOF])
def test_a_document_of_another_request_or_environment_or_a_proof(purpose: Purpose) -> None:
    other = sealed(uploaded(), purpose=purpose, at=clock.now()).content
    result = checked(proven(evidence(hashlib.sha256(other).hexdigest())), signed=other)
    assert result.problems == [f"The seal of signed.pdf was made for another purpose: {purpose}."]


def test_a_proof_of_today_needs_the_word_in_its_seal() -> None:
    said = "proof.pdf: its seal does not say that it is a proof, which evidence of this format needs."
    assert checked(proven(evidence(), states_purpose=False)).problems == [said]
    before = proven(evidence() | {"format": "paraph-evidence/1"}, states_purpose=False, key=OWN.sealing_key)
    assert checked(before).ok, checked(before).problems


def test_a_document_that_was_sealed_before_an_update_and_proven_after_it() -> None:
    before = sealed_without_purpose(uploaded())
    result = checked(proven(evidence(hashlib.sha256(before).hexdigest())), signed=before)
    assert result.ok, result.problems
    assert "signed.pdf was sealed before seals said what they were for." in result.matches


def test_the_development_authority_seals_proofs_with_the_certificate_for_proofs() -> None:
    problems = checked(proven(evidence(), key=OWN.sealing_key)).problems
    assert len(problems) == 1 and problems[0].startswith("proof.pdf is not sealed by the certificate for proofs: ")


def test_the_certificate_for_proofs_seals_no_document() -> None:
    other = sealed(uploaded(), key=OWN.proof_key, at=clock.now()).content
    content = evidence(hashlib.sha256(other).hexdigest())
    result = checked(proven(content), signed=other)
    assert any(each.startswith("signed.pdf is sealed by a certificate for proofs, but") for each in result.problems)


def test_a_certificate_of_an_operator_seals_both() -> None:
    key = _operators_key(make_root(), "Acme")
    result = _checked_under(key, key)
    assert result.ok, result.problems
    assert "proof.pdf and signed.pdf were sealed by the same certificate." in result.matches


def test_a_proof_by_somebody_else_under_the_same_authority() -> None:
    root = make_root()
    assert _checked_under(_operators_key(root, "Acme"), _operators_key(root, "Acme")).ok  # a renewed certificate
    result = _checked_under(_operators_key(root, "Mallory"), _operators_key(root, "Acme"))
    assert not result.ok
    assert any("proof.pdf and signed.pdf were sealed by different organizations" in each for each in result.problems)


def test_the_same_name_under_another_root_is_another_organization(tmp_path: Path) -> None:
    elsewhere = development_authority(tmp_path, b"s" * 32)
    result = checked(proven(evidence(), key=elsewhere.proof_key), OWN.root, elsewhere.root)
    assert any("were sealed by different organizations" in each for each in result.problems)


def test_who_sealed_can_be_asked_for() -> None:
    names = ["Paraph Development Seal", hashlib.sha256(OWN.proof_key.certificate).hexdigest()]
    assert checked(proven(evidence()), signers=names).ok
    result = checked(proven(evidence()), signers=names[:1])
    assert not result.ok and any("It is not sealed by Paraph Development Seal." in each for each in result.problems)


def _operators_key(root: Root, name: str) -> LocalKey:
    key = make_key("p-256")
    return LocalKey(key, [root.issue(key.public_key(), name), root.certificate])


def _checked_under(proof_key: LocalKey, document_key: LocalKey) -> EvidenceCheck:
    document = sealed(uploaded(), key=document_key, at=clock.now()).content
    content = evidence(hashlib.sha256(document).hexdigest())
    chain = {hashlib.sha256(link).hexdigest(): link for link in (document_key.certificate, *document_key.chain)}
    content["documents"][0]["certificates"]["seal"] = list(chain)
    content["certificates"] = {digest: base64.b64encode(link).decode() for digest, link in chain.items()}
    return checked(proven(content, key=proof_key), document_key.chain[-1], signed=document)
