"""The whole job over HTTP with real processes, sealed with a key that never leaves its token or its provider of remote
seals; other programs judge the sealed files."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from paraph.keys.certificates import read_roots
from paraph.pdf.verification.evidence_check import check_evidence
from tests.cli.service import Service
from tests.contract import contract
from tests.flow.issuer import issuer
from tests.independent import assert_cades, assert_sealed, page_text, pdfsig
from tests.keys.certified_keys import Root, make_key
from tests.keys.csc_service import CLIENT, provider
from tests.keys.kinds import placed
from tests.pdf.pki.test_qualified import COMPLIANCE, DEVICE, ESEAL, qualified
from tests.scenarios.people import Backend, sign, signer, under

pytestmark = pytest.mark.thorough
_PYHANKO = Path(sys.executable).with_name("pyhanko")


@contextmanager
def serving(folder: Path, address: str, root: Path, **settings: str) -> Iterator[Service]:
    """Yield a running service whose sandbox seals with the key at the address."""
    key = {"PARAPH_SANDBOX_SEALING_KEY": address, "PARAPH_SANDBOX_SEALING_CERTIFICATE": str(root)}
    service = Service(folder / "service", **key, **settings)
    service.begin()
    yield service
    service.stop()


def sealed(service: Service, folder: Path, roots: list[Path]) -> list[dict[str, Any]]:
    """Have one signer sign two documents, put the files into the folder, and check that they belong together. Return
    what the journal has of each seal."""
    backend, uploaded = Backend(service.base_url, service.key), [contract(), contract() + b"\n% the second\n"]
    stamps = [{"signer_ref": "landlord", "stamps": [under("{{signature:landlord}}")]}]
    created = backend.create(
        mode="parallel",
        validity_days=7,
        signers=[signer("landlord", order=1)],
        documents=[{"id": backend.upload(pdf), "signers": stamps} for pdf in uploaded],
    )
    assert sign(created["signers"][0]["signing_url"]).status_code == 200
    urls = backend.finalized(created["id"])["download_urls"]
    files = {f"signed-{number}.pdf": httpx.get(each["signed_url"]).content for number, each in enumerate(urls)}
    files["proof.pdf"] = httpx.get(urls[0]["certificate_url"]).content
    for name, content in files.items():
        (folder / name).write_bytes(content)
    given = {f"uploaded-{number}.pdf": pdf for number, pdf in enumerate(uploaded)}
    trusted = [each for root in [*roots, service.root] for each in read_roots(root)]
    result = check_evidence(files | given, trusted)
    assert result.ok, result.problems
    return [entry["metadata"] for entry in backend.journal(created["id"]) if "kms_key_id" in entry["metadata"]]


FILES = ("signed-0.pdf", "signed-1.pdf", "proof.pdf")


def test_everything_is_sealed_by_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with placed("pkcs11", "rsa", tmp_path, monkeypatch) as key:
        root = key.root.pem(tmp_path)
        pin = {"PARAPH_SANDBOX_SEALING_PASSPHRASE": key.passphrase, "SOFTHSM2_CONF": os.environ["SOFTHSM2_CONF"]}
        with serving(tmp_path, key.address, key.chain, **pin) as service:
            seals = sealed(service, tmp_path, [root])
    for name in FILES:
        assert_sealed(tmp_path / name, root)
        assert_cades(tmp_path / name, root)
    assert len(seals) == 3
    for seal in seals:
        assert seal["kms_key_id"].startswith("pkcs11:token=seals%20") and "pin" not in seal["kms_key_id"]
        assert (seal["signing_algorithm"], seal["kms_request_id"]) == ("RSASSA_PKCS1_V1_5_SHA_256", "")
    assert key.passphrase not in "".join(service.output)


def test_everything_is_sealed_by_the_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key = make_key("p-256")
    with issuer() as authority:
        issuing, lists = Root(authority.key, authority.root), f"{authority.url}crl"
        own = [qualified(COMPLIANCE, DEVICE, ESEAL, root=issuing, public=key.public_key(), revocations=lists)]
        with provider("v2", tmp_path, monkeypatch, key=key, root=issuing, certificates=own) as remote:
            (tmp_path / "pin").write_text(f"{CLIENT.pin}\n")
            client = {"PARAPH_CSC_CLIENT_ID": CLIENT.id, "PARAPH_CSC_CLIENT_SECRET": CLIENT.secret}
            files = {"PARAPH_CSC_PIN_FILE": str(tmp_path / "pin"), "SSL_CERT_FILE": str(tmp_path / "tls" / "root.pem")}
            root = tmp_path / "root.pem"
            with serving(tmp_path, remote.address, root, **client, **files) as service:
                assert remote.signed == 1, "the test file of the start"
                seals = sealed(service, tmp_path, [root])
                assert remote.signed == 4 == remote.asked.count("credentials/authorize")
                (line,) = service.command("check", "--only", "sandbox sealing")
                ours = service.root
                for name in FILES:
                    assert_cades(tmp_path / name, root, 0)
                    said = pdfsig(tmp_path / name, root).split("Signature #")[1]
                    assert "Signature is Valid" in said and "Certificate is Trusted" in said, said
                    assert_ades(tmp_path / name, root, ours)
    printed = " ".join(page_text(tmp_path / "proof.pdf").split())
    assert "Qualified electronic seal, as its certificate states" in printed
    assert {(seal["kms_key_id"], seal["level"]) for seal in seals} == {(remote.address, "B-LTA")} and len(seals) == 3
    output = "".join(service.output)
    assert CLIENT.secret not in output and f'"{CLIENT.pin}"' not in output
    who = "by ACME Trust Services with its credential GX0112348, whose certificate states QcCompliance"
    assert line["status"] == "ok" and who in line["sentence"]


def assert_ades(pdf: Path, *roots: Path) -> None:
    """Assert that pyHanko finds the seal valid under ETSI EN 319 102-1, and nothing after it but what long-term
    validation adds."""
    trust = [part for root in roots for part in ("--trust", str(root))]
    command = [str(_PYHANKO), "sign", "adesverify", *trust, "--trust-replace", "--no-revocation-check", str(pdf)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=pdf.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "trusted" in done.stdout.lower() and "LTA" in done.stdout.upper(), done.stdout
