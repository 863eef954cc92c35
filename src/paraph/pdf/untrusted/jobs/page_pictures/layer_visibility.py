"""Layers (optional content; ISO 32000-2, 8.11): whether a file has any, and whether one of them prints.

PDFium decides this itself for page contents, but ignores the /OC of annotations.
"""

import re
from typing import Any

import pikepdf

from paraph.pdf.untrusted.jobs.names import name_of

LAYER_NAMES = re.compile(rb"/(?:OCProperties|OCGs?|OCMD|OC|Usage)\b")
"""Matches, in a dictionary as qpdf writes it, whatever makes a viewer leave something out."""
_DEEPEST = 32  # nesting depth of a visibility expression


def has_layers(document: pikepdf.Pdf) -> bool:
    """Whether any object mentions optional content."""
    return any(LAYER_NAMES.search(_text(item)) for item in document.objects)


def is_layer_printed(membership: Any, document: pikepdf.Pdf) -> bool:
    """Whether the group or membership dictionary of an /OC shows in print. A malformed one does."""
    if not isinstance(membership, pikepdf.Dictionary):
        return True
    configuration = _dictionary(_dictionary(document.Root.get("/OCProperties")).get("/D"))
    if membership.get("/Type") != "/OCMD":
        return _group_is_printed(membership, configuration)
    expression = membership.get("/VE")
    if isinstance(expression, pikepdf.Array):
        return _holds(expression, configuration, _DEEPEST)
    named = membership.get("/OCGs")
    groups = list(named) if isinstance(named, pikepdf.Array) else [named]
    states = [_group_is_printed(group, configuration) for group in groups if isinstance(group, pikepdf.Dictionary)]
    policy = name_of(membership.get("/P"))
    answers = {"/AllOn": all(states), "/AnyOff": not all(states), "/AllOff": not any(states)}
    return answers.get(policy, any(states)) if states else True


def _group_is_printed(group: Any, configuration: Any) -> bool:
    """Decide as PDFium does: by the usage for print, else that for the screen, else the default configuration."""
    usage = _dictionary(group.get("/Usage"))
    for event in ("Print", "View"):
        state = _dictionary(usage.get(f"/{event}")).get(f"/{event}State")
        if state is not None:
            return bool(state != "/OFF")
    shown = bool(configuration.get("/BaseState") != "/OFF")
    if _among(group, configuration.get("/ON")):
        shown = True
    if _among(group, configuration.get("/OFF")):
        shown = False
    return shown


def _holds(expression: Any, configuration: Any, depth: int) -> bool:
    """Evaluate a visibility expression: an operator and its operands, which are groups or expressions."""
    if isinstance(expression, pikepdf.Dictionary):
        return _group_is_printed(expression, configuration)
    if not isinstance(expression, pikepdf.Array) or not len(expression) or not depth:
        return True
    operator, *operands = expression
    states = [_holds(operand, configuration, depth - 1) for operand in operands]
    if operator == "/Not":
        return not all(states)
    return any(states) if operator == "/Or" else all(states)


def _among(group: Any, groups: Any) -> bool:
    return isinstance(groups, pikepdf.Array) and any(_is_same(item, group) for item in groups)


def _is_same(one: Any, other: Any) -> bool:
    return isinstance(one, pikepdf.Dictionary) and one.is_indirect and bool(one.objgen == other.objgen)


def _text(item: Any) -> bytes:
    if isinstance(item, pikepdf.Stream):
        item = item.stream_dict
    is_composed = isinstance(item, pikepdf.Dictionary | pikepdf.Array)
    return item.unparse(resolved=True) if is_composed else b""


def _dictionary(value: Any) -> Any:
    return value if isinstance(value, pikepdf.Dictionary) else {}
