"""Rows as the API shows them: which fields, in which order (specification 2). Nothing else decides that."""

from typing import Any

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.kernel import clock
from paraph.kernel.clock import iso
from paraph.signature_requests.models import RequestStatus, SignerStatus
from paraph.signature_requests.reading import LoadedRequest, LoadedSigner
from paraph.signature_requests.signing_token import url_of
from paraph.storage import store
from paraph.tenants.models import BrandingProfile

LINK_SECONDS = 900

Json = dict[str, Any]

_NOT_LOOKED_AT = dict.fromkeys(
    ("method", "prints_differently", "print_unknown", "can_change", "drawn_differently", "altered_after_seal")
)


def document(row: Document) -> Json:
    return {
        "id": row.pk,
        "content_type": "pdf",
        "sha256_hash": bytes(row.sha256).hex(),
        "file_size": row.file_size,
        "status": row.status,
        "created_at": iso(row.created_at),
    }


def document_with_preflight(row: Document) -> Json:
    """Reports of earlier versions lack what was not looked at then."""
    return {**document(row), "preflight": {**_NOT_LOOKED_AT, **row.preflight} if row.preflight else None}


def created_request(row: LoadedRequest) -> Json:
    """What creation answers: neither ``finalized`` nor ``download_urls``."""
    return {
        "id": row.id,
        "mode": row.mode,
        "status": row.status,
        "validity_days": row.validity_days,
        "initials_required": row.initials_required,
        "notify_signers_on_completion": row.notify_signers_on_completion,
        "expires_at": iso(row.expires_at),
        "created_at": iso(row.created_at),
        "document_ids": row.document_ids,
        "signers": [signer(entry) for entry in row.signers],
        "branding_profile": branding_profile(row.branding_profile) if row.branding_profile else None,
    }


def listed_request(row: LoadedRequest) -> Json:
    """An entry of the list, without ``download_urls``."""
    return {**created_request(row), "finalized": row.finalized}


def read_request(row: LoadedRequest) -> Json:
    """One request; once it is completed and finalized, with ``download_urls`` (specification 4.7)."""
    content = listed_request(row)
    if row.finalized and row.status == RequestStatus.COMPLETED:
        content["download_urls"] = download_urls(row.id)
    return content


def download_urls(request_id: int) -> list[Json]:
    """Fresh addresses of a finalized request's results, in the order of its documents; none once its files are deleted.
    Two queries."""
    proof = ProofFile.objects.only("object_key").filter(request_id=request_id).first()
    if proof is None:
        return []
    certificate_url = store.presign(proof.object_key, proof_name(request_id), LINK_SECONDS)
    sealed = SealedDocument.objects.filter(request_document__request_id=request_id).order_by(
        "request_document__position"
    )
    return [
        {
            "document_id": document_id,
            "signed_url": store.presign(key, signed_name(name), LINK_SECONDS),
            "certificate_url": certificate_url,
            "expires_in": LINK_SECONDS,
        }
        for document_id, name, key in sealed.values_list(
            "request_document__document_id", "request_document__document__name", "object_key"
        )
    ]


def signer(row: LoadedSigner) -> Json:
    signed = row.status == SignerStatus.SIGNED
    return {
        "id": row.id,
        "first_name": row.first_name,
        "last_name": row.last_name,
        "full_name": f"{row.first_name} {row.last_name}",
        "email": row.email,
        "order": row.order,
        "status": row.status,
        "signed_at": iso(row.signed_at) if row.signed_at else None,
        "signing_url": None if signed else url_of(row.id, row.token_salt),
        "delivery": _delivery(row),
    }


def _delivery(row: LoadedSigner) -> Json | None:
    """What there is to know of an invitation that is not out: until when it is put off."""
    if row.put_off_until is None or row.put_off_until <= clock.now():
        return None
    return {"put_off_until": iso(row.put_off_until)}


def branding_profile(row: BrandingProfile) -> Json:
    return {
        "id": row.pk,
        "name": row.name,
        "background_color": row.background_color,
        "text_color": row.text_color,
        "accent_color": row.accent_color,
    }


def audit_log(row: Entry) -> Json:
    return {
        "id": row.pk,
        "event_type": row.event_type,
        "signer_id": row.signer_id,
        "ip": row.ip,
        "user_agent": row.user_agent,
        "metadata": row.metadata,
        "created_at": iso(row.created_at),
    }
