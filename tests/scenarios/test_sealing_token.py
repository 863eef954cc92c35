"""The whole job, over HTTP and with real processes, by a key that never leaves its token."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from paraph.keys.certificates import read_roots
from paraph.keys.development import root_file
from paraph.pdf.verification.evidence_check import check_evidence
from tests.cli.service import Service
from tests.contract import contract
from tests.independent import assert_cades, assert_sealed
from tests.keys.kinds import Placed, placed
from tests.scenarios.people import Backend, sign, signer, under

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Placed]:
    with pytest.MonkeyPatch.context() as patch, placed("pkcs11", "rsa", tmp_path_factory.mktemp("key"), patch) as made:
        yield made


@pytest.fixture(scope="module")
def service(key: Placed, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    settings = {
        "PARAPH_SANDBOX_SEALING_KEY": key.address,
        "PARAPH_SANDBOX_SEALING_CERTIFICATE": str(key.chain),
        "PARAPH_SANDBOX_SEALING_PASSPHRASE": key.passphrase,
        "SOFTHSM2_CONF": os.environ["SOFTHSM2_CONF"],
    }
    running = Service(tmp_path_factory.mktemp("service"), **settings)
    running.begin()
    yield running
    running.stop()


def test_everything_is_sealed_by_the_token(service: Service, key: Placed, tmp_path: Path) -> None:
    backend = Backend(service.base_url, service.key)
    uploaded = [contract(), contract() + b"\n% the second\n"]
    documents = [backend.upload(pdf, f"lease-{number}.pdf") for number, pdf in enumerate(uploaded)]
    stamps = [{"signer_ref": "landlord", "stamps": [under("{{signature:landlord}}")]}]
    created = backend.create(
        mode="parallel",
        validity_days=7,
        signers=[signer("landlord", order=1)],
        documents=[{"id": document, "signers": stamps} for document in documents],
    )
    assert sign(created["signers"][0]["signing_url"]).status_code == 200
    urls = backend.finalized(created["id"])["download_urls"]
    files = {f"signed-{number}.pdf": httpx.get(each["signed_url"]).content for number, each in enumerate(urls)}
    files |= {f"uploaded-{number}.pdf": pdf for number, pdf in enumerate(uploaded)}
    files["proof.pdf"] = httpx.get(urls[0]["certificate_url"]).content
    roots = [*read_roots(key.root.pem(tmp_path)), *read_roots(root_file(service.data_dir / "keys"))]
    result = check_evidence(files, roots)
    assert result.ok, result.problems
    for name in ("signed-0.pdf", "signed-1.pdf", "proof.pdf"):
        (tmp_path / name).write_bytes(files[name])
        assert_sealed(tmp_path / name, key.root.pem(tmp_path))
        assert_cades(tmp_path / name, key.root.pem(tmp_path))
    seals = [entry["metadata"] for entry in backend.journal(created["id"]) if "kms_key_id" in entry["metadata"]]
    assert len(seals) == 3
    for seal in seals:
        assert seal["kms_key_id"].startswith("pkcs11:token=seals%20") and "pin" not in seal["kms_key_id"]
        assert (seal["signing_algorithm"], seal["kms_request_id"]) == ("RSASSA_PKCS1_V1_5_SHA_256", "")
    assert {hashlib.sha256(files[f"signed-{number}.pdf"]).hexdigest() for number in (0, 1)} == {
        seal["signed_pdf_sha256"] for seal in seals if "signed_pdf_sha256" in seal
    }
    said = "".join(service.output)
    assert key.passphrase not in said
