"""``GET …/documents/{id}/pages/{number}-values.svg``: the values on a page as they will stand there, by what draws the
sealed ones; one picture, in which they share their letters."""

from collections.abc import Iterable

from django.http import HttpRequest
from django.views.decorators.gzip import gzip_page

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_work
from paraph.pdf.typesetting.field_values import FieldPlace, FieldsContent, fields_picture
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_values import values_of
from paraph.signature_requests.models import Signer
from paraph.signature_requests.request_fields import fields_of
from paraph.signature_requests.shown_values import ShownValue, shown_values
from paraph.signature_requests.signing_token import token as token_of
from paraph.signer.authentication import KEPT_SECONDS, got, require_reader
from paraph.signer.described import described
from paraph.signer.documents import document_of
from paraph.signer.stamp_rate import count_values


@gzip_page
@got(kept=KEPT_SECONDS, media="image/svg+xml")
@described("GET /documents/{document_id}/pages/{number}-values.svg", "drawValues", "The values.", "image/svg+xml")
def values_image(_request: HttpRequest, signer: Signer, document_id: int, number: int) -> bytes:
    """Show the values on a page.

    The values as they will stand on the page, as a picture of its size: the signer's own, what the sender has set, and
    in `sequential` mode what those before have signed. 404 where there are none. Browsers may keep it for 15 minutes.
    The address that `page` of the answer to what was entered names changes with the values.
    """
    require_reader(signer)
    count_values(signer.pk)
    with expensive_work():
        return fields_picture(_content(signer, document_id, number))


def values_address(signer: Signer, document_id: int, number: int, values: Iterable[ShownValue]) -> str:
    """Return the address of the picture, "" where the page has none of the ``values``. Its last part changes with the
    values, and tells nobody of them."""
    told = [
        f"{each.field.pk} {each.value}"
        for each in values
        if each.field.request_document.document_id == document_id and each.field.page_number == number
    ]
    if not told:
        return ""
    version = tokens.keyed_hash(bytes(signer.token_salt), *(each.encode("utf-8", "replace") for each in told))
    return f"/sign/{token_of(signer)}/documents/{document_id}/pages/{number}-values.svg?v={version.hex()[:8]}"


def _content(signer: Signer, document_id: int, number: int) -> FieldsContent:
    pages = document_of(signer, document_id).pages
    fields = [
        field
        for field in fields_of(signer.request_id)
        if field.request_document.document_id == document_id and field.page_number == number
    ]
    values = shown_values(signer, fields, values_of(signer))
    if not values:
        raise DomainError("not_found", "There are no such values.")
    width, height = pages[number - 1]
    return FieldsContent(
        width,
        height,
        [
            FieldPlace(
                each.field.x,
                height - each.field.y - each.field.height,
                field_content(each.field, each.value, signer.request.locale),
            )
            for each in values
        ],
    )
