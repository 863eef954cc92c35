"""Record sealed documents and proof files, one each, even where two workers make one at the same time; the facts of a
seal in the journal, and the names that files are downloaded under."""

from typing import Any

from paraph.database.rows import insert_once, kept_once
from paraph.evidence.models import NEVER_LOGGED, ProofFile, SealedDocument, SharedContent
from paraph.evidence.preservation import as_text, first_due
from paraph.kernel import clock
from paraph.pdf.report import Level
from paraph.pdf.sealing.seal import SealedPdf
from paraph.signature_requests.models import RequestDocument, SignatureRequest
from paraph.tenants.models import Environment

_OWN = ("sealed_at", "timestamped_at", "kms_request_id", "timestamp_failures", "level_reasons")


def seal_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Return the metadata of ``signature_request.pades_signed``. Without a timestamp, ``timestamped`` is false, the
    fields of the timestamp are null, and ``timestamp_failures`` says why. ``method`` tells whether the upload is a
    prefix of the sealed file. ``level`` is the PAdES level, and ``level_reasons`` says why it is not the level of the
    settings."""
    stamp = sealed.timestamp
    facts = {
        "signed_pdf_sha256": sealed.sha256.hex(),
        "signing_algorithm": sealed.signing_algorithm,
        "kms_key_id": sealed.kms_key_id,
        "kms_request_id": sealed.kms_request_id,
        "timestamped": stamp is not None,
        "timestamp_authority": stamp.authority if stamp else None,
        "timestamp_policy_oid": stamp.policy_oid if stamp else None,
        "timestamped_at": clock.iso(stamp.time) if stamp else None,
        "method": sealed.method,
        "level": sealed.level,
    }
    optional = {"timestamp_failures": sealed.timestamp_failures, "level_reasons": list(sealed.level_reasons)}
    return facts | {name: value for name, value in optional.items() if value}


def certificate_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Return the metadata of ``signature_request.certificate_issued``: :func:`seal_facts` with the proof's digest."""
    facts = {key: value for key, value in seal_facts(sealed).items() if key not in ("signed_pdf_sha256", "method")}
    return {"certificate_sha256": sealed.sha256.hex(), **facts}


def record_sealed_document(row: RequestDocument, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Insert the row of a sealed document; return False where it is sealed already. ``wanted`` is the level of the
    settings. The caller holds the request's row lock."""
    return insert_once(SealedDocument(request_document=row, **_facts(sealed, object_key, wanted)))


def record_proof_file(request: SignatureRequest, sealed: SealedPdf, object_key: str, wanted: Level) -> bool:
    """Insert the row of a proof; return False where the request has one already. Otherwise as
    :func:`record_sealed_document`."""
    log_index = None if request.environment == Environment.PRODUCTION else NEVER_LOGGED
    return insert_once(ProofFile(request=request, log_index=log_index, **_facts(sealed, object_key, wanted)))


def has_proof(request_id: int) -> bool:
    return ProofFile.objects.filter(request=request_id).exists()


def _facts(sealed: SealedPdf, object_key: str, wanted: Level) -> dict[str, Any]:
    """Return the columns of the row. The journal's ``timestamped_at`` is cut to the second, as every ``_at`` of the
    API (rule 1); the row has it as exact as the authority stated it."""
    stamped_at = clock.iso_milliseconds(sealed.timestamp.time) if sealed.timestamp else None
    exact = {"sealed_at": clock.iso_milliseconds(sealed.sealed_at), "timestamped_at": stamped_at}
    facts = {name: fact for name, fact in seal_facts(sealed).items() if name != "signed_pdf_sha256"} | exact
    own = {name: facts.pop(name) for name in _OWN if facts.get(name)}
    return {
        "object_key": object_key,
        "sha256": sealed.sha256,
        "file_size": len(sealed.content),
        "seal": own,
        "shared_id": kept_once(SharedContent, {"facts": facts, "certificates": as_text(sealed.chains)}),
        "timestamp_due_at": first_due(sealed, wanted),
    }


def proof_name(request_id: int) -> str:
    return f"proof-{request_id}.pdf"
