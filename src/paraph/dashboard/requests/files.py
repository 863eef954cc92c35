"""The files of a finished request: downloaded, compared with what was sealed, and packed with all that verifying them
without the service needs."""

import hashlib
import io
import re
import shlex
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple, cast

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_der_x509_certificate
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language

from paraph import words
from paraph.audit_trail.journal import broken_at
from paraph.audit_trail.models import Entry
from paraph.dashboard.decorators import attached, limits_stamps, member_page, show
from paraph.dashboard.documents import drawn
from paraph.dashboard.requests.pages import own_request
from paraph.evidence.models import ProofFile, SealedDocument, SealedFile
from paraph.evidence.record import proof_name, signed_name
from paraph.flow.sealing.stamp_marks import stamp_content
from paraph.flow.signing.shown_documents import page_picture, sealed_picture
from paraph.kernel import clock
from paraph.kernel.places import expensive_work
from paraph.keys.sealing import trusted_roots
from paraph.pdf.typesetting.appearances import stamp_svg
from paraph.pdf.verdict import Fault, Word, decide
from paraph.signature_requests.models import Placement, RequestDocument, SignatureRequest, SignerStatus
from paraph.storage import store
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped

_BLOCK = 1 << 18
_ALTERED = Fault("HASH_FAILURE", "Something differs from what was recorded.")
_ROOTS, _README = "roots.pem", "README.txt"
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')  # in a file's name, for one of the systems that unpack it
_TEXT = """\
Request {id}: the signed documents, the proof, the documents as they were uploaded, and the root certificates of
the service that sealed them.

To verify them without that service, install Paraph (pip install paraph) and run in this folder:

    {command}

It says "Everything matches." and ends with 0 where nothing was altered. The seals can be looked at with any PDF reader
that knows PAdES as well.

{roots} came with this download. Whoever gave you the download could have exchanged it: compare the certificates with
what the operator of the service has published. The command names the certificate and the root of each seal.
"""


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
    verdict = decide(proven=bool(files), faults=[*([_ALTERED] if broken else []), *_faults(files)])
    content = {
        "found": found,
        "entries": len(entries),
        "broken_at": broken,
        "files": files,
        "word": verdict.word,
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
    recorded, actual = bytes(file.sha256), _digest(file.object_key)
    word: Word = "unknown" if actual is None else "holds" if actual == recorded else "altered"
    return {"name": name, "sha256": recorded.hex(), "word": word}


def _faults(files: list[dict[str, Any]]) -> Iterator[Fault]:
    for file in files:
        if file["word"] != "holds":
            yield _ALTERED if file["word"] == "altered" else Fault("SIGNED_DATA_NOT_FOUND", file["name"])


def _digest(key: str) -> bytes | None:
    try:
        with cast(io.BufferedIOBase, store.open(key)) as stored:
            return hashlib.file_digest(stored, "sha256").digest()
    except FileNotFoundError:
        return None


class _Stored(NamedTuple):
    name: str
    object_key: str


class _Sink(io.RawIOBase):
    """What :mod:`zipfile` writes to and cannot seek in: keeps what was written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        self._written += content
        return len(content)

    def take(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


@member_page(Right.SEE)
def everything(request: HttpRequest, member: Member, request_id: int) -> Any:  # noqa: ARG001  of the address
    """Stream the archive as its files are read, never more than a block of one."""
    _scope, found = own_request(member, request_id)
    files = _files(found)
    try:
        for file in files:  # before the answer begins: an archive that ends in the middle helps nobody
            store.open(file.object_key).close()
    except FileNotFoundError:
        raise Http404 from None
    answer = StreamingHttpResponse(_archive(found, files), content_type="application/zip")
    return attached(answer, f"request-{found.pk}.zip")


def _files(found: SignatureRequest) -> list[_Stored]:
    """Return the proof first, then signed and uploaded documents, each by a name of its own."""
    sealed = _sealed_files(found)
    if not sealed:
        raise Http404
    sealed.sort(key=lambda file: not isinstance(file[1], ProofFile))
    uploads = RequestDocument.objects.filter(request=found).select_related("document").order_by("position")
    stored = [_Stored(name, file.object_key) for name, file in sealed]
    stored += [_Stored(row.document.name, row.document.object_key) for row in uploads]
    taken = {_ROOTS.casefold(), _README.casefold()}
    return [_Stored(_free(file.name, taken), file.object_key) for file in stored]


def _free(name: str, taken: set[str]) -> str:
    """Return the name without what no file's name may have, with a number where another file has it. Adds it to
    ``taken``."""
    safe = _UNSAFE.sub("_", name).strip(" .").lstrip("-") or "document.pdf"
    stem, dot, ending = safe.rpartition(".")
    number, free = 1, safe
    while free.casefold() in taken:
        number += 1
        free = f"{stem}-{number}{dot}{ending}" if dot else f"{safe}-{number}"
    taken.add(free.casefold())
    return free


def _archive(found: SignatureRequest, files: list[_Stored]) -> Iterator[bytes]:
    sink = _Sink()
    command = shlex.join(["paraph", "verify", "--details", "--root", _ROOTS, *(file.name for file in files)])
    trusted = trusted_roots(settings.PARAPH, settings.DATA_DIR / "keys")
    roots = b"".join(load_der_x509_certificate(root).public_bytes(Encoding.PEM) for root in trusted)
    moment = time.gmtime(clock.now().timestamp())[:6]
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_README, moment), _TEXT.format(id=found.pk, command=command, roots=_ROOTS))
        archive.writestr(zipfile.ZipInfo(_ROOTS, moment), roots)
        for file in files:
            info = zipfile.ZipInfo(file.name, moment)
            with store.open(file.object_key) as stored, archive.open(info, "w", force_zip64=True) as entry:
                while block := stored.read(_BLOCK):
                    entry.write(block)
                    yield sink.take()
    yield sink.take()
