"""A proof, its signed file and its upload: what ties them together, and every way in which they can disagree."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.typesetting.proof import proof
from paraph.pdf.verification.evidence_check import check_evidence
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import PROOF, authority, sealed
from tests.pdf.typesetting.test_proof import ANNA, AT, BO, CONTENT

Change = Callable[[dict[str, Any]], None]


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
        "signers": SIGNERS,
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


def _event(content: dict[str, Any]) -> None:
    content["journal"][0]["event_type"] = "signer.signed"


def _entry_left_out(content: dict[str, Any]) -> None:
    del content["journal"][0]


def _seal_not_in_journal(content: dict[str, Any]) -> None:
    content["documents"][0]["seal"] = {"signed_pdf_sha256": "ab" * 32, "method": "appended"}


def _no_documents(content: dict[str, Any]) -> None:
    content["documents"] = []


def _nobody_signed(content: dict[str, Any]) -> None:
    content["signers"] = []


def _another_signer(content: dict[str, Any]) -> None:
    content["signers"] = [SIGNERS[0] | {"id": 99, "full_name": "Eve"}, SIGNERS[1]]


def _another_address(content: dict[str, Any]) -> None:
    content["signers"] = [SIGNERS[0] | {"email": "eve@example.org"}, SIGNERS[1]]


def _another_certificate(content: dict[str, Any]) -> None:
    other = authority("p-256").timestamp_key.certificate
    _state(content, "seal", other, authority("p-256").root)


def _chain_of_another_root(content: dict[str, Any]) -> None:
    _state(content, "seal", authority("p-256").sealing_key.certificate, authority("rsa-3072").root)


def _timestamp_that_is_not_there(content: dict[str, Any]) -> None:
    _state(content, "timestamp", authority("p-256").timestamp_key.certificate)


def _state(content: dict[str, Any], kind: str, *chain: bytes) -> None:
    content["documents"][0]["certificates"][kind] = [hashlib.sha256(link).hexdigest() for link in chain]
    for link in chain:
        content["certificates"][hashlib.sha256(link).hexdigest()] = base64.b64encode(link).decode()


def _certificate_under_another_digest(content: dict[str, Any]) -> None:
    first, second = content["certificates"]
    content["certificates"][first] = content["certificates"][second]


def _no_certificates(content: dict[str, Any]) -> None:
    del content["certificates"]


def _no_seal(content: dict[str, Any]) -> None:
    del content["documents"][0]["seal"]


_OTHERS = "The proof states other certificates than those of signed.pdf, or does not hold them all ({})."


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_event, "The journal is broken at entry 1."),
        (_entry_left_out, "The journal is broken at entry 1."),
        (_seal_not_in_journal, 'The journal names no such seal of "c.pdf".'),
        (_no_documents, "The proof names no document."),
        (_nobody_signed, "The proof names no signer."),
        (_another_signer, "The journal names 0 signatures by Eve; one is needed."),
        (_another_signer, "The journal names signatures by others than the signers: 11."),
        (_another_address, "The proof does not print eve@example.org."),
        (_another_certificate, _OTHERS.format("seal")),
        (_chain_of_another_root, _OTHERS.format("seal")),
        (_timestamp_that_is_not_there, _OTHERS.format("timestamp")),
        (_certificate_under_another_digest, "The evidence of proof.pdf lacks what evidence must state."),
        (_no_certificates, "The evidence of proof.pdf lacks what evidence must state."),
        (_no_seal, "The evidence of proof.pdf lacks what evidence must state."),
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
    assert "The evidence of proof.pdf lacks what evidence must state." in checked(proven(content)).problems


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
