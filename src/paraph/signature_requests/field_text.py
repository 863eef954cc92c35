"""The text of a field's value, as it is drawn and printed."""

from datetime import date

from paraph import words
from paraph.signature_requests.field_values import Value
from paraph.signature_requests.models import Field, FieldType


def shown_text(field: Field, value: Value | None, locale: str) -> str:
    """Return the text: dates and numbers as the language writes them, "" for None, and for a checkbox, which has a
    cross or a word of its own instead."""
    if not value or isinstance(value, bool):
        return ""
    if field.type in (FieldType.DATE, FieldType.SIGNED_ON):
        return words.day(date.fromisoformat(value), locale)
    return words.number(value, locale) if field.type == FieldType.NUMBER else value
