"""A customer cannot have the service seal a proof that the customer wrote, and have it called valid."""

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import pikepdf
import pytest

from paraph.keys import read_roots
from paraph.pdf.pki.certificate import Identity
from paraph.pdf.verification.verify import verify
from tests.attacks.conftest import Target
from tests.attacks.files import finished, verified
from tests.factories import pdf
from tests.pdf.pdf_factory import saved


@pytest.fixture(scope="module")
def genuine(target: Target) -> dict[str, bytes]:
    return finished(target.backend(), pdf())


def forged(proof: bytes) -> bytes:
    """A page and evidence that say that Mallory's victim signed: every digest and the chain of the journal agree."""
    with pikepdf.open(io.BytesIO(proof)) as document:
        evidence = json.loads(document.attachments["evidence.json"].get_file().read_bytes())
    evidence["signers"][0] |= {"full_name": "Victor Victim", "email": "victim@example.org"}
    previous = "00" * 32
    for entry in evidence["journal"]:
        entry.pop("salts", None)  # then its hash covers the values themselves
        entry.pop("format", None)
        facts = {key: value for key, value in entry.items() if key != "hash"} | {"previous_hash": previous}
        line = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        previous = hashlib.sha256(line.encode()).hexdigest()
        entry |= {"previous_hash": facts["previous_hash"], "hash": previous}
    return _printed(evidence, previous)


def _printed(evidence: dict[str, Any], last_hash: str) -> bytes:
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(595, 842))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    lines = ["Proof of signature", evidence["signers"][0]["email"], last_hash]
    text = " ".join(f"1 0 0 1 40 {800 - 20 * number} Tm ({line}) Tj" for number, line in enumerate(lines))
    page.obj.Contents = document.make_stream(f"BT /F1 9 Tf {text} ET".encode())
    document.attachments["evidence.json"] = json.dumps(evidence).encode()
    return saved(document)


@pytest.fixture(scope="module")
def posing(target: Target, genuine: dict[str, bytes]) -> bytes:
    """The forged proof, uploaded as a document, signed and sealed."""
    made = forged(genuine["proof.pdf"])
    sealed = finished(target.backend(), made)["signed.pdf"]
    assert sealed.startswith(made)
    return sealed


def test_a_forged_proof_that_was_uploaded_and_signed_proves_nothing(
    target: Target, genuine: dict[str, bytes], posing: bytes, tmp_path: Path
) -> None:
    files = {"signed": genuine["signed.pdf"], "uploaded": genuine["uploaded.pdf"]}
    honest = verified(tmp_path, target, proof=genuine["proof.pdf"], **files)
    assert honest.exit_code == 0 and honest.output.endswith("\nEverything matches.\n"), honest.output

    said = verified(tmp_path, target, proof=posing, **files)

    assert said.exit_code == 1 and said.output.endswith("\nNOT everything matches.\n"), said.output
    assert "proof.pdf carries evidence, but is no proof: its seal says that it is the document of" in said.output


def test_production_is_sealed_by_others(target: Target, genuine: dict[str, bytes]) -> None:
    folder = target.data_dir / "keys" / "development"
    fingerprints = {path.stem: Identity(read_roots(path)[0]).sha256 for path in folder.glob("*.pem")}
    roots = read_roots(folder / "root.pem")
    for name, pair in (("signed.pdf", "sandbox-sealing"), ("proof.pdf", "sandbox-proof")):
        found = verify(genuine[name], roots)
        assert found.ok and found.certificate and found.certificate.sha256 == fingerprints[pair]
