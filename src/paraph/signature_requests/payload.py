"""Reading the payload of a creation: the shape's own refusals in our sentences, and what could be read beside them.

Arrays are counted by the plan's limits before their entries are read; reading ends when more is wrong than is named.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from django.utils.translation import gettext as _
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from paraph.signature_requests.fields.input import FieldPlacement
from paraph.signature_requests.input import (
    MOST_STAMPS,
    SignatureRequestInput,
    Stamp,
)
from paraph.signature_requests.input_types import Input
from paraph.signature_requests.models import Mode
from paraph.signature_requests.problems import Flood, InvalidPayloadError, Problem, Problems
from paraph.signature_requests.unknown_fields import entry_of, look_for_unknown
from paraph.tenants.limits import Allowance

Json = dict[str, Any]
_STAMP: TypeAdapter[Stamp] = TypeAdapter(Stamp)
_PLACEMENT: TypeAdapter[FieldPlacement] = TypeAdapter(FieldPlacement)
_KINDS = {"magic_field", "coordinates"}  # stand in pydantic's location of an error, and in no path of ours

_SENTENCES: dict[str, Callable[[Json], str]] = {
    "value_error": lambda facts: str(facts["error"]),  # of paraph.signature_requests.values
    "missing": lambda _facts: _("it is required."),
    "bool_type": lambda _facts: _("it must be a JSON boolean, true or false."),
    "list_type": lambda _facts: _("it must be an array."),
    "too_short": lambda _facts: _("it must have at least one entry."),
    "too_long": lambda facts: (
        _("it must have at most %(limit)d entries, not %(count)d.")
        % {"limit": facts["max_length"], "count": facts["actual_length"]}
    ),
    "model_type": lambda _facts: _("it must be an object."),
    "model_attributes_type": lambda _facts: _("it must be an object."),
    "string_unicode": lambda _facts: _("it must not contain control characters or lone surrogates."),
    "literal_error": lambda facts: _one_of(facts["expected"]),
    "union_tag_not_found": lambda _facts: _("it is required."),
    "union_tag_invalid": lambda facts: _one_of(facts["expected_tags"]),
}
"""What each of pydantic's types of error says here."""


def read(
    value: object, allowance: Allowance, problems: Problems, shape: type[SignatureRequestInput] = SignatureRequestInput
) -> SignatureRequestInput:
    """Return the request that a payload describes, after adding a problem for each part that could not be read.
    ``shape``: one of which parts may be missing, :data:`paraph.signature_requests.variants.UnnamedRequest` or
    :data:`paraph.signature_requests.variants.PartialRequest`; these are None, or an array without entries.

    With problems, it holds what could be read: a field that could not is None, and an array of which entries were not
    read ends with one that has no field set. Raises ``validation_error`` for what is no object.
    """
    if not isinstance(value, dict):
        sentence = _("it must be an object.")
        problem = Problem("signature_request", sentence)
        raise InvalidPayloadError("validation_error", str(problem), [problem])
    payload, flood = _within_limits(value, allowance, problems), Flood()
    look_for_unknown(payload, shape, "", problems, [])
    try:
        found = shape.model_validate(payload, context=flood)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_input=False):
            problems.add(*_problem(error, payload))
        problems.full |= flood.full  # the problems of an array that is too long are not told
    else:
        if not problems:
            return found
    if problems.full:
        payload["documents"] = []  # nobody looks at them any more
    refused = {problem.path for problem in problems.named}
    partial: SignatureRequestInput = _part(shape, payload, "", refused)
    return partial


Shape = TypeVar("Shape", bound=Input)


def read_small(shape: type[Shape], value: Json) -> Shape:
    """Return what a small body says. Raises ``validation_error`` with every problem of it."""
    problems = Problems()
    look_for_unknown(value, shape, "", problems, [])
    try:
        found = shape.model_validate(value)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_input=False):
            problems.add(*_problem(error, value))
        raise InvalidPayloadError("validation_error", problems.message(), problems.named) from None
    problems.refuse()
    return found


def _within_limits(value: Json, allowance: Allowance, problems: Problems) -> Json:
    """Return the payload with as many entries of each array as the plan allows; nobody reads more, nor the
    order of signers in parallel mode."""

    def entries(holder: Json, name: str, path: str, limit: int) -> Any:
        given = holder.get(name)
        if not isinstance(given, list) or len(given) <= limit:
            return given
        sentence = _("your plan allows at most %(limit)d entries per request, not %(count)d.")
        problems.add(path, sentence % {"limit": limit, "count": len(given)})
        return given[:limit]

    payload = dict(value)
    if isinstance(signers := entries(value, "signers", "signers", allowance.signers), list):
        parallel = value.get("mode") != Mode.SEQUENTIAL
        payload["signers"] = [
            {**signer, "order": None} if parallel and isinstance(signer, dict) else signer for signer in signers
        ]
    if isinstance(documents := entries(value, "documents", "documents", allowance.documents), list):
        payload["documents"] = [
            {**document, "signers": entries(document, "signers", f"documents[{index}].signers", allowance.signers)}
            if isinstance(document, dict) and "signers" in document
            else document
            for index, document in enumerate(documents)
        ]
    return payload


def _problem(error: ErrorDetails, payload: Json) -> tuple[str, str]:
    """Return the path that an error is about, and its sentence."""
    steps = [step for step in error["loc"] if step not in _KINDS]
    if error["type"].startswith("union_tag"):
        steps.append("type")
    if steps[-1] == "stamps":  # case 1: neither no array nor too many
        document = payload["documents"][steps[1]]
        assignment = document["signers"][steps[3]]
        sentence = stamps_sentence(assignment.get("signer_ref"), document.get("id"), assignment.get("stamps"))
    else:
        sentence = _SENTENCES[error["type"]](error.get("ctx", {}))
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path.removeprefix("."), sentence


def stamps_sentence(ref: object, document_id: object, stamps: object) -> str:
    """Say how many stamps a signer must have on a document, and has."""
    return _("signer “%(ref)s” must have from 1 to %(limit)d stamps on document %(document)d, not %(count)d.") % {
        "ref": ref if isinstance(ref, str) else "",
        "limit": MOST_STAMPS,
        "document": document_id if isinstance(document_id, int) else 0,
        "count": len(stamps) if isinstance(stamps, list) else 0,
    }


def _one_of(expected: str) -> str:
    """``expected`` is as pydantic lists values: in quotes."""
    return _("it must be one of %(values)s.") % {"values": ", ".join(re.findall("'([^']*)'", expected))}


_BOUNDED = ("fields", "copies")  # of one that has too many entries, none was read


def _part(shape: type[Any], value: Any, path: str, refused: set[str]) -> Any:
    """Return what could be read of an object, where the paths of ``refused`` could not."""
    given = shape.without_nulls(value) if isinstance(value, dict) else {}
    found: Json = {name: None for name, field in shape.model_fields.items() if field.is_required()}
    for name in found.keys() | given.keys() & shape.model_fields.keys():
        here, each = f"{path}.{name}".removeprefix("."), given.get(name)
        if name == "stamps":
            stamps = each[:MOST_STAMPS] if isinstance(each, list) else []
            found[name] = [_read(_STAMP, stamp) for stamp in stamps]
        elif name == "placement":
            found[name] = _read(_PLACEMENT, each)
        elif entry := entry_of(shape, name):
            entries = each if isinstance(each, list) and not (here in refused and name in _BOUNDED) else []
            found[name] = [_part(entry, one, f"{here}[{index}]", refused) for index, one in enumerate(entries)]
            if here in refused:
                found[name].append(_part(entry, {}, here, refused))
        elif here in refused:
            found[name] = None
        else:
            found[name] = int(each) if isinstance(each, float) and each.is_integer() else each
    return shape.model_construct(_fields_set=set(given), **found)


def _read(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Return what stands there, None where it cannot be read."""
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None
