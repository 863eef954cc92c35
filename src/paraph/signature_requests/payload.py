"""Reading the payload of a creation: the shape's own refusals in our sentences, and what could be read beside them.

Arrays are counted by the plan's limits before their entries are read; reading ends when more is wrong than is named.
Fields that the shape does not have are refused where they look misspelt or the shape is closed, else passed over.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin

from django.utils.translation import gettext as _
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from paraph.kernel.spelling import nearest
from paraph.signature_requests.fields.input import FieldPlacement
from paraph.signature_requests.input import MOST_STAMPS, SignatureRequestInput, Stamp
from paraph.signature_requests.models import Mode
from paraph.signature_requests.problems import Flood, InvalidPayloadError, Problem, Problems
from paraph.signature_requests.values import ClosedInput, Input
from paraph.tenants.limits import Allowance

MOST_PASSED_OVER = 50

Shapes = tuple[type[Input], ...]
"""Alternatives."""


def look_for_unknown(
    value: object, shape: type[Input], problems: Problems, passed_over: list[str] | None = None
) -> None:
    """Add a problem for each unknown field of a closed shape, and for each one of another shape that is within two
    letters of a known field; add the paths of the others to ``passed_over``, until there are :data:`MOST_PASSED_OVER`.
    A value of another type than the shape says is not looked into."""
    _look(value, (shape,), "", problems, [] if passed_over is None else passed_over)


def look_beside(
    content: Iterable[str], root: str, shape: type[Input], problems: Problems, passed_over: list[str]
) -> None:
    """Check the keys beside the ``root`` key of a body, whose value has the ``shape``, as :func:`look_for_unknown`
    does. A key that is or looks like a field of the shape is a problem too."""
    fields = _fields((shape,))
    for name in content:
        if problems.full or len(passed_over) >= MOST_PASSED_OVER:
            return
        here = _shown(name)
        if name == root:
            continue
        if nearest(name, (root,)):
            problems.add(here, _("there is no such field here; did you mean %(name)s?") % {"name": root})
        elif name in fields or nearest(name, fields):
            problems.add(here, _("it belongs within %(root)s.") % {"root": root})
        elif issubclass(shape, ClosedInput):
            problems.add(here, _("there is no such field here."))
        else:
            passed_over.append(here)


def _look(value: object, shapes: Shapes, path: str, problems: Problems, passed_over: list[str]) -> None:
    if not isinstance(value, dict):
        return
    fields = _fields(shapes)
    for name, each in value.items():
        if problems.full or len(passed_over) >= MOST_PASSED_OVER:
            return
        found = fields.get(name)
        here = f"{path}.{name}" if path else name
        if found is None:
            _tell(name, _shown(here), shapes, problems, passed_over)
        elif found.within:
            _look(each, found.within, here, problems, passed_over)
        elif found.entries and isinstance(each, list):
            for index, entry in enumerate(each):
                _look(entry, found.entries, f"{here}[{index}]", problems, passed_over)


def _tell(name: str, here: str, shapes: Shapes, problems: Problems, passed_over: list[str]) -> None:
    if meant := nearest(name, _fields(shapes)):
        problems.add(here, _("there is no such field here; did you mean %(name)s?") % {"name": meant})
    elif any(issubclass(shape, ClosedInput) for shape in shapes):
        problems.add(here, _("there is no such field here."))
    else:
        passed_over.append(here)


def _shown(path: str) -> str:
    return path[:200].encode("utf-8", "replace").decode()


class _Field(NamedTuple):
    """The shapes of the object that a field holds, or of the entries of its array."""

    within: Shapes
    entries: Shapes


@cache
def _fields(shapes: Shapes) -> dict[str, _Field]:
    """Return the fields that any of the alternative shapes has, by name."""
    kinds: dict[str, list[Any]] = {}
    for shape in shapes:
        for name, field in shape.model_fields.items():
            kinds.setdefault(name, []).extend(_variants(field.annotation))
    return {
        name: _Field(
            _inputs(each),
            _inputs(inner for kind in each if get_origin(kind) is list for inner in _variants(get_args(kind)[0])),
        )
        for name, each in kinds.items()
    }


def _inputs(kinds: Iterable[Any]) -> Shapes:
    return tuple(kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Input))


def _variants(shape: Any) -> Iterator[Any]:
    """Yield the alternatives of a type, each without its annotations."""
    origin = get_origin(shape)
    if origin is Annotated:
        yield from _variants(get_args(shape)[0])
    elif origin in (Union, UnionType):
        for each in get_args(shape):
            yield from _variants(each)
    else:
        yield shape


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
    ``shape``: also one whose parts may be missing, :data:`paraph.signature_requests.input.UnnamedRequest` or
    :data:`paraph.signature_requests.input.PartialRequest`; a missing part is None, or an array without entries.

    With problems, the request has what could be read: an unreadable field is None, and an array of which entries were
    not read ends with an entry that has no field set. Raise ``validation_error`` for what is no object.
    """
    payload, flood = _within_limits(object_of(value), allowance, problems), Flood()
    look_for_unknown(payload, shape, problems)
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


def object_of(value: object, root: str = "signature_request") -> Json:
    """Return the value under a root key. Raise ``validation_error`` for what is no object."""
    if not isinstance(value, dict):
        problem = Problem(root, _("it must be an object."))
        raise InvalidPayloadError("validation_error", str(problem), [problem])
    return value


Shape = TypeVar("Shape", bound=Input)


def read_small(shape: type[Shape], value: Json) -> Shape:
    """Return what a small body says. Raise ``validation_error`` with every problem of it."""
    problems = Problems()
    look_for_unknown(value, shape, problems)
    try:
        found = shape.model_validate(value)
    except ValidationError as invalid:
        for error in invalid.errors(include_url=False, include_input=False):
            if error["type"] != "extra_forbidden":  # named already
                problems.add(*_problem(error, value))
        raise InvalidPayloadError("validation_error", problems.message(), problems.named) from None
    problems.refuse()
    return found


def _within_limits(value: Json, allowance: Allowance, problems: Problems) -> Json:
    """Return the payload with no more entries in each array than the plan allows, and in parallel mode without the
    order of signers: nobody reads the rest."""

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
    if steps[-1] == "stamps":  # case 1, also for no array and for too many
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


_BOUNDED = ("fields", "copies")  # where these have too many entries, none was read


def _part(shape: type[Any], value: Any, path: str, refused: set[str]) -> Any:
    """Return what could be read of an object, without the paths in ``refused``."""
    given = shape.without_nulls(value) if isinstance(value, dict) else {}
    found: Json = {name: None for name, field in shape.model_fields.items() if field.is_required()}
    for name in found.keys() | given.keys() & shape.model_fields.keys():
        here, each = f"{path}.{name}".removeprefix("."), given.get(name)
        if name == "stamps":
            stamps = each[:MOST_STAMPS] if isinstance(each, list) else []
            found[name] = [_read(_STAMP, stamp) for stamp in stamps]
        elif name == "placement":
            found[name] = _read(_PLACEMENT, each)
        elif shapes := _fields((shape,))[name].entries:
            entries = each if isinstance(each, list) and not (here in refused and name in _BOUNDED) else []
            found[name] = [_part(shapes[0], one, f"{here}[{index}]", refused) for index, one in enumerate(entries)]
            if here in refused:
                found[name].append(_part(shapes[0], {}, here, refused))
        elif here in refused:
            found[name] = None
        else:
            found[name] = int(each) if isinstance(each, float) and each.is_integer() else each
    return shape.model_construct(_fields_set=set(given), **found)


def _read(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Return the value as the adapter reads it, None where it cannot be read."""
    try:
        return adapter.validate_python(value)
    except ValidationError:
        return None
