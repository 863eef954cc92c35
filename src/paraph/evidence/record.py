"""Rows of sealed documents and proof files: one each, whichever worker gets there first."""

from paraph.evidence.facts import exact_facts
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.preservation import first_due
from paraph.pdf.seal import SealedPdf
from paraph.pdf.verification import Level
from paraph.signature_requests.models import RequestDocument, SignatureRequest


def record_sealed_document(
    row: RequestDocument, sealed: SealedPdf, object_key: str, wanted: Level
) -> SealedDocument | None:
    """None when the document is sealed already. ``wanted``: the level of the settings. The caller holds the request's
    row lock."""
    if SealedDocument.objects.filter(request_document=row).exists():
        return None
    return SealedDocument.objects.create(
        request_document=row,
        object_key=object_key,
        sha256=sealed.sha256,
        file_size=len(sealed.content),
        seal=exact_facts(sealed),
        timestamp_due_at=first_due(sealed, wanted),
    )


def record_proof_file(request: SignatureRequest, sealed: SealedPdf, object_key: str, wanted: Level) -> ProofFile | None:
    """None when the request has its proof already. Otherwise as above."""
    if ProofFile.objects.filter(request=request).exists():
        return None
    return ProofFile.objects.create(
        request=request,
        object_key=object_key,
        sha256=sealed.sha256,
        file_size=len(sealed.content),
        seal=exact_facts(sealed),
        timestamp_due_at=first_due(sealed, wanted),
    )


def all_sealed(request: SignatureRequest) -> bool:
    """Has every document of the request its seal?"""
    return not RequestDocument.objects.filter(request=request, sealed=None).exists()
