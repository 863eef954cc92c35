"""Checking the attributes of a field against its type and against each other."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from paraph.signature_requests.entered_value import entered
from paraph.signature_requests.field_input import FieldInput
from paraph.signature_requests.models import FILLED_BY_SERVICE, Field, FieldType
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.values import InvalidValueError

_OF_TYPES = {
    "options": (FieldType.CHOICE,),
    "max_length": (FieldType.TEXT, FieldType.MULTILINE),
    "minimum": (FieldType.NUMBER, FieldType.DATE),
    "maximum": (FieldType.NUMBER, FieldType.DATE),
}
"""The types that have an attribute, where not all do that the signer fills in."""

_OF_THE_SIGNER = ("required", "value", "read_only", *_OF_TYPES)
"""What a field that the service fills does not have."""


def check(given: FieldInput, path: str, problems: Problems) -> None:
    """Add a problem for each attribute that the type does not have and for what does not fit together. A part that
    could not be read, None, is not judged."""
    if given.type is None:
        return
    for name in _OF_THE_SIGNER:
        if name in given.model_fields_set and getattr(given, name) is not None and not _has(given.type, name):
            sentence = _("a field of type %(type)s has no such attribute.")
            problems.add(f"{path}.{name}", sentence % {"type": given.type})
    if given.type not in FILLED_BY_SERVICE:
        _check_values(given, path, problems)


def row_of(given: FieldInput) -> Field:
    """Return the row of a field that was checked, without its place and what it belongs to. The value that the sender
    gave is as it is kept."""
    row = Field(
        name=given.name,
        type=given.type,
        label=given.label or given.name,
        required=given.required,
        read_only=given.read_only,
        options=given.options,
        max_length=given.max_length,
        minimum=_bound(given, given.minimum),
        maximum=_bound(given, given.maximum),
        font_size=given.font_size,
    )
    if given.value is not None:
        row.value = entered(row, given.value)
    return row


def _has(kind: str, name: str) -> bool:
    return kind not in FILLED_BY_SERVICE and kind in _OF_TYPES.get(name, FieldType)


def _check_values(given: FieldInput, path: str, problems: Problems) -> None:
    if _has(given.type, "options") and given.options is None and not problems.has_below(f"{path}.options"):
        problems.add(f"{path}.options", _("it is required, as type is choice."))
    if given.read_only and given.value is None:
        problems.add(f"{path}.value", _("it is required, as read_only is true."))
    if _has(given.type, "minimum") and not _bounds_fit(given, path, problems):
        return
    if given.value is not None and not problems.has_below(path):
        try:
            row_of(given)
        except InvalidValueError as invalid:
            problems.add(f"{path}.value", str(invalid))


def _bounds_fit(given: FieldInput, path: str, problems: Problems) -> bool:
    """Judge each bound as a value of the type is judged, and both together."""
    bounds: dict[str, Any] = {}
    for name in ("minimum", "maximum"):
        bound = getattr(given, name)
        if bound is None:
            continue
        try:
            bounds[name] = _read_bound(given, bound)
        except InvalidValueError as invalid:
            problems.add(f"{path}.{name}", str(invalid))
            return False
    if len(bounds) == 2 and bounds["minimum"] > bounds["maximum"]:
        sentence = _("it must not be below the minimum, %(least)s.")
        problems.add(f"{path}.maximum", sentence % {"least": _bound(given, given.minimum)})
        return False
    return True


def _read_bound(given: FieldInput, bound: object) -> Decimal | str:
    if FieldType(given.type) == FieldType.DATE:
        return str(entered(Field(type=given.type), bound))
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        raise InvalidValueError(_("it must be a number."))
    return Decimal(str(entered(Field(type=given.type), _bound(given, bound))))


def _bound(given: FieldInput, bound: str | float | None) -> Any:
    """Return a bound as rows have it."""
    if bound is None:
        return ""
    return f"{Decimal(repr(bound)):f}" if FieldType(given.type) == FieldType.NUMBER else bound
