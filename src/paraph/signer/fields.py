"""``/sign/{token}/fields``: the fields that a signer fills in, for signing pages of others (GET); and what they have
entered so far, kept until it is signed (POST). ``…/documents/{id}/pages/{number}-values.svg``: the values on a page as
they will stand there, by what draws the sealed ones; one picture, in which they share their letters."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.gzip import gzip_page

from paraph.flow.signing.enter_fields import enter_fields
from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.kernel.places import expensive_work
from paraph.pdf.typesetting.field_values import FieldPlace, FieldsContent, field_picture, fields_picture
from paraph.signature_requests.fields.entry import Entry, judged, measure, read_entries
from paraph.signature_requests.fields.kinds import field_content, is_entered
from paraph.signature_requests.fields.shown import ShownValue, own_value, shown_values
from paraph.signature_requests.fields.store import Values, facts_of, fields_of, own_fields, values_of
from paraph.signature_requests.models import Field, Signer
from paraph.signature_requests.signing_token import token as token_of
from paraph.signature_requests.translated_refusal import translated
from paraph.signer import answers, language
from paraph.signer.authentication import found, posted, require_reader
from paraph.signer.documents import document_of
from paraph.signer.stamp_rate import count_entry, count_values

_MOST_PICTURES = 20  # of one answer
_KEPT_SECONDS = 900
_RULES = ("options", "max_length", "minimum", "maximum")


@csrf_exempt
@gzip_page
def fields(request: HttpRequest, token: str) -> HttpResponse:
    """GET: who may read sees the fields, each with what was entered and what is wrong with that. POST: ``fields``, as
    in the body of the signature; right or wrong, they are kept while the signer may sign."""
    if request.method == "POST":
        answer: HttpResponse = _enter(request, token)
        return answer
    signer = None
    try:
        if request.method not in ("GET", "HEAD"):
            allowed = {"allowed": "GET, POST", "method": request.method}
            raise translated("method_not_allowed", "method", **allowed)
        signer = found(token)
        require_reader(signer)
    except DomainError as error:
        return answers.refusal(error, language.of_answer(request), signer)
    locale, typed, own = language.of_answer(request, signer), values_of(signer), own_fields(signer)
    measure(own, typed, signer.request.locale)
    return answers.answer({"fields": [_told(signer, each, typed, locale) for each in own]}, 200, locale)


@posted
def _enter(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> dict[str, Any]:
    entries = read_entries(body.get("fields"), own_fields(signer))
    count_entry(signer.pk)
    typed = enter_fields(signer, entries)
    return {"fields": _kept(signer, entries, typed, language.of_answer(request, signer, body.get("locale")))}


def _kept(signer: Signer, entries: Sequence[Entry], typed: Values, locale: str) -> list[dict[str, Any]]:
    values = shown_values(signer, fields_of(signer.request_id), typed)
    messages = [_message(signer, entry.field, typed, locale) for entry in entries]
    return [
        {
            "document_id": entry.field.request_document.document_id,
            "name": entry.field.name,
            "message": message,
            "svg": _svg(signer, entry.field, typed) if number < _MOST_PICTURES and not message else None,
            "page": values_address(signer, entry.field.request_document.document_id, entry.field.page_number, values)
            or None,
        }
        for number, (entry, message) in enumerate(zip(entries, messages, strict=True))
    ]


def _svg(signer: Signer, field: Field, typed: Values) -> str | None:
    value = own_value(signer, field, typed)
    locale = signer.request.locale
    return None if value is None else field_picture(field_content(field, value, locale)).decode()


def _message(signer: Signer, field: Field, typed: Values, locale: str) -> str | None:
    """Say what is wrong with what was entered; None where nothing is, or nothing was entered yet."""
    if not is_entered(field) or not typed.get(field.pk, field.value):
        return None
    problem = judged(field, typed.get(field.pk, field.value), signer.request.locale, read_in=locale)[1]
    return problem.sentence(locale) if problem else None


def _told(signer: Signer, field: Field, typed: Values, locale: str) -> dict[str, Any]:
    """Return the value as it was entered, the sender's where nothing was, null where there is none."""
    value = typed.get(field.pk, field.value) if is_entered(field) else own_value(signer, field, typed)
    told = facts_of(field) | {
        "label": field.label,
        "required": field.required,
        "read_only": not is_entered(field),
        "value": value,
        "message": _message(signer, field, typed, locale),
        "placement": {name: getattr(field, name) for name in ("page_number", "x", "y", "width", "height")},
    }
    return told | {name: rule for name in _RULES if (rule := getattr(field, name)) not in (None, "")}


@gzip_page
def values_image(request: HttpRequest, token: str, document_id: int, number: int) -> HttpResponse:
    """Draw the values on a page for those who see the values (:mod:`paraph.signature_requests.fields.shown`)."""
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
