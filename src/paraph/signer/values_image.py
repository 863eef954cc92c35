"""``GET …/documents/{id}/pages/{number}-values.svg``: the values on a page as they will stand there, by what draws the
sealed ones; one picture, in which they share their letters."""

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_work
from paraph.pdf.typesetting.field_values import FieldPlace, FieldsContent, fields_picture
from paraph.signature_requests.fields.kinds import field_content
from paraph.signature_requests.fields.shown import ShownValue, shown_values
from paraph.signature_requests.fields.store import fields_of, values_of
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_token import token as token_of
from paraph.signer import answers, language
from paraph.signer.authentication import found, require_reader
from paraph.signer.documents import document_of
from paraph.signer.stamp_rate import count_values

_KEPT_SECONDS = 900


@gzip_page
def values_image(request: HttpRequest, token: str, document_id: int, number: int) -> HttpResponse:
    """For those who see the values (:mod:`paraph.signature_requests.shown_values`)."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    signer = None
    try:
        signer = found(token)
        require_reader(signer)
        count_values(signer.pk)
        with expensive_work():
            picture = fields_picture(_content(signer, document_id, number))
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    response = answers.private(HttpResponse(picture, content_type="image/svg+xml"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


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
