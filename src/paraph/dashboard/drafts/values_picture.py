"""``/app/{o}/drafts/{id}/signers/{signer}/documents/{document}/values-{number}.svg``: what is known of the values of a
signer's fields on a page, as they will stand there, drawn by what draws the sealed ones."""

from typing import NamedTuple

from django.http import Http404, HttpRequest, HttpResponse

from paraph.dashboard.decorators import limits_stamps, member_page, scope
from paraph.drafts.models import Draft, DraftDocument, DraftField
from paraph.drafts.signer_name import signer_name
from paraph.kernel import clock
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent, fields_picture
from paraph.signature_requests.fields.input import FieldInput
from paraph.signature_requests.fields.room import known_content
from paraph.signature_requests.values import InvalidValueError
from paraph.tenants.models import Member
from paraph.tenants.rights import Right
from paraph.tenants.scope import scoped


@member_page(Right.SEND)
@limits_stamps
def values_picture(request: HttpRequest, member: Member, draft_id: int, signer_id: int, **page: int) -> HttpResponse:  # noqa: ARG001
    """Draw the values. Browsers do not keep the picture, which changes with each value."""
    draft = scoped(Draft, scope(member)).filter(pk=draft_id).first()
    rows = DraftDocument.objects.filter(draft=draft, document=page["document_id"]).select_related("document")
    row = rows.first() if draft and draft.signers.filter(pk=signer_id).exists() else None
    if draft is None or row is None or not 1 <= page["number"] <= len(row.document.pages):
        raise Http404
    width, height = row.document.pages[page["number"] - 1]
    known = [
        (field, content_of(field, draft.locale))
        for field in draft.places().fields
        if (field.document.pk, field.signer.pk, field.page_number) == (row.pk, signer_id, page["number"])
    ]
    places = [
        FieldPlace(field.x, height - field.y - field.height, content) for field, content in known if content is not None
    ]
    return HttpResponse(fields_picture(FieldsContent(width, height, places)), content_type="image/svg+xml")


class _Person(NamedTuple):
    full_name: str
    email: str
    signed_on: str


def content_of(field: DraftField, locale: str) -> FieldContent | None:
    """Return what is drawn for the field, on the day of today; None where nothing is known yet, or what is known cannot
    be taken. ``locale``: of the draft."""
    signer = _Person(signer_name(field.signer, locale), field.signer.email, clock.now().date().isoformat())
    given = FieldInput.model_construct(**field.content)
    try:
        content = known_content(given, field.width, field.height, signer, locale)
    except InvalidValueError:
        return None
    return None if content is None or content.is_blank else content
