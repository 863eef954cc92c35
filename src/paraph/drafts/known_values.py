"""What will stand in a field of a draft whatever its signer does, or unless the signer changes it: the value that the
sender gave, or what the service fills in."""

from typing import Any, NamedTuple

from paraph.drafts.models import DraftField
from paraph.drafts.signer_name import signer_name
from paraph.kernel import clock
from paraph.pdf.typesetting.field_values import FieldContent
from paraph.signature_requests.fields.kinds import entered, field_content, known_value
from paraph.signature_requests.fields.readers import Value
from paraph.signature_requests.models import Field
from paraph.signature_requests.values import InvalidValueError


def known_content(field: DraftField, locale: str) -> FieldContent | None:
    """Return what is drawn for the field, on the day of today; None where nothing is known yet, or what is known cannot
    be taken. ``locale``: of the draft."""
    asked = field.content
    row = Field(
        type=asked["type"],
        options=asked.get("options"),
        max_length=asked.get("max_length"),
        font_size=float(asked.get("font_size", 10)),
        width=field.width,
        height=field.height,
    )
    value = known_value(row, _person(field, locale)) or _given(row, asked)
    content = None if value is None else field_content(row, value, locale)
    return None if content is None or content.is_blank else content


class _Person(NamedTuple):
    full_name: str
    email: str
    signed_on: str


def _person(field: DraftField, locale: str) -> _Person:
    return _Person(signer_name(field.signer, locale), field.signer.email, clock.now().date().isoformat())


def _given(row: Field, asked: dict[str, Any]) -> Value | None:
    try:
        return entered(row, asked["value"]) if asked.get("value") is not None else None
    except InvalidValueError:
        return None
