"""The operations of contents that all readers follow alike (ISO 32000-1, 7.8.2 and annex A).

Of operations that lack operands, or have others than they need, nobody can tell: readers guess, skip them or stop
there, and may draw what follows anywhere.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal
from typing import Any

import pikepdf

from paraph.pdf.structure.contents_grammar import PAINTING
from paraph.pdf.structure.objects import REGULAR, SPACE, Unsafe, parse

_STRING = rb"\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S])*+\))*+\)"


def _operator(letters: bytes) -> bytes:
    """Return a pattern that begins with its letters: it is found in half the time of one that begins with what may not
    stand before them."""
    within_a_word = rb"(?<![^\x00\t\n\x0c\r ()<>\[\]{}%%]%b)" % letters
    return letters + within_a_word + rb"(?<=(%b))" % letters + rb"(?!" + REGULAR + rb")"


_WORDS = re.compile(
    _STRING + rb"|%[^\r\n]*+"
    rb"|\((?<=(\())"  # a string with more parentheses within it
    rb"|" + rb"|".join(map(_operator, (b"q", b"Q", b"BI"))) + rb"|/(?<=(/))(" + REGULAR + rb"*+)[" + SPACE + rb"]++"
    rb"[-+.0-9]++[" + SPACE + rb"]++Tf(?!" + REGULAR + rb")"
)
_IMAGE = re.compile(_STRING + rb"|%[^\r\n]*+|" + _operator(b"BI"))
_IMAGE_DATA = re.compile(_operator(b"ID") + rb"|" + _operator(b"EI"))
_IMAGE_END = re.compile(rb"EI(?!" + REGULAR + rb")")  # programs write it right behind the data
_BRACKETS = re.compile(_STRING + rb"|%[^\r\n]*+|(<<|>>)")
_NUMBER, _NAME, _TEXT, _LIST, _DASHES, _ANY = "number", "name", "text", "list", "dashes", "any"
_OPERANDS: dict[bytes, tuple[str, ...]] = {
    **dict.fromkeys((b"g", b"G", b"w", b"J", b"j", b"M", b"i", b"Tc", b"Tw", b"Tz", b"TL", b"Ts", b"Tr"), (_NUMBER,)),
    **dict.fromkeys((b"m", b"l", b"Td", b"TD"), (_NUMBER,) * 2),
    **dict.fromkeys((b"rg", b"RG"), (_NUMBER,) * 3),
    **dict.fromkeys((b"k", b"K", b"re", b"v", b"y"), (_NUMBER,) * 4),
    **dict.fromkeys((b"cm", b"Tm", b"c"), (_NUMBER,) * 6),
    **dict.fromkeys((b"gs", b"Do", b"sh", b"cs", b"CS", b"ri", b"BMC", b"MP"), (_NAME,)),
    **dict.fromkeys((b"BDC", b"DP"), (_NAME, _ANY)),
    **dict.fromkeys((b"Tj", b"'"), (_TEXT,)),
    b"Tf": (_NAME, _NUMBER),
    b"TJ": (_LIST,),
    b'"': (_NUMBER, _NUMBER, _TEXT),
    b"d": (_DASHES, _NUMBER),
}
"""What operations need (ISO 32000-1, annex A), the last operand last: readers agree to pass over more of them."""
_ZEROS = (b".", b"-")
"""Readers agree that these are numbers, which pikepdf takes for operators."""
_SHOWS = PAINTING - {b"n"} | {b"Tj", b"TJ", b"'", b'"', b"Do", b"sh", b"INLINE IMAGE"}


def may_lose(contents: bytes, fonts: Collection[bytes]) -> bool:
    """Return whether contents with these fonts may lose a part, told at a glance; :func:`without_lost` knows for
    certain."""
    depth = 0
    for parenthesis, opens, closes, image, slash, font in _WORDS.findall(contents):
        if opens:
            depth += 1
        elif closes:
            depth -= 1
        elif parenthesis or image or (slash and slash + font not in fonts):
            return True
        if depth < 0:
            return True
    return False


def without_lost(
    instructions: Iterable[Any], fonts: Collection[bytes], empty: Collection[bytes] = (), *, cut_off: bool = False
) -> list[Any] | None:
    """Return the instructions that all readers follow, ``None`` if these are all: text in a missing font has no size,
    there is nothing behind a ``Q`` that closes nothing, nor where contents are ``cut_off``. Raise Unsafe where
    something is shown behind an operation that lacks what it needs, or the choice of a font that is ``empty``."""
    kept: list[Any] = []
    depth, lost, odd, zeros = 0, cut_off, False, list[Any]()
    for instruction in instructions:
        operator = instruction.operator.unparse()  # str() needs UTF-8
        depth += (operator == b"q") - (operator == b"Q")
        if depth < 0:
            return kept
        operands = [*zeros, *instruction.operands]
        zeros = [*operands, 0] if operator in _ZEROS else []
        odd = odd or not _has_operands(operands, _OPERANDS.get(operator, ()))
        odd = odd or (operator == b"Tf" and plain_name(operands[0]) in empty)
        if odd and operator in _SHOWS:
            raise Unsafe("an operation lacks what it needs")
        if operator == b"Tf" and len(instruction.operands) > 1 and plain_name(instruction.operands[0]) not in fonts:
            lost = True
            sizeless = [instruction.operands[0], 0]
            instruction = pikepdf.ContentStreamInstruction(sizeless, instruction.operator)  # noqa: PLW2901
        kept.append(instruction)
    return kept if lost else None


def _has_operands(operands: Sequence[Any], needed: tuple[str, ...]) -> bool:
    return len(operands) >= len(needed) and all(map(_is, operands[len(operands) - len(needed) :], needed))


def _is(operand: Any, kind: str) -> bool:
    if kind == _NUMBER:
        return isinstance(operand, int | Decimal) and not isinstance(operand, bool)
    if kind == _DASHES:
        return isinstance(operand, pikepdf.Array) and all(_is(each, _NUMBER) for each in operand)
    kinds = {_NAME: pikepdf.Name, _TEXT: pikepdf.String, _LIST: pikepdf.Array, _ANY: object}
    return isinstance(operand, kinds[kind])


def plain_name(value: Any) -> bytes:
    """Return a name as our own reader has it; empty for anything else."""
    return bytes(parse(value.unparse(), 0)[0]) if isinstance(value, pikepdf.Name) else b""


def is_cut_off(contents: bytes) -> bool:
    """Return whether readers may take all the rest for a dictionary that is opened and not closed. Raise Unsafe for an
    image in the contents without its data or end: some readers draw the rest as one, wherever it stands."""
    position = 0
    while image := _IMAGE.search(contents, position):
        position = image.end()
        if image[1]:
            data = _IMAGE_DATA.search(contents, position)
            end = _IMAGE_END.search(contents, data.end()) if data and data[1] else None
            if end is None:
                raise Unsafe("an image does not end")
            position = end.end()
    brackets = [found for found in _BRACKETS.findall(contents) if found]
    return brackets.count(b"<<") > brackets.count(b">>")
