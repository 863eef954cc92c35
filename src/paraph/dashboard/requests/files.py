"""The files of a finished request: downloaded, and compared with what was sealed."""

import hashlib
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect

from paraph.audit_trail.append import broken_at
from paraph.audit_trail.models import Entry
from paraph.dashboard.decorators import member_page, show
from paraph.dashboard.requests.own_request import own_request
from paraph.evidence.models import ProofFile, SealedDocument, SealedFile
from paraph.evidence.record import proof_name, signed_name
from paraph.kernel.places import expensive_work
from paraph.signature_requests.models import SignatureRequest
from paraph.storage import store
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped

_BLOCK = 1 << 20


@member_page(Right.SEE)
def download(request: HttpRequest, member: Member, request_id: int, document_id: int | None = None) -> HttpResponse:  # noqa: ARG001
    """Lead to a sealed document, or to the proof, by an address that is valid for minutes."""
    _caller, found = own_request(member, request_id)
    for name, file in sealed_files(found):
        if document_id == (file.request_document.document_id if isinstance(file, SealedDocument) else None):
            return HttpResponseRedirect(store.presign(file.object_key, name))
    raise Http404


@member_page(Right.SEE)
@expensive_work()
def verify(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Compare journal and stored files with their digests. Seals are verified by ``paraph verify``, in files that
    somebody else keeps: what a service says of itself proves nothing."""
    scope, found = own_request(member, request_id)
    entries = list(scoped(Entry, scope).filter(request_id=found.pk).order_by("position"))
    files = [_compared(name, file) for name, file in sealed_files(found)]
    broken = broken_at(entries)
    content = {
        "found": found,
        "entries": len(entries),
        "broken_at": broken,
        "files": files,
        "holds": broken is None and all(file["is_same"] for file in files),
    }
    return show(request, "requests/verify.html", content, member=member)


def sealed_files(found: SignatureRequest) -> list[tuple[str, SealedDocument | ProofFile]]:
    """Return the files and the names that they are saved as; none before the request is finalized or once they are
    deleted."""
    if not found.finalized or found.files_deleted_at:
        return []
    sealed = SealedDocument.objects.filter(request_document__request=found)
    rows = sealed.select_related("request_document__document").order_by("request_document__position")
    files: list[tuple[str, SealedDocument | ProofFile]] = [
        (signed_name(row.request_document.document.name), row) for row in rows
    ]
    return files + [(proof_name(found.pk), row) for row in ProofFile.objects.filter(request=found)]


def _compared(name: str, file: SealedFile) -> dict[str, Any]:
    recorded = bytes(file.sha256)
    return {"name": name, "sha256": recorded.hex(), "seal": file.seal, "is_same": _digest(file.object_key) == recorded}


def _digest(key: str) -> bytes | None:
    digest = hashlib.sha256()
    try:
        with store.open(key) as stored:
            while block := stored.read(_BLOCK):
                digest.update(block)
    except FileNotFoundError:
        return None
    return digest.digest()
