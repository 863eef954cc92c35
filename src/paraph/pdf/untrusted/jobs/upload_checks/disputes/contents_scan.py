"""Contents of which some readers leave a part out: all that follows a ``Q`` that closes nothing, and text in a font
that the resources do not have. PDFium shows both."""

import re
from collections.abc import Collection, Iterable
from typing import Any

import pikepdf

from paraph.pdf.structure.objects import REGULAR, SPACE, parse

_NOT_WITHIN_A_WORD = rb"(?<![^\x00\t\n\x0c\r ()<>\[\]{}%])"
_STRING = rb"\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S])*+\))*+\)"
_WORDS = re.compile(
    _STRING + rb"|%[^\r\n]*+"
    rb"|(\()"  # a string with more parentheses within it
    rb"|" + _NOT_WITHIN_A_WORD + rb"(BI|[qQ])(?!" + REGULAR + rb")"
    rb"|(/" + REGULAR + rb"*+)[" + SPACE + rb"]++[-+.0-9]++[" + SPACE + rb"]++Tf(?!" + REGULAR + rb")"
)


def may_lose(contents: bytes, fonts: Collection[bytes]) -> bool:
    """Whether contents with these fonts may lose a part, told at a glance; :func:`without_lost` knows for certain."""
    depth = 0
    for parenthesis, operator, font in _WORDS.findall(contents):
        if operator == b"q":
            depth += 1
        elif operator == b"Q":
            depth -= 1
        elif parenthesis or operator or (font and font not in fonts):
            return True
        if depth < 0:
            return True
    return False


def without_lost(instructions: Iterable[Any], fonts: Collection[bytes]) -> list[Any] | None:
    """Return the instructions that all readers follow, ``None`` if these are all: text in a missing font has no size,
    and there is nothing behind a ``Q`` that closes nothing."""
    kept: list[Any] = []
    depth, lost = 0, False
    for instruction in instructions:
        operator = instruction.operator.unparse()  # str() needs UTF-8
        depth += (operator == b"q") - (operator == b"Q")
        if depth < 0:
            return kept
        if operator == b"Tf" and len(instruction.operands) > 1 and plain_name(instruction.operands[0]) not in fonts:
            lost = True
            operands = [instruction.operands[0], 0]
            instruction = pikepdf.ContentStreamInstruction(operands, instruction.operator)  # noqa: PLW2901
        kept.append(instruction)
    return kept if lost else None


def plain_name(value: Any) -> bytes:
    """Return a name as our own reader has it; empty for anything else."""
    return bytes(parse(value.unparse(), 0)[0]) if isinstance(value, pikepdf.Name) else b""
