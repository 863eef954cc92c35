"""What is drawn for a field: the same where it is shown, where it is measured and where it is sealed."""

from paraph.pdf.typesetting.field_values import FieldContent
from paraph.signature_requests.field_text import shown_text
from paraph.signature_requests.field_values import Value
from paraph.signature_requests.models import Field, FieldType


def field_content(field: Field, value: Value | None, locale: str) -> FieldContent:
    """``locale`` is that of the request."""
    return FieldContent(
        width=field.width,
        height=field.height,
        text=shown_text(field, value, locale),
        font_size=field.font_size,
        locale=locale,
        multiline=field.type == FieldType.MULTILINE,
        ticked=value is True,
    )
