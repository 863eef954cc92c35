"""``/app/{o}/documents/{id}``: a document, its tags and its pages; ``…/delete`` asks before it is deleted."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.decorators import actor, member_page, scope, see_other, show
from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.tags import tags_of
from paraph.flow.housekeeping.unused_documents import delete_document, unused
from paraph.flow.signing.shown_documents import page_picture, thumbnail
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestDocument
from paraph.storage import store
from paraph.tenants.models import Environment, Member
from paraph.tenants.rights import Right, may
from paraph.tenants.scope import scoped

_MOST_PAGES = 20
_KEPT_SECONDS = 900


@member_page(Right.SEE)
def document(request: HttpRequest, member: Member, document_id: int) -> HttpResponse:
    found = _document(member, document_id)
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
    return show(request, "documents/document.html", content, member=member)


@member_page(Right.SEND)
def delete(request: HttpRequest, member: Member, document_id: int) -> HttpResponse:
    """Delete a document of production, after asking: those of the sandbox are the API's, and go by themselves."""
    found = _document(member, document_id)
    if found.environment != Environment.PRODUCTION:
        raise Http404
    refused = ""
    if request.method == "POST":
        try:
            delete_document(scope(member), found.pk, actor(request, member))
        except DomainError as refusal:
            refused = refusal.message
        else:
            messages.success(request, _("The document “%(name)s” was deleted.") % {"name": found.name})
            return see_other("documents", member.organization_id)
    content = {"document": found, "refused": refused}
    status = 422 if refused else 200
    return show(request, "documents/delete.html", content, member=member, status=status)


@member_page(Right.SEE)
def picture(request: HttpRequest, member: Member, document_id: int, number: int, zoom: int = 100) -> HttpResponse:  # noqa: ARG001
    """``…/pages/{number}.webp`` and ``{number}-{zoom}.webp``: a page as its signers see it."""
    try:
        return _picture(page_picture(_document(member, document_id), number, zoom))
    except DomainError as refused:
        raise Http404(refused.message) from refused


@member_page(Right.SEE)
def small_picture(request: HttpRequest, member: Member, document_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/thumbnail.webp``: the first page, for lists."""
    try:
        return _picture(thumbnail(_document(member, document_id)))
    except DomainError as refused:
        raise Http404(refused.message) from refused


def _picture(image: bytes) -> HttpResponse:
    response = HttpResponse(image, content_type="image/webp")
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


def _document(member: Member, document_id: int) -> Document:
    for environment in Environment:
        found = scoped(Document, scope(member, environment)).filter(pk=document_id).first()
        if found and found.status == DocumentStatus.READY and not found.file_deleted_at:
            return found
    raise Http404
