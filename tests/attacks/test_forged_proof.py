"""A customer cannot have the service seal a proof that the customer wrote."""

import hashlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pikepdf
import pytest

from tests.attacks.conftest import Target
from tests.pdf.papers import saved
from tests.scenarios.people import Backend, at, sign, signer
from tests.scene import pdf


def finished(backend: Backend, uploaded: bytes) -> dict[str, bytes]:
    """The files of a request whose one signer has signed."""
    document = backend.upload(uploaded)
    created = backend.create(
        mode="parallel",
        validity_days=7,
        signers=[signer("zoe", order=1)],
        documents=[{"id": document, "signers": [{"signer_ref": "zoe", "stamps": [at()]}]}],
    )
    assert sign(created["signers"][0]["signing_url"]).status_code == 200
    [urls] = backend.finalized(created["id"])["download_urls"]
    return {
        "uploaded.pdf": uploaded,
        "signed.pdf": httpx.get(urls["signed_url"]).content,
        "proof.pdf": httpx.get(urls["certificate_url"]).content,
    }


def verified(folder: Path, target: Target, **files: bytes) -> subprocess.CompletedProcess[str]:
    """What ``paraph verify`` says of the files, with the service's own roots."""
    for name, content in files.items():
        (folder / f"{name}.pdf").write_bytes(content)
    paths = [str(folder / f"{name}.pdf") for name in files]
    command = [sys.executable, "-m", "paraph", "verify", *paths, "--data-dir", str(target.data_dir)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def forged(proof: bytes) -> bytes:
    """A page and evidence that say that Mallory's victim signed: every digest and the chain of the journal agree."""
    with pikepdf.open(io.BytesIO(proof)) as document:
        evidence = json.loads(document.attachments["evidence.json"].get_file().read_bytes())
    evidence["signers"][0] |= {"full_name": "Victor Victim", "email": "victim@example.org"}
    previous = "00" * 32
    for entry in evidence["journal"]:
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
    document.attachments["evidence.json"] = pikepdf.AttachedFileSpec(document, json.dumps(evidence).encode())
    return saved(document)


@pytest.fixture(scope="module")
def genuine(target: Target) -> dict[str, bytes]:
    return finished(target.backend(), pdf())


def test_a_forged_proof_that_was_uploaded_and_signed_proves_nothing(
    target: Target, genuine: dict[str, bytes], tmp_path: Path
) -> None:
    upload = forged(genuine["proof.pdf"])
    sealed = finished(target.backend(), upload)["signed.pdf"]
    assert sealed.startswith(upload)

    said = verified(tmp_path, target, proof=sealed, signed=genuine["signed.pdf"], uploaded=genuine["uploaded.pdf"])
    assert said.returncode == 1, said.stdout
