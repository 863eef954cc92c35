"""Files in forms: none unless a page takes them, and then not before the member may send them."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any, cast

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, MemoryFileUploadHandler, StopUpload
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from paraph.dashboard.decorators import View, actor, scope, show
from paraph.documents.models import Document
from paraph.flow.housekeeping.make_room import room_for
from paraph.flow.sending.upload import IncomingFile, refuse_beyond_limit, upload
from paraph.kernel.errors import DomainError
from paraph.storage import store
from paraph.tenants.lifecycle import require_active
from paraph.tenants.models import Member

FIELD = "file"
_PDF, _UNKNOWN = "application/pdf", "application/octet-stream"
_BESIDE_A_SMALL_FILE, _BESIDE_PDFS = 64 * 1024, 1024 * 1024  # bytes of other fields and of what stands between


def file_field(label: Any, accepted: str, lacking: Any) -> forms.FileField:
    errors: dict[str, Any] = {"required": lacking, "empty": gettext_lazy("The file is empty.")}
    return forms.FileField(label=label, widget=forms.FileInput(attrs={"accept": accepted}), error_messages=errors)


class NoFiles(FileUploadHandler):
    """The upload handler of all pages. A page that takes files sets its own, with limits, before the body is read
    (:func:`takes_pdfs`, :func:`takes_small_file`)."""

    def new_file(self, *_described: Any, **_more: Any) -> None:
        raise StopUpload(connection_reset=True)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:  # noqa: ARG002  Django passes both
        raise StopUpload(connection_reset=True)

    def file_complete(self, file_size: int) -> None:
        """Never called."""


def takes_small_file(most_bytes: int, template: str, sentence: Callable[[], str]) -> Callable[[View], View]:
    """Decorate a view of :func:`paraph.dashboard.decorators.member_page`, below it. The page of the ``template`` says
    the ``sentence`` where a file is plainly larger than ``most_bytes``; the view refuses one that is only just larger.

    Exempt from the middleware's CSRF check, which would read the body before the member is known; the same check is
    made here, once the body may be read. A body without a stated length has no file.
    """

    def decorate(view: View) -> View:
        protected: View = csrf_protect(view)

        @csrf_exempt
        @wraps(view)
        def taking(request: HttpRequest, member: Member, *rest: Any, **more: Any) -> HttpResponse:
            if int(request.META.get("CONTENT_LENGTH") or 0) > most_bytes + _BESIDE_A_SMALL_FILE:
                return show(request, template, {"sentence": sentence()}, member=member, status=422)
            request.upload_handlers = [MemoryFileUploadHandler(request)]
            return protected(request, member, *rest, **more)

        return taking

    return decorate


def takes_pdfs(view: View) -> View:
    """Decorate a view of :func:`paraph.dashboard.decorators.member_page`, below it, whose form has a field of PDFs.

    The files of one body may together be as large as one may be. Exempt from the middleware's CSRF check, which would
    read the body before the member is known; the same check is made here, once the body may be read.
    """
    protected: View = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def taking(request: HttpRequest, member: Member, *rest: Any, **more: Any) -> HttpResponse:
        if request.method != "POST":
            return view(request, member, *rest, **more)
        try:
            require_active(scope(member))
            size = int(request.META.get("CONTENT_LENGTH") or 0)
            refuse_beyond_limit(size - _BESIDE_PDFS)
            with room_for(scope(member), size), ExitStack() as staged:
                request.upload_handlers = [_IncomingPdfs(staged)]
                return protected(request, member, *rest, **more)
        except DomainError as refused:
            return show(request, "documents/refused.html", {"sentence": refused.message}, member=member, status=422)

    return taking


def save_pdfs(request: HttpRequest, member: Member) -> tuple[list[Document], list[str]]:
    """Upload the files of the form as the API does. Return the documents, and a sentence for each refused file; the
    others are kept."""
    documents, problems, by = [], [], actor(request, member)
    for file in cast(list[_IncomingPdf], request.FILES.getlist(FIELD)):
        name, kind = file.name or "", file.content_type or ""
        if kind == _UNKNOWN and name.lower().endswith(".pdf"):  # where the browser's system knows no PDFs
            kind = _PDF
        if kind != _PDF:
            problems.append(_("%(name)s is not a PDF. Save it as PDF and try again.") % {"name": name})
            continue
        try:
            documents.append(upload(scope(member), file.incoming, name, kind, by, accept_drawn_differently=True))
        except DomainError as refused:
            problems.append(f"{name}: {refused.message}")
    if not documents and not problems:
        problems.append(_("Choose a PDF file."))
    return documents, problems


def limit_mb() -> int:
    return int(settings.PARAPH.upload_limit_mb)


class _IncomingPdf(UploadedFile):  # type: ignore[type-arg]  # it takes none where it runs
    """A file of the form, written into the store's staging area."""

    def __init__(self, incoming: IncomingFile, name: str, content_type: str, size: int) -> None:
        super().__init__(incoming.draft.file, name, content_type, size)
        self.incoming = incoming


class _IncomingPdfs(FileUploadHandler):
    chunk_size = 256 * 1024

    def __init__(self, staged: ExitStack) -> None:
        super().__init__()
        self._staged = staged

    def new_file(self, *described: Any, **more: Any) -> None:
        super().new_file(*described, **more)
        self._incoming = IncomingFile(self._staged.enter_context(store.stage()))

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002  Django passes it
        self._incoming.write(raw_data)

    def file_complete(self, file_size: int) -> "_IncomingPdf":
        return _IncomingPdf(self._incoming, self.file_name or "", self.content_type or "", file_size)
