"""A proof, its signed file and its upload: what ties them together, and every way in which they can disagree."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from paraph.kernel import clock
from paraph.pdf.proof import proof
from paraph.pdf.tie import Tie, tie
from tests.pdf.papers import paper, text
from tests.pdf.sealing import authority, sealed
from tests.pdf.test_proof import CONTENT

Change = Callable[[dict[str, Any]], None]


@cache
def uploaded() -> bytes:
    return paper(text("A contract", 100, 700))


@cache
def signed() -> bytes:
    return sealed(uploaded(), at=clock.now()).content


def evidence(signed_sha256: str | None = None) -> dict[str, Any]:
    digest = signed_sha256 or hashlib.sha256(signed()).hexdigest()
    seal = {"signed_pdf_sha256": digest, "method": "appended"}
    document = {"id": 7, "name": "c.pdf", "uploaded_sha256": hashlib.sha256(uploaded()).hexdigest(), "seal": seal}
    events = [("signature_request.created", {}), ("signature_request.pades_signed", seal)]
    journal: list[dict[str, Any]] = []
    for position, (event, metadata) in enumerate(events, start=1):
        previous = journal[-1]["hash"] if journal else "00" * 32
        entry = {"position": position, "event_type": event, "metadata": metadata, "previous_hash": previous}
        line = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        journal.append({**entry, "hash": hashlib.sha256(line.encode()).hexdigest()})
    return {"format": "paraph-evidence/1", "documents": [document], "journal": journal}


def proven(content: dict[str, Any], printed: str | None = None) -> bytes:
    last = printed or content["journal"][-1]["hash"]
    return sealed(proof(replace(CONTENT, evidence=content, journal_hash=last)), at=clock.now()).content


def tied(proof_file: bytes, **files: bytes) -> Tie:
    given = {"signed.pdf": signed(), "uploaded.pdf": uploaded(), "proof.pdf": proof_file}
    return tie(given | {f"{name}.pdf": pdf for name, pdf in files.items()}, [authority("p-256").root])


def test_three_files_that_belong_together() -> None:
    result = tied(proven(evidence()))
    assert result.ok and result.problems == []
    assert "signed.pdf begins with uploaded.pdf." in result.matches
    assert "The journal's 2 entries follow from each other." in result.matches


def _event(content: dict[str, Any]) -> None:
    content["journal"][0]["event_type"] = "signer.signed"


def _entry_left_out(content: dict[str, Any]) -> None:
    del content["journal"][0]


def _seal_not_in_journal(content: dict[str, Any]) -> None:
    content["documents"][0]["seal"] = {"signed_pdf_sha256": "ab" * 32, "method": "appended"}


def _no_documents(content: dict[str, Any]) -> None:
    content["documents"] = []


def _no_seal(content: dict[str, Any]) -> None:
    del content["documents"][0]["seal"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (_event, "The journal is broken at entry 1."),
        (_entry_left_out, "The journal is broken at entry 1."),
        (_seal_not_in_journal, 'The journal names no such seal of "c.pdf".'),
        (_no_documents, "The proof names no document."),
        (_no_seal, "The evidence of proof.pdf lacks what evidence must state."),
    ],
)
def test_changed_evidence_is_told(change: Change, problem: str) -> None:
    content = evidence()
    change(content)
    result = tied(proven(content))
    assert not result.ok and problem in result.problems


def test_another_hash_printed_than_attached() -> None:
    result = tied(proven(evidence(), printed="ab" * 32))
    assert result.problems == ["The proof does not print the journal's last hash."]


@pytest.mark.parametrize("kind", ["signed", "uploaded"])
def test_a_changed_file_is_told(kind: str) -> None:
    result = tied(proven(evidence()), **{kind: {"signed": signed(), "uploaded": uploaded()}[kind] + b"\n"})
    assert f'No file has the digest of the {kind} file of "c.pdf".' in result.problems
    assert f"The proof says nothing of {kind}.pdf." in result.problems


def test_a_changed_proof_is_told() -> None:
    result = tied(proven(evidence()) + b"\n% more\n")
    assert not result.ok and any(problem.startswith("proof.pdf: ") for problem in result.problems)


def test_a_signed_file_that_does_not_begin_with_the_upload() -> None:
    other = sealed(paper(text("Another contract", 100, 700)), at=clock.now()).content
    result = tied(proven(evidence(hashlib.sha256(other).hexdigest())), signed=other)
    assert result.problems == ["signed.pdf does not begin with the bytes of uploaded.pdf."]


def test_without_a_proof() -> None:
    result = tie({"signed.pdf": signed(), "uploaded.pdf": uploaded()}, [authority("p-256").root])
    assert result.problems == ["One proof file is needed; 0 of the files are proofs."]
