"""A proof is what the service sealed as one, by the hand that sealed its documents. Older proofs stay what they are."""

import base64
import hashlib
from pathlib import Path

import pytest

from paraph.kernel import clock
from paraph.keys import development_authority
from paraph.keys.certificates import read_roots
from paraph.keys.signing_key import LocalKey
from paraph.pdf.pki.purpose import Purpose, document_purpose, proof_purpose
from paraph.pdf.report import EvidenceCheck
from paraph.pdf.verification.evidence_check import check_evidence
from tests.keys.certified_keys import Root, make_key, make_root
from tests.pdf.sealed_files import PROOF, authority, sealed, sealed_without_purpose
from tests.pdf.verification.test_evidence_check import checked, evidence, proven, signed, uploaded

ISSUED_BEFORE = Path(__file__).parents[1] / "issued_before"
OWN = authority("p-256")


def issued_before() -> dict[str, bytes]:
    """The files of a request of a version whose seals did not say what they were for."""
    return {path.name: path.read_bytes() for path in ISSUED_BEFORE.glob("*.pdf")}


def test_a_proof_of_an_earlier_version_verifies_as_what_it_is() -> None:
    result = check_evidence(issued_before(), read_roots(ISSUED_BEFORE / "root.pem"))
    assert result.ok, result.problems
    for name in ("proof.pdf", "signed.pdf"):
        assert f"{name} was sealed before seals said what they were for." in result.matches


def test_seals_say_what_they_are_for() -> None:
    result = checked(proven(evidence()))
    assert result.ok, result.problems
    assert "The seal of proof.pdf says what it is for: proof of signature request 71 (production)." in result.matches
    assert "The seal of signed.pdf says what it is for: document of signature request 71 (production)." in (
        result.matches
    )
    assert result.to_json()["sealed"]["proof.pdf"]["purpose"] == PROOF.to_json()


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


def test_a_proof_of_today_needs_the_word_in_its_seal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.pdf.verification.test_evidence_check.sealed",
        lambda pdf, **how: _Content(sealed_without_purpose(pdf, **how)),
    )
    said = "proof.pdf: its seal does not say that it is a proof, which evidence of this format needs."
    assert checked(proven(evidence())).problems == [said]
    earlier = checked(proven(evidence() | {"format": "paraph-evidence/1"}, key=OWN.sealing_key))
    assert earlier.ok, earlier.problems


class _Content:
    def __init__(self, content: bytes) -> None:
        self.content = content


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
    files = {
        "signed.pdf": signed(),
        "uploaded.pdf": uploaded(),
        "proof.pdf": proven(evidence(), key=elsewhere.proof_key),
    }
    result = check_evidence(files, [OWN.root, elsewhere.root])
    assert any("were sealed by different organizations" in each for each in result.problems)


def test_who_sealed_can_be_asked_for() -> None:
    files = {"signed.pdf": signed(), "uploaded.pdf": uploaded(), "proof.pdf": proven(evidence())}
    names = ["Paraph Development Seal", hashlib.sha256(OWN.proof_key.certificate).hexdigest()]
    assert check_evidence(files, [OWN.root], signers=names).ok
    result = check_evidence(files, [OWN.root], signers=names[:1])
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
    files = {"signed.pdf": document, "uploaded.pdf": uploaded(), "proof.pdf": proven(content, key=proof_key)}
    return check_evidence(files, [document_key.chain[-1]])
