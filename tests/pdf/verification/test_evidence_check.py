"""A proof, its signed file and its upload: what ties them together, and every way in which they can disagree."""

import base64
import hashlib
import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.keys import KeyKind
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.typesetting.proof import proof
from paraph.pdf.verification.evidence_check import check_evidence
from paraph.pdf.verification.proof_file import check_journal
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import PROOF, authority, sealed
from tests.pdf.typesetting.test_proof import ANNA, AT, BO, CONTENT

Change = Callable[[Any], None]
SIGNERS = [{"id": 11, "full_name": ANNA.name, "email": ANNA.email}, {"id": 12, "full_name": BO.name, "email": BO.email}]


@cache
def uploaded() -> bytes:
    return paper(text("A contract", 100, 700))


@cache
def signed() -> bytes:
    return sealed(uploaded(), at=clock.now()).content


def evidence(signed_sha256: str | None = None) -> dict[str, Any]:
    digest = signed_sha256 or hashlib.sha256(signed()).hexdigest()
    seal = {"signed_pdf_sha256": digest, "method": "appended"}
    chain = (authority("p-256").sealing_key.certificate, authority("p-256").root)
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
        line = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        journal.append({**entry, "hash": hashlib.sha256(line.encode()).hexdigest()})
    return {
        "format": "paraph-evidence/2",
        "request": {"id": PROOF.request_id, "environment": PROOF.environment},
        "signers": list(SIGNERS),
        "documents": [document],
        "certificates": {hashlib.sha256(link).hexdigest(): base64.b64encode(link).decode() for link in chain},
        "journal": journal,
    }


def proven(content: dict[str, Any], printed: str | None = None, **how: Any) -> bytes:
    """``how``: sealed otherwise than the service seals."""
    last = printed or content["journal"][-1]["hash"]
    made = proof(replace(CONTENT, evidence=content, journal_hash=last))
    return sealed(made, **{"key": authority("p-256").proof_key, "purpose": PROOF, "at": clock.now(), **how}).content


def checked(proof_file: bytes, **files: bytes) -> EvidenceCheck:
    given = {"signed.pdf": signed(), "uploaded.pdf": uploaded(), "proof.pdf": proof_file}
    return check_evidence(given | {f"{name}.pdf": pdf for name, pdf in files.items()}, [authority("p-256").root])


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


def put(*path: Any, value: Any) -> Change:
    """Change one value of evidence or a journal."""

    def change(content: Any) -> None:
        *way, last = path
        for step in way:
            content = content[step]
        content[last] = value

    return change


def drop(*path: Any) -> Change:
    def change(content: Any) -> None:
        *way, last = path
        for step in way:
            content = content[step]
        del content[last]

    return change


def _chain(kind: str, key: str, *roots: KeyKind) -> Change:
    """State another chain of certificates."""

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
        (drop("journal", 0), "The journal is broken at entry 1."),
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
        (drop("certificates"), _LACKS),
        (drop("documents", 0, "seal"), _LACKS),
    ],
)
def test_changed_evidence_is_told(change: Change, problem: str) -> None:
    content = evidence()
    change(content)
    result = checked(proven(content))
    assert not result.ok and problem in result.problems


def test_openings_and_refused_codes_are_compared_with_the_pages() -> None:
    at = "2026-11-21T14:05:09.123Z"  # which the proof prints as another time, of a signature
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


@pytest.mark.parametrize("kind", ["signed", "uploaded"])
def test_a_changed_file_is_told(kind: str) -> None:
    result = checked(proven(evidence()), **{kind: {"signed": signed(), "uploaded": uploaded()}[kind] + b"\n"})
    assert f'No file that was given is the {kind} file of "c.pdf": none has its digest.' in result.problems
    assert f"The proof says nothing of {kind}.pdf." in result.problems


def test_a_changed_proof_is_told() -> None:
    result = checked(proven(evidence()) + b"\n% more\n")
    assert not result.ok and any(problem.startswith("proof.pdf: ") for problem in result.problems)


def test_a_signed_file_that_does_not_begin_with_the_upload() -> None:
    other = sealed(paper(text("Another contract", 100, 700)), at=clock.now()).content
    result = checked(proven(evidence(hashlib.sha256(other).hexdigest())), signed=other)
    assert result.problems == ["signed.pdf does not begin with the bytes of uploaded.pdf."]


def test_without_a_proof() -> None:
    result = check_evidence({"signed.pdf": signed(), "uploaded.pdf": uploaded()}, [authority("p-256").root])
    assert result.problems == ["One proof file is needed; 0 of the files are proofs."]


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
        return checked(sealed(typeset, key=authority("p-256").proof_key, purpose=PROOF, at=clock.now()).content)

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
    """A plain entry, and one with commitments."""
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


def hashed(facts: dict[str, Any]) -> str:
    line = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(line.encode()).hexdigest()


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
        drop(1, "salts"),
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
