"""``GET /sign/{token}/fields/{id}.svg``: a value as it will stand on the page, by what draws the sealed ones."""

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.gzip import gzip_page

from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.field_values import field_picture
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_values import values_of
from paraph.signature_requests.models import Signer
from paraph.signature_requests.request_fields import fields_of
from paraph.signature_requests.shown_values import ShownValue, shown_values
from paraph.signature_requests.signer_documents import documents_of
from paraph.signer import answers, language
from paraph.signer.authentication import found, require_reader

_KEPT_SECONDS = 900


@gzip_page
def field_image(request: HttpRequest, token: str, field_id: int) -> HttpResponse:
    """For those who see the value (:mod:`paraph.signature_requests.shown_values`). Pages name it with a part that
    changes with the value."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    try:
        signer = found(token)
        require_reader(signer)
        shown = _value(signer, field_id)
        picture = field_picture(field_content(shown.field, shown.value, signer.request.locale))
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request))
    response = answers.private(HttpResponse(picture, content_type="image/svg+xml"))
    response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}"
    return response


def _value(signer: Signer, field_id: int) -> ShownValue:
    read = {document.pk for document in documents_of(signer)}
    wanted = [
        field
        for field in fields_of(signer.request_id)
        if field.pk == field_id and field.request_document.document_id in read
    ]
    for shown in shown_values(signer, wanted, values_of(signer)):
        return shown
    raise DomainError("not_found", "There is no such value.")
