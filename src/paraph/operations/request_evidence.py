"""The detached timestamps of a request's files, as a file that ``paraph verify --evidence`` reads."""

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.preservation import SealedFile, records_of
from paraph.kernel.errors import DomainError
from paraph.pdf.timestamps.detached_timestamps import timestamps_file
from paraph.signature_requests.models import SignatureRequest


def request_evidence(request_id: int) -> bytes:
    """JSON with the records of each file that has any. Raises ``DomainError("not_found", …)``."""
    if not SignatureRequest.objects.filter(pk=request_id).exists():
        raise DomainError("not_found", f"There is no signature request {request_id}.")
    sealed = SealedDocument.objects.filter(request_document__request_id=request_id)
    files: list[tuple[SealedFile, str]] = [
        (row, row.request_document.document.name)
        for row in sealed.select_related("request_document__document").order_by("request_document__position")
    ]
    files += [(row, "proof") for row in ProofFile.objects.filter(request_id=request_id)]
    return timestamps_file({bytes(row.sha256): (name, records_of(row.object_key)) for row, name in files})
