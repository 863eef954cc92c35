"""``/app/{o}/documents``: all documents of the organization, and the form to upload more; ``…/{id}``: one of them, its
tags and its pages."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial, wraps
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from paraph.dashboard.decorators import (
    FIELD,
    View,
    actor,
    done,
    member_page,
    number_in,
    own,
    refusals_in,
    scope,
    see_other,
    show,
    shown_scope,
)
from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.models import DocumentTags
from paraph.drafts.tags import tags_of
from paraph.flow.housekeeping.make_room import room_for
from paraph.flow.housekeeping.sweep import delete_document, unused
from paraph.flow.sending.upload import IncomingFile, refuse_beyond_limit, upload
from paraph.flow.signing.shown_documents import page_picture, thumbnail
from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError
from paraph.server.bodies import StagedFile, StagedFiles
from paraph.signature_requests.models import RequestDocument
from paraph.storage import store
from paraph.tenants.lifecycle import require_active
from paraph.tenants.members import Right, may
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import TenantScope, scoped

_AT_ONCE = 50
_MOST_PAGES = 20
_KEPT_SECONDS = 900
_PDF, _UNKNOWN = "application/pdf", "application/octet-stream"
_BESIDE_PDFS = 1024 * 1024  # bytes of other fields and of the boundaries between them


def takes_pdfs(view: View) -> View:
    """Decorate a view inside of :func:`paraph.dashboard.decorators.member_page`, whose form has a field of PDFs.

    All files of one body together may be as large as one file may be. The view is exempt from the middleware's CSRF
    check, which would read the body before the member is known; the same check is made here, once the body may be read.
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
                request.upload_handlers = [StagedFiles(staged, IncomingFile)]
                return protected(request, member, *rest, **more)
        except DomainError as refused:
            return show(request, "documents/refused.html", {"sentence": refused.message}, member=member, status=422)

    return taking


def save_pdfs(request: HttpRequest, member: Member) -> tuple[list[Document], list[str]]:
    """Upload the files of the form as the API does. Return the documents, and a sentence for each refused file; the
    others are kept."""
    documents, problems, by = [], [], actor(request, member)
    for file in cast(list[StagedFile], request.FILES.getlist(FIELD)):
        name, kind = file.name or "", file.content_type or ""
        if kind == _UNKNOWN and name.lower().endswith(".pdf"):  # where the browser's system knows no PDFs
            kind = _PDF
        if kind != _PDF:
            problems.append(_("%(name)s is not a PDF. Save it as PDF and try again.") % {"name": name})
            continue
        try:
            documents.append(upload(scope(member), file.writer, name, kind, by, accept_drawn_differently=True))
        except DomainError as refused:
            problems.append(f"{name}: {refused.message}")
    if not documents and not problems:
        problems.append(_("Choose a PDF file."))
    return documents, problems


def limit_mb() -> int:
    return int(settings.PARAPH.upload_limit_mb)


@member_page(Right.SEE, post=Right.SEND)
@takes_pdfs
def documents(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method != "POST":
        return _list_page(request, member, [])
    made, problems = save_pdfs(request, member)
    for document in made:
        tags_of(document)
    if made:
        message = ngettext("%(count)d document was uploaded.", "%(count)d documents were uploaded.", len(made))
        messages.success(request, message % {"count": len(made)})
    return _list_page(request, member, problems) if problems else see_other("documents", member.organization_id)


def _list_page(request: HttpRequest, member: Member, problems: list[str]) -> HttpResponse:
    asked = shown_scope(request, member)
    rows, older = _newest(asked, number_in(request.GET.get("before", "")))
    content = {
        "rows": rows,
        "older": older,
        "may_send": may(member.role, Right.SEND) and asked.environment == Environment.PRODUCTION,
        "problems": problems,
        "limit": limit_mb(),
    }
    return show(request, "documents/listing.html", content, member=member, status=422 if problems else 200)


def _newest(scope: TenantScope, before: int | None) -> tuple[list[tuple[Document, DocumentTags | None]], int | None]:
    """Return the caller's newest documents, those before a document where one is given, with the tags found in them;
    and the id to go on from, None at the end."""
    mine = scoped(Document, scope).filter(status=DocumentStatus.READY, file_deleted_at=None)
    if before is not None and (last := scoped(Document, scope).filter(pk=before).first()):
        mine = mine.filter(created_at__lte=last.created_at, pk__lt=last.pk)
    # Looked up for each row that is shown: for EXISTS, the rows of all organizations may be read.
    used = Subquery(RequestDocument.objects.filter(document=OuterRef("pk")).values("pk")[:1])
    rows = list(mine.annotate(used=used).defer("preflight").order_by("-created_at", "-pk")[: _AT_ONCE + 1])
    shown = rows[:_AT_ONCE]
    known = DocumentTags.objects.in_bulk([document.pk for document in shown])
    return [(each, known.get(each.pk)) for each in shown], shown[-1].pk if len(rows) > _AT_ONCE else None


def _document(member: Member, document_id: int) -> Document:
    found = own(Document, member, document_id)
    if found.status != DocumentStatus.READY or found.file_deleted_at:
        raise Http404
    return found


@member_page(Right.SEE, document_id=_document)
def document(request: HttpRequest, member: Member, found: Document) -> HttpResponse:
    may_send = may(member.role, Right.SEND) and found.environment == Environment.PRODUCTION
    content = {
        "document": found,
        "sha256": bytes(found.sha256).hex(),
        "tags": [(tag, place.page_number) for tag, place in tags_of(found).items()],
        "uses": RequestDocument.objects.filter(document=found).count(),
        "sheets": [
            {"number": number, "width": width, "height": height}
            for number, (width, height) in enumerate(found.pages[:_MOST_PAGES], start=1)
        ],
        "download": store.presign(found.object_key, found.name, store.LINK_SECONDS),
        "may_send": may_send,
        "may_delete": may_send and unused(Document.objects.filter(pk=found.pk)).exists(),
    }
    return show(request, "documents/document.html", content, member=member, environment=found.environment)


@member_page(Right.SEND, document_id=_document)
def delete(request: HttpRequest, member: Member, found: Document) -> HttpResponse:
    """Delete a production document, after asking: those of the sandbox are the API's, and are deleted automatically."""
    if found.environment != Environment.PRODUCTION:
        raise Http404
    form = forms.Form(request.POST if request.method == "POST" else None)
    if form.is_valid():
        with refusals_in(form):
            delete_document(scope(member), found.pk, actor(request, member))
            sentence = _("The document “%(name)s” was deleted.") % {"name": found.name}
            return done(request, sentence, "documents", member.organization_id)
    content = {"document": found, "form": form}
    return show(request, "documents/delete.html", content, member=member, environment=found.environment)


@member_page(Right.SEE, document_id=_document)
def picture(_request: HttpRequest, _member: Member, found: Document, number: int, zoom: int = 100) -> HttpResponse:
    """``…/pages/{number}.webp`` and ``{number}-{zoom}.webp``: a page as its signers see it."""
    return drawn(partial(page_picture, found, number, zoom))


@member_page(Right.SEE, document_id=_document)
def small_picture(_request: HttpRequest, _member: Member, found: Document) -> HttpResponse:
    """``…/thumbnail.webp``: the first page, for lists."""
    return drawn(partial(thumbnail, found))


def drawn(draw: Callable[[], bytes | str], content_type: str = "image/webp") -> HttpResponse:
    """Return a picture that browsers keep for a while. Raise ``Http404`` where there is none, ``NoPlaceError`` where
    there may be one in a few seconds."""
    try:
        response = HttpResponse(draw(), content_type=content_type)
    except NoPlaceError:
        raise
    except DomainError as refused:
        raise Http404(refused.message) from refused
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response
