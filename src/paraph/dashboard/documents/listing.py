"""``/app/{o}/documents``: all documents of the organization, and the form to upload more."""

from collections.abc import Iterable
from typing import NamedTuple

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext
from django.views.decorators.csrf import csrf_exempt

from paraph.dashboard.decorators import member_page, scope, see_other, show
from paraph.dashboard.documents.uploads import limit_mb, save_pdfs, takes_pdfs
from paraph.documents.models import Document, DocumentStatus
from paraph.drafts.models import DocumentTags
from paraph.drafts.tags import tags_of
from paraph.signature_requests.models import RequestDocument
from paraph.tenants.models import Environment, Member
from paraph.tenants.rights import Right, may
from paraph.tenants.scope import scoped

_AT_ONCE = 50


@csrf_exempt  # the upload makes the same check, once the body may be read
def documents(request: HttpRequest, organization_id: int) -> HttpResponse:
    return (_uploaded if request.method == "POST" else _listed)(request, organization_id)


@member_page(Right.SEND)
@takes_pdfs
def _uploaded(request: HttpRequest, member: Member) -> HttpResponse:
    made, problems = save_pdfs(request, member)
    for document in made:
        tags_of(document)
    if made:
        message = ngettext("%(count)d document was uploaded.", "%(count)d documents were uploaded.", len(made))
        messages.success(request, message % {"count": len(made)})
    return _page(request, member, problems) if problems else see_other("documents", member.organization_id)


@member_page(Right.SEE)
def _listed(request: HttpRequest, member: Member) -> HttpResponse:
    return _page(request, member, [])


def _page(request: HttpRequest, member: Member, problems: list[str]) -> HttpResponse:
    rows, older = _newest(member, _number(request.GET.get("before", "")))
    content = {
        "rows": rows,
        "older": older,
        "may_send": may(member.role, Right.SEND),
        "problems": problems,
        "limit": limit_mb(),
    }
    return show(request, "documents/listing.html", content, member=member, status=422 if problems else 200)


class _Row(NamedTuple):
    document: Document
    page_count: int
    tag_count: int | None


def _newest(member: Member, before: int | None) -> tuple[list[_Row], int | None]:
    """The newest documents of both environments, those before a document where one is given; and the id to go on
    from, None at the end."""
    rows: list[Document] = []
    for environment in Environment:
        mine = scoped(Document, scope(member, environment)).filter(status=DocumentStatus.READY, file_deleted_at=None)
        if before is not None:
            last = scoped(Document, scope(member, Environment.PRODUCTION)).filter(pk=before).first()
            last = last or scoped(Document, scope(member, Environment.SANDBOX)).filter(pk=before).first()
            mine = mine.filter(created_at__lte=last.created_at, pk__lt=before) if last else mine
        used = Exists(RequestDocument.objects.filter(document=OuterRef("pk")))
        rows += mine.annotate(used=used).defer("preflight").order_by("-created_at", "-pk")[: _AT_ONCE + 1]
    rows.sort(key=lambda document: (document.created_at, document.pk), reverse=True)
    shown = rows[:_AT_ONCE]
    return _with_tags(shown), shown[-1].pk if len(rows) > _AT_ONCE else None


def _with_tags(documents: Iterable[Document]) -> list[_Row]:
    known = DocumentTags.objects.in_bulk([document.pk for document in documents])
    return [
        _Row(document, len(document.pages), len(known[document.pk].found) if document.pk in known else None)
        for document in documents
    ]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
