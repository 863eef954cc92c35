"""The whole job, over HTTP and with real processes, by a key that a provider of remote seals keeps, and what others say
of its files."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from paraph.keys.certificates import read_roots
from paraph.keys.development import root_file
from paraph.pdf.verification.evidence_check import check_evidence
from tests.cli.service import Service
from tests.contract import contract
from tests.flow.issuer import Issuer, issuer
from tests.independent import assert_cades, page_text, pdfsig
from tests.keys.certified_keys import Root, make_key
from tests.keys.csc_service import CLIENT, Provider, provider
from tests.pdf.pki.qualified_certificates import COMPLIANCE, DEVICE, ESEAL, qualified
from tests.scenarios.people import Backend, sign, signer, under

pytestmark = pytest.mark.thorough
_PYHANKO = Path(sys.executable).with_name("pyhanko")


@pytest.fixture(scope="module")
def authority() -> Iterator[Issuer]:
    with issuer() as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("provider")


@pytest.fixture(scope="module")
def remote(authority: Issuer, folder: Path) -> Iterator[Provider]:
    root, key = Root(authority.key, authority.root), make_key("p-256")
    statements = (COMPLIANCE, DEVICE, ESEAL)
    own = qualified(*statements, root=root, public=key.public_key(), revocations=f"{authority.url}crl")
    with (
        pytest.MonkeyPatch.context() as patch,
        provider("v2", folder, patch, key=key, root=root, certificates=[own]) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def service(remote: Provider, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    (folder / "pin").write_text(f"{CLIENT.pin}\n")
    settings = {
        "PARAPH_SANDBOX_SEALING_KEY": remote.address,
        "PARAPH_SANDBOX_SEALING_CERTIFICATE": str(folder / "root.pem"),
        "PARAPH_CSC_CLIENT_ID": CLIENT.id,
        "PARAPH_CSC_CLIENT_SECRET": CLIENT.secret,
        "PARAPH_CSC_PIN_FILE": str(folder / "pin"),
        "SSL_CERT_FILE": str(folder / "tls" / "root.pem"),
    }
    running = Service(tmp_path_factory.mktemp("service"), **settings)
    running.begin()
    yield running
    running.stop()


def test_everything_is_sealed_by_the_provider(service: Service, remote: Provider, folder: Path, tmp_path: Path) -> None:
    at_start = remote.signed
    assert at_start == 1  # the test file of the start
    backend, uploaded = Backend(service.base_url, service.key), contract()
    created = backend.create(
        mode="parallel",
        validity_days=7,
        signers=[signer("landlord", order=1)],
        documents=[
            {
                "id": backend.upload(uploaded),
                "signers": [{"signer_ref": "landlord", "stamps": [under("{{signature:landlord}}")]}],
            }
        ],
    )
    assert sign(created["signers"][0]["signing_url"]).status_code == 200
    (urls,) = backend.finalized(created["id"])["download_urls"]
    files = {"uploaded.pdf": uploaded, "signed.pdf": httpx.get(urls["signed_url"]).content}
    files["proof.pdf"] = httpx.get(urls["certificate_url"]).content
    assert remote.signed == at_start + 2 and remote.asked.count("credentials/authorize") == remote.signed
    own, ours = folder / "root.pem", root_file(service.data_dir / "keys")
    result = check_evidence(files, [*read_roots(own), *read_roots(ours)])
    assert result.ok, result.problems
    for name in ("signed.pdf", "proof.pdf"):
        (tmp_path / name).write_bytes(files[name])
        assert_cades(tmp_path / name, own, 0)
        said = pdfsig(tmp_path / name, own).split("Signature #")[1]
        assert "Signature is Valid" in said and "Certificate is Trusted" in said, said
        assert_ades(tmp_path / name, own, ours)
    assert "Qualified electronic seal, as its certificate states" in " ".join(page_text(tmp_path / "proof.pdf").split())
    seals = [entry["metadata"] for entry in backend.journal(created["id"]) if "kms_key_id" in entry["metadata"]]
    assert {(seal["kms_key_id"], seal["level"]) for seal in seals} == {(remote.address, "B-LTA")} and len(seals) == 2
    told = "".join(service.output)
    assert CLIENT.secret not in told and f'"{CLIENT.pin}"' not in told


def assert_ades(pdf: Path, *roots: Path) -> None:
    """pyHanko finds the seal to hold as ETSI EN 319 102-1 has it, and nothing after it but what long-term validation
    adds."""
    trust = [part for root in roots for part in ("--trust", str(root))]
    command = [str(_PYHANKO), "sign", "adesverify", *trust, "--trust-replace", "--no-revocation-check", str(pdf)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=pdf.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trusted" in done.stdout.lower() and "LTA" in done.stdout.upper(), done.stdout


def test_the_operator_is_told_who_seals(service: Service, remote: Provider) -> None:
    (line,) = service.command("check", "--only", "sandbox sealing")
    assert line["status"] == "ok", line
    assert (
        "by ACME Trust Services with its credential GX0112348, whose certificate states QcCompliance"
        in line["sentence"]
    )
