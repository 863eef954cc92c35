"""The signatures that a file already has (ISO 32000-1, 12.7.4.5 and 12.8)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from paraph.pdf.structure.objects import Dictionary, Ref
from paraph.pdf.structure.revision import Revision
from paraph.pdf.structure.signed_fields import text_of_string

_DEEPEST = 32


@dataclass(frozen=True)
class ExistingSignatures:
    """``changes_forbidden``: a signature permits no change at all. ``field_names``: the partial names of all
    form fields."""

    signatures: int
    changes_forbidden: bool
    field_names: frozenset[str]


def existing_signatures(revision: Revision) -> ExistingSignatures:
    """Return what the form of the file says of its signatures, with all fields visited."""
    root = revision.resolve(revision.reader.trailer.get(b"/Root"))
    form = revision.resolve(root.get(b"/AcroForm"))
    fields = revision.resolve(form.get(b"/Fields")) if isinstance(form, dict) else None
    names, signatures = set[str](), list[Dictionary]()
    for field in _fields(revision, fields, set(), 0):
        names.add(text_of_string(revision.resolve(field.get(b"/T"))))
        value = revision.resolve(field.get(b"/V"))
        if isinstance(value, dict) and b"/ByteRange" in value and b"/Contents" in value:
            signatures.append(value)
    return ExistingSignatures(
        len(signatures), any(_forbids_changes(revision, value) for value in signatures), frozenset(names)
    )


def _fields(revision: Revision, values: Any, seen: set[Ref], depth: int) -> Iterator[Dictionary]:
    for value in values if isinstance(values, list) and depth < _DEEPEST else ():
        if type(value) is Ref:
            if value in seen:
                continue
            seen.add(value)
        field = revision.resolve(value)
        if isinstance(field, dict):
            yield field
            yield from _fields(revision, revision.resolve(field.get(b"/Kids")), seen, depth + 1)


def _forbids_changes(revision: Revision, signature: Dictionary) -> bool:
    """Whether the signature certifies the file at level 1: no changes at all (ISO 32000-1, table 254)."""
    references = revision.resolve(signature.get(b"/Reference"))
    for item in references if isinstance(references, list) else ():
        reference = revision.resolve(item)
        if isinstance(reference, dict) and reference.get(b"/TransformMethod") == b"/DocMDP":
            parameters = revision.resolve(reference.get(b"/TransformParams"))
            if isinstance(parameters, dict) and revision.resolve(parameters.get(b"/P")) == 1:
                return True
    return False
