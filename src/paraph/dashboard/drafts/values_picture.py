"""``/app/{o}/drafts/{id}/signers/{signer}/documents/{document}/values-{number}.svg``: what is known of the values of a
signer's fields on a page, as they will stand there, drawn by what draws the sealed ones."""

from django.http import Http404, HttpRequest, HttpResponse

from paraph.dashboard.decorators import member_page, scope
from paraph.dashboard.stamp_rate import counted
from paraph.drafts.known_values import known_content
from paraph.drafts.models import Draft, DraftDocument
from paraph.pdf.typesetting.field_values import FieldPlace, FieldsContent, fields_picture
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped


@member_page(Right.SEND)
@counted
def values_picture(request: HttpRequest, member: Member, draft_id: int, signer_id: int, **page: int) -> HttpResponse:  # noqa: ARG001
    """Not kept by browsers: it is another one as soon as a value is."""
    draft = scoped(Draft, scope(member)).filter(pk=draft_id).first()
    rows = DraftDocument.objects.filter(draft=draft, document=page["document_id"]).select_related("document")
    row = rows.first() if draft and draft.signers.filter(pk=signer_id).exists() else None
    if draft is None or row is None or not 1 <= page["number"] <= len(row.document.pages):
        raise Http404
    width, height = row.document.pages[page["number"] - 1]
    fields = row.fields.filter(signer=signer_id, page_number=page["number"]).select_related("signer")
    known = [(field, known_content(field, draft.locale)) for field in fields]
    places = [
        FieldPlace(field.x, height - field.y - field.height, content) for field, content in known if content is not None
    ]
    return HttpResponse(fields_picture(FieldsContent(width, height, places)), content_type="image/svg+xml")
