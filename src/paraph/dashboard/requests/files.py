"""The files of a finished request: downloading one, or all evidence in one archive, and comparing them with what was
sealed."""

import hashlib
import io
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, cast

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph import words
from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import Entry
from paraph.bundle.make import bundle_name, open_bundle
from paraph.dashboard.decorators import limits_stamps, member_page, show
from paraph.dashboard.documents import drawn
from paraph.dashboard.middleware import notice, unavailable
from paraph.dashboard.requests.listing import own_request
from paraph.evidence.models import ProofFile, SealedDocument, SealedFile
from paraph.evidence.sealed_files import proof_name
from paraph.flow.sealing.stamp_marks import stamp_content
from paraph.flow.signing.shown_documents import page_picture, sealed_picture
from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError, expensive_work
from paraph.pdf.asic import signed_name
from paraph.pdf.typesetting.appearances import stamp_svg
from paraph.pdf.verdict import Fault, Word, decide
from paraph.server.bodies import file_response
from paraph.signature_requests.models import Placement, SignatureRequest, SignerStatus
from paraph.storage import store
from paraph.tenants.members import Right
from paraph.tenants.models import Member
from paraph.tenants.scope import scoped

_ALTERED = Fault("HASH_FAILURE", "Something differs from what was recorded.")


@member_page(Right.SEE)
def download(request: HttpRequest, member: Member, request_id: int, document_id: int | None = None) -> HttpResponse:  # noqa: ARG001
    """Lead to a sealed document, or to the proof, by an address that is valid for minutes."""
    _scope, found = own_request(member, request_id)
    for name, file in _sealed_files(found):
        if document_id == (file.request_document.document_id if isinstance(file, SealedDocument) else None):
            return HttpResponseRedirect(store.presign(file.object_key, name))
    raise Http404


@member_page(Right.SEE)
def page_of_request(_: HttpRequest, member: Member, request_id: int, document_id: int, number: int) -> HttpResponse:
    """``…/documents/{id}/pages/{number}.webp``: a page as it was sealed, or as it is shown to signers before that."""
    _scope, found = own_request(member, request_id)
    rows = found.request_documents.select_related("document", "sealed")
    row = get_object_or_404(rows, document_id=document_id, document__file_deleted_at=None)
    if found.finalized and hasattr(row, "sealed"):
        return drawn(partial(sealed_picture, row.sealed, row.document, number))
    return drawn(partial(page_picture, row.document, number))


@member_page(Right.SEE)
@limits_stamps
def signed_stamp(request: HttpRequest, member: Member, request_id: int, placement_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/stamps/{id}.svg``: a signature before the documents are sealed."""
    _scope, found = own_request(member, request_id)
    rows = Placement.objects.filter(request_document__request=found, signer__signature_encrypted__isnull=False)
    signed = rows.filter(signer__status=SignerStatus.SIGNED).select_related("signer__request")
    placement = get_object_or_404(signed, pk=placement_id)
    return drawn(lambda: stamp_svg(stamp_content(placement, found)), "image/svg+xml")


@member_page(Right.SEE)
@expensive_work()
def verify(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Compare journal and stored files with their digests. Seals are verified by ``paraph verify``, in files that
    somebody else keeps: what a service says of itself proves nothing."""
    scope, found = own_request(member, request_id)
    entries = list(scoped(Entry, scope).filter(request_id=found.pk).order_by("position"))
    files = [_compared(name, file) for name, file in _sealed_files(found)]
    broken = broken_at(entries)
    content = {
        "found": found,
        "entries": len(entries),
        "broken_at": broken,
        "files": files,
        "word": decide(proven=bool(files), faults=[*([_ALTERED] if broken else []), *_faults(files)]).word,
        "page": f"{settings.PARAPH.public_url}/verify" if settings.PARAPH.verify_page else "",
        "told": words.of("verdict", get_language() or words.DEFAULT_LOCALE),
    }
    return show(request, "requests/verify.html", content, member=member, environment=found.environment)


def _sealed_files(found: SignatureRequest) -> list[tuple[str, SealedDocument | ProofFile]]:
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
    word: Word = "unknown"
    with suppress(FileNotFoundError), cast(io.BufferedIOBase, store.open(file.object_key)) as stored:
        word = "holds" if hashlib.file_digest(stored, "sha256").digest() == recorded else "altered"
    return {"name": name, "sha256": recorded.hex(), "word": word}


def _faults(files: list[dict[str, Any]]) -> Iterator[Fault]:
    for file in files:
        if file["word"] != "holds":
            yield _ALTERED if file["word"] == "altered" else Fault("SIGNED_DATA_NOT_FOUND", file["name"])


@member_page(Right.SEE)
def everything(request: HttpRequest, member: Member, request_id: int) -> HttpResponse:
    """Send the bundle of evidence, or a page that says why there is none now."""
    _scope, found = own_request(member, request_id)
    if not _sealed_files(found):
        raise Http404
    try:
        return cast(HttpResponse, file_response(request, open_bundle(found.pk), bundle_name(found.pk)))
    except DomainError as refusal:
        if refusal.code == "conflict":
            return notice(409, _("Not available"), _("The files are larger than 2 GB together. Download each."))
        if refusal.code != "unavailable" or isinstance(refusal, NoPlaceError):
            raise
    return unavailable(_("No timestamp authority answers at the moment. Nothing is lost: try again in a few minutes."))
