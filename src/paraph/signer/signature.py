"""``POST /sign/{token}/signature``, whose body is::

    {"code": "123456", "consent": true, "signature": …, "initials": …, "locale": "en", "fields": …}

``signature`` is ``{"type": "typed"}``, the default, or ``{"type": "drawn", "strokes": [[[x, y], …], …]}``: x and y
from 0 to 1, from the top left, at most 20,000 points. Both are divided by the same length; a client that divides each
by its own side adds ``aspect``, width / height of the drawing area. ``initials`` has the same form and stands where
the request wants initials, and only there. An approver sends neither. ``locale`` names the language in which the
consent notice was accepted. ``fields`` is ``[{"document_id", "name", "value"}]``; what was entered before counts for
those that are left out. ``in_person`` is the ticket of a page that a member opened on their own device. An optional
field that is null counts as absent.
"""

from itertools import chain
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from pydantic import Field, ValidationError

from paraph.flow.signing.sign import Signature, sign
from paraph.kernel import clock
from paraph.otp.codes import six_digits
from paraph.server.client_address import origin
from paraph.signature_requests import copy_ticket
from paraph.signature_requests.consent import LOCALES
from paraph.signature_requests.fields.entry import filled_fields
from paraph.signature_requests.in_person import member_of
from paraph.signature_requests.marks import LONGEST_TEXT, Body, Typed, TypedOrDrawn, dumped, sentences
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.signing_eligibility import require_open
from paraph.signature_requests.translated_refusal import Sentence, TranslatedRefusal
from paraph.signer import answers
from paraph.signer.authentication import posted


class SignatureBody(Body):
    code: Annotated[str, Field(max_length=LONGEST_TEXT)]
    consent: Annotated[bool, Field(strict=True)]
    signature: TypedOrDrawn | None = None
    initials: TypedOrDrawn | None = None
    locale: str | None = None
    fields: Any = None
    in_person: str | None = None


def read(body: dict[str, Any], signer: Signer) -> Signature:
    """Raise ``DomainError("validation_error", …)`` naming the fields that are wrong."""
    try:
        checked = SignatureBody.model_validate(body)
    except ValidationError as error:
        raise TranslatedRefusal("validation_error", *sentences(error)) from error
    locale = signer.request.locale if checked.locale is None else checked.locale
    member_id = member_of(signer, checked.in_person) if checked.in_person else None
    marks = _no_marks(checked) if signer.is_approver else _initials(checked, signer.request)
    problems = list(chain(_consent(checked), marks, _in_person(checked, member_id), _locale(locale)))
    if problems:
        raise TranslatedRefusal("validation_error", *problems)
    return Signature(
        code=six_digits(checked.code),
        signature=None if signer.is_approver else dumped(checked.signature or Typed(type="typed")),
        initials=dumped(checked.initials) if checked.initials else None,
        locale=locale,
        fields=filled_fields(signer, checked.fields, locale),
        member_id=member_id,
    )


def _consent(body: SignatureBody) -> list[Sentence]:
    return [] if body.consent else [("consent", {"field": "consent"})]


def _in_person(body: SignatureBody, member_id: int | None) -> list[Sentence]:
    return [("field_surplus", {"field": "in_person"})] if body.in_person and member_id is None else []


def _no_marks(body: SignatureBody) -> list[Sentence]:
    """An approver draws nothing."""
    given = {"signature": body.signature, "initials": body.initials}
    return [("field_surplus", {"field": field}) for field, mark in given.items() if mark is not None]


def _initials(body: SignatureBody, request: SignatureRequest) -> list[Sentence]:
    if request.initials_required and body.initials is None:
        return [("field_missing", {"field": "initials"})]
    if body.initials is not None and not request.initials_required:
        return [("field_surplus", {"field": "initials"})]
    return []


def _locale(locale: str) -> list[Sentence]:
    return [] if locale in LOCALES else [("field_choice", {"field": "locale", "values": ", ".join(LOCALES)})]


@posted
def signature(request: HttpRequest, signer: Signer, body: dict[str, Any]) -> HttpResponse:
    """Body: :mod:`paraph.signer.signature`. Who may not sign is told so before their body is looked at. The header
    ``X-Copy-Ticket`` lets the page that signed download the sealed files for a quarter of an hour."""
    require_open(signer)
    signed = sign(signer, read(body, signer), origin(request))
    assert signed.signed_at
    response = answers.answer(
        {
            "status": signed.status,
            "signed_at": clock.iso(signed.signed_at),
            "signature_request": {"id": signed.request_id, "status": signed.request.status},
        }
    )
    response["X-Copy-Ticket"] = copy_ticket.ticket(signed, copy_ticket.AFTER_SIGNING)
    return response
