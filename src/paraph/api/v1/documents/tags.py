"""The tags of a document: what magic fields can name."""

from functools import partial
from typing import Self

from django.http import HttpResponse, QueryDict
from django.utils.translation import gettext as _
from pydantic import Field

from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.operation import operation, query
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response
from paraph.api.v1.shapes import Output, Points
from paraph.documents import models
from paraph.documents.models import DocumentStatus
from paraph.documents.refusals import sentence_of
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import FoundTag, list_texts
from paraph.signature_requests.input_types import LONGEST_TAG, MOST_PAGES
from paraph.signature_requests.values import InvalidValueError, text
from paraph.storage import store
from paraph.tenants.scope import scoped, tenant_key

MOST = 500
_TEXT = query(
    "text",
    "Another text, verbatim, capital letters too. Blanks and line breaks do not count.",
    type="string",
    minLength=1,
    maxLength=LONGEST_TAG,
)


class DocumentTag(Output):
    """A text that a magic field can name, and where its ink is, in points of the page as a reader sees it, origin at
    the bottom left. Of a text over several lines it is that of the last."""

    tag: str = Field(min_length=1, description="As it stands in the PDF, with its braces.")
    page_number: int = Field(ge=1, le=MOST_PAGES, description="From 1.")
    x: Points = Field(description="Points from the left edge of the page.", json_schema_extra={"minimum": 0})
    y: Points = Field(description="Points from the bottom edge of the page.", json_schema_extra={"minimum": 0})
    width: Points = Field(ge=0, description="Points.")
    height: Points = Field(ge=0, description="Points.")

    @classmethod
    def of(cls, found: tuple[str, FoundTag]) -> Self:
        tag, at = found
        return cls.build(tag=tag, page_number=at.page_number, x=at.x, y=at.y, width=at.width, height=at.height)


class DocumentTags(Output):
    """Every place of the tags of a document."""

    data: list[DocumentTag] = Field(max_length=MOST, description="In reading order; the first 500.")


@operation(
    "listDocumentTags",
    "GET /documents/{document_id}/tags",
    DocumentTags,
    "The tags, in reading order.",
    accepts=(_TEXT,),
    refuses=("unavailable", "validation_text", "gone_file", "conflict_pending"),
)
def list_document_tags(request: ApiRequest, document_id: int) -> HttpResponse:
    """List the tags of a document.

    Lists what stands in double braces, such as `{{signature:landlord}}`, wherever it does: what magic fields can name.
    With `text`, the places of another text.
    """
    row = scoped(models.Document, request.scope).filter(pk=document_id).first()
    if row is None:
        raise not_found()
    wanted = _wanted(request.GET)
    if row.file_deleted_at:
        raise DomainError("gone", _("The file of document %(document)d has been deleted.") % {"document": row.pk})
    if row.status != DocumentStatus.READY:
        raise DomainError("conflict", _("document %(document)d is not ready yet.") % {"document": row.pk})
    try:
        found = list_texts(
            partial(store.get, row.shown_key), wanted, tenant_key=tenant_key(row), sha256=row.shown_sha256
        )
    except PdfRefused as refused:
        raise DomainError("validation_error", sentence_of(refused)) from refused
    return json_response(DocumentTags.build(data=[DocumentTag.of(each) for each in found]))


def _wanted(asked_for: QueryDict) -> str:
    """Return the text that is asked for; "" for what stands in double braces."""
    given = asked_for.getlist("text")
    if len(given) > 1:
        raise DomainError("validation_error", _("%(name)s is given more than once.") % {"name": "text"})
    try:
        return text(given[0], LONGEST_TAG) if given else ""
    except InvalidValueError as wrong:
        raise DomainError("validation_error", f"text: {wrong}") from wrong
