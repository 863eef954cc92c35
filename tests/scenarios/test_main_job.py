"""The main job over HTTP against a real service with real workers: upload to download, nothing patched."""

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from tests.cli.service import Service
from tests.contract import contract
from tests.independent import assert_sealed, assert_timestamped, page_text, signature_and_token
from tests.pdf.levels import assert_archived, level_by_pyhanko
from tests.pdf.pictures import texts
from tests.scenarios.people import Backend, at, sign, signer, under

STROKES = [[[0.1, 0.5], [0.3, 0.2], [0.5, 0.8], [0.9, 0.4]]]


class Finished:
    """A request of two signers in sequence and two documents, and everything that it led to."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.root = service.root
        self.backend = Backend(service.base_url, service.new_key("pro", "sandbox"))
        self.uploaded = [contract(), contract() + b"\n% the second\n"]
        self.document_ids = [self.backend.upload(pdf, f"lease-{n}.pdf") for n, pdf in enumerate(self.uploaded, 1)]
        first, second = self.document_ids
        self.created = self.backend.create(
            mode="sequential",
            validity_days=30,
            initials_required=True,
            notify_signers_on_completion=True,
            send_email=True,
            identity_declaration_accepted=True,
            signers=[
                signer("tenant", "Νίκος", "Παπαδόπουλος", order=2, email="tenant@lease.example"),
                signer("landlord", order=1, email="landlord@lease.example"),
            ],
            documents=[
                {
                    "id": first,
                    "signers": [
                        {"signer_ref": "landlord", "stamps": [under("{{signature:landlord}}")]},
                        {"signer_ref": "tenant", "stamps": [at(3, 316, 500), under("{{absent}}", optional=True)]},
                    ],
                },
                {"id": second, "signers": [{"signer_ref": "tenant", "stamps": [at(1, 300, 60)]}]},
            ],
        )
        landlord, tenant = self.created["signers"]
        self.early = sign(tenant["signing_url"], code="000000", initials={"type": "typed"})
        self.signed_answers = [
            sign(landlord["signing_url"], signature={"type": "drawn", "strokes": STROKES}, initials={"type": "typed"}),
            sign(tenant["signing_url"], initials={"type": "typed"}, locale="fr"),
        ]
        self.read = self.backend.finalized(self.created["id"])
        self.journal = self.backend.told(
            self.created["id"], "request.completion_notified"
        )  # mails have a queue of their own
        self.signed = [self._download(urls["signed_url"], folder) for urls in self.read["download_urls"]]
        self.proof = self._download(self.read["download_urls"][0]["certificate_url"], folder)

    def _download(self, url: str, folder: Path) -> Path:
        answer = httpx.get(url, timeout=30)
        assert answer.status_code == 200, answer.text
        path = folder / f"{hashlib.sha256(answer.content).hexdigest()[:12]}.pdf"
        path.write_bytes(answer.content)
        return path

    def metadata(self, event_type: str) -> list[dict[str, Any]]:
        return [entry["metadata"] for entry in self.journal if entry["event_type"] == event_type]


@pytest.fixture(scope="module")
def finished(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return Finished(service, tmp_path_factory.mktemp("finished"))


def test_signers_come_in_order_and_are_mailed(finished: Finished, service: Service) -> None:
    assert [person["order"] for person in finished.created["signers"]] == [1, 2]
    assert finished.early.json()["error"]["code"] == "not_your_turn"
    assert [answer.status_code for answer in finished.signed_answers] == [200, 200]
    to = [message["to"] for message in service.inbox() if message["channel"] == "email"]
    assert [to.count(f"{who}@lease.example") for who in ("landlord", "tenant")] == [3, 3], (
        "invitation, code and summary"
    )


def test_every_sealed_file_is_valid_trusted_and_whole_for_others(finished: Finished, tmp_path: Path) -> None:
    assert [urls["document_id"] for urls in finished.read["download_urls"]] == finished.document_ids
    for uploaded, path in zip(finished.uploaded, finished.signed, strict=True):
        assert path.read_bytes().startswith(uploaded)
    root = x509.load_pem_x509_certificate(finished.root.read_bytes()).public_bytes(Encoding.DER)
    for path in [*finished.signed, finished.proof]:
        assert_sealed(path, finished.root)
        signature, token = signature_and_token(path.read_bytes())
        assert_timestamped(token, signature, finished.root, tmp_path)
        assert level_by_pyhanko(path.read_bytes(), root) == "B-LTA"
        assert_archived(path.read_bytes(), finished.root, tmp_path)


def test_the_journal_tells_it_all_in_order(finished: Finished) -> None:
    told = [entry["event_type"] for entry in finished.journal]
    assert told[:2] == ["signature_request.created", "signature_request.identity_declared"]
    for event in ("signer.notified", "signer.otp_sent", "signer.signed", "signature_request.pades_signed"):
        assert told.count(event) == 2, event
    sealed = [index for index, event in enumerate(told) if event == "signature_request.pades_signed"]
    assert told.count("signature_request.certificate_issued") == 1
    assert told.index("request.completed") < sealed[0] < sealed[1] < told.index("signature_request.certificate_issued")
    moments = [entry["created_at"] for entry in finished.journal]
    assert moments == sorted(moments)


def test_the_journal_names_the_digests_of_what_is_downloaded_and_what_was_accepted(finished: Finished) -> None:
    seals, [issued] = (
        finished.metadata(f"signature_request.{event}") for event in ("pades_signed", "certificate_issued")
    )
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in finished.signed}
    assert {seal["signed_pdf_sha256"] for seal in seals} == digests
    assert issued["certificate_sha256"] == hashlib.sha256(finished.proof.read_bytes()).hexdigest()
    for facts in (*seals, issued):
        assert facts["level"] == "B-LTA" and facts["timestamped"] is True and "kms_request_id" in facts
        assert all(facts[name] for name in ("signing_algorithm", "kms_key_id", "timestamp_authority"))
        assert facts["timestamp_policy_oid"] and facts["timestamped_at"]
    accepted = finished.metadata("signer.signed")
    assert [(entry["documents_count"], entry["locale"]) for entry in accepted] == [(1, "en"), (2, "fr")]
    assert accepted[0]["consent_notice"] != accepted[1]["consent_notice"]
    sent = [(entry["recipient"], entry["provider"]) for entry in finished.metadata("signer.otp_sent")]
    assert sent == [("landlord@lease.example", "email"), ("tenant@lease.example", "email")]


def test_the_proof_names_every_fact(finished: Finished) -> None:
    text = " ".join(page_text(finished.proof).split())
    dense = text.replace(" ", "")
    for fact in (
        "Zoë Lindqvist",
        "Νίκος Παπαδόπουλος",
        "landlord@lease.example",
        "tenant@lease.example",
        "lease-1.pdf",
    ):
        assert fact in text, fact
    for pdf in [*finished.uploaded, *(path.read_bytes() for path in finished.signed)]:
        assert hashlib.sha256(pdf).hexdigest() in dense
    assert "Paraph Development Timestamp Authority" in text


def test_the_signed_document_carries_stamps_and_watermark_but_no_journal(finished: Finished) -> None:
    text = page_text(finished.signed[0])
    assert "Lindqvist" in text and "Παπαδόπουλος" in text and "signer.signed" not in text
    assert all("SANDBOX" in page for page in texts(finished.signed[0].read_bytes()))


def test_operators_export_the_evidence_and_anybody_verifies_it(
    service: Service, finished: Finished, tmp_path: Path
) -> None:
    number, kept, bundle = str(finished.created["id"]), tmp_path / "kept.json", tmp_path / "bundle.zip"
    exported = service.command("request", "evidence", number)
    assert [file["name"] for file in exported["files"]] == ["lease-1.pdf", "lease-2.pdf", "proof"]
    kept.write_text(json.dumps(exported))
    found = service.command("verify", str(finished.proof), "--evidence", str(kept), "--root", str(finished.root))
    assert found["ok"] is True and found["level"] == "B-LTA" and found["kept_timestamps"] == []
    told = service.command("request", "evidence", number, "--bundle", str(bundle))
    assert (told["id"], told["bytes"]) == (finished.created["id"], bundle.stat().st_size)
    found = service.command("verify", str(bundle), "--root", str(finished.root))
    assert found["ok"] is True and found["notes"] == [] and len(found["sealed"]) == 3
