"""The types of fields as the dashboard offers them: what each is called, how large it begins, and what can be said of
it."""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from paraph.signature_requests.field_input import BOX_SIZE, DEFAULT_SIZE
from paraph.signature_requests.models import LONGEST_FIELD_NAME, FieldType

_FILLED_IN = ("required", "value", "read_only")


class Kind(NamedTuple):
    """``size`` in points; ``attributes``: those that the type has beside a name, a label and a font size."""

    type: FieldType
    label: str | Promise
    size: tuple[float, float] = DEFAULT_SIZE
    attributes: tuple[str, ...] = _FILLED_IN

    @classmethod
    def of(cls, name: str) -> Self:
        return next(kind for kind in KINDS if kind.type == name)  # type: ignore[return-value]

    def content(self, name: str) -> dict[str, Any]:
        """Return what a new field of the kind asks, as the payload has it."""
        content = {"name": name, "type": str(self.type), "font_size": 10}
        if "options" in self.attributes:
            content["options"] = [_("Option %(number)s") % {"number": number} for number in (1, 2)]
        return content


KINDS = (
    Kind(FieldType.TEXT, gettext_lazy("Text"), attributes=(*_FILLED_IN, "max_length")),
    Kind(FieldType.MULTILINE, gettext_lazy("Paragraph"), (240, 60), (*_FILLED_IN, "max_length")),
    Kind(FieldType.NUMBER, pgettext_lazy("field", "Number"), (100, 18), (*_FILLED_IN, "minimum", "maximum")),
    Kind(FieldType.DATE, gettext_lazy("Date"), (100, 18), (*_FILLED_IN, "minimum", "maximum")),
    Kind(FieldType.CHECKBOX, gettext_lazy("Checkbox"), BOX_SIZE),
    Kind(FieldType.CHOICE, gettext_lazy("Choice"), attributes=(*_FILLED_IN, "options")),
    Kind(FieldType.SIGNED_ON, gettext_lazy("Date of signature"), (100, 18), ()),
    Kind(FieldType.FULL_NAME, gettext_lazy("Full name"), attributes=()),
    Kind(FieldType.EMAIL, gettext_lazy("E-mail"), attributes=()),
)


def free_name(name: str, taken: Iterable[str]) -> str:
    """Return the name, with -2, -3 … at its end where it is taken."""
    names, number = set(taken), 1
    candidate = name
    while candidate in names:
        number += 1
        ending = f"-{number}"
        candidate = f"{name[: LONGEST_FIELD_NAME - len(ending)]}{ending}"
    return candidate
