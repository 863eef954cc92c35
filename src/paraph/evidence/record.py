"""Rows of sealed documents and proof files: one each, whichever worker gets there first."""

from paraph.evidence.facts import exact_facts
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.pdf.seal import SealedPdf
from paraph.signature_requests.models import RequestDocument, SignatureRequest


def record_sealed_document(row: RequestDocument, sealed: SealedPdf, object_key: str) -> SealedDocument | None:
    """None when the document is sealed already. The caller holds the request's row lock."""
    if SealedDocument.objects.filter(request_document=row).exists():
        return None
    return SealedDocument.objects.create(
        request_document=row,
        object_key=object_key,
        sha256=sealed.sha256,
        file_size=len(sealed.content),
        seal=exact_facts(sealed),
    )


def record_proof_file(request: SignatureRequest, sealed: SealedPdf, object_key: str) -> ProofFile | None:
    """None when the request has its proof already. The caller holds the request's row lock."""
    if ProofFile.objects.filter(request=request).exists():
        return None
    return ProofFile.objects.create(
        request=request,
        object_key=object_key,
        sha256=sealed.sha256,
        file_size=len(sealed.content),
        seal=exact_facts(sealed),
    )


def all_sealed(request: SignatureRequest) -> bool:
    """Has every document of the request its seal?"""
    return not RequestDocument.objects.filter(request=request, sealed=None).exists()
