"""What will stand in a field of a draft whatever its signer does, or unless the signer changes it: the value that the
sender gave, or what the service fills in."""

from typing import Any

from paraph.drafts.models import DraftField
from paraph.drafts.signer_name import signer_name
from paraph.kernel import clock
from paraph.pdf.typesetting.field_values import FieldContent
from paraph.signature_requests.entered_value import entered
from paraph.signature_requests.field_content import field_content
from paraph.signature_requests.field_values import Value
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, FieldType
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
    value = _value(field, row, asked, locale)
    content = None if value is None else field_content(row, value, locale)
    return None if content is None or content.is_blank else content


def _value(field: DraftField, row: Field, asked: dict[str, Any], locale: str) -> Value | None:
    if row.type in FILLED_BY_SERVICE:
        return _of_service(field, row, locale)
    try:
        return entered(row, asked["value"]) if asked.get("value") is not None else None
    except InvalidValueError:
        return None


def _of_service(field: DraftField, row: Field, locale: str) -> str:
    if row.type == FieldType.SIGNED_ON:
        return clock.now().date().isoformat()
    return signer_name(field.signer, locale) if row.type == FieldType.FULL_NAME else field.signer.email
