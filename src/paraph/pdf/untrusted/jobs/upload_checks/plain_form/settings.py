"""What contents set before they draw, where readers do not agree what it is for (ISO 32000-1, 8.4, 8.6.8 and 9.3)."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from paraph.pdf.structure.contents_grammar import PAINTING, SPACES, found_in
from paraph.pdf.structure.inline_images import end_of_image
from paraph.pdf.structure.objects import REGULAR, SPACE
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.contents import STRING
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import NOTHING, Remarks

_TOKEN = re.compile(STRING + rb"|%[^\r\n]*+|<<|>>|<[^>]*+>|[\[\]]|/" + REGULAR + rb"*+|" + REGULAR + rb"++")
_GAP, _ENDS = rb"[" + SPACE + rb"]", rb"(?!" + REGULAR + rb")"
_DIGIT, _DIGITS_OR_GAP = rb"[0-9A-Fa-f]", rb"[0-9A-Fa-f" + SPACE + rb"]"
_WANTED = [
    re.compile(rule + _ENDS)
    for rule in (
        _GAP + rb"(?:cs|CS|scn?|SCN?)",
        rb"(?<!\[\] 0)" + _GAP + rb"d",
        rb"(?<!" + _GAP + rb"0)" + _GAP + rb"Tr",
        rb"<(?:" + _DIGIT + rb"{2})*+" + _DIGITS_OR_GAP + rb"++>",
    )
]
"""What is looked at; where there is none of it, as in most contents, they are not taken apart."""
_OF_TEXT = re.compile(
    rb"(?:(?<!" + _GAP + rb"0)" + _GAP + rb"T[cwLs]|(?<!" + _GAP + rb"100)" + _GAP + rb'Tz|")' + _ENDS
)
_OPERANDS = frozenset(b"(<>[]/+-.0123456789")
_COMMENT = ord("%")
_OF_SPACES = {b"g": 1, b"rg": 3, b"k": 4}
_USUAL = {b"Tc": 0.0, b"Tw": 0.0, b"Tz": 100.0, b"TL": 0.0, b"Ts": 0.0, b"Tr": 0.0}
_CLIPPING = 4  # and above: modes of text that cut off what follows
_SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
_LINES = frozenset({b"S", b"s"})
_PAINTING = (PAINTING - {b"n"}) | _SHOWING | {b"Do", b"sh", b"BI"}
_WITH_LINES = frozenset({b"S", b"s", b"B", b"B*", b"b", b"b*", b"Do"})
_UNKNOWN = -1


class Looks(NamedTuple):
    """What contents draw with. ``components``: returns of how many numbers a colour in a named space consists, ``None``
    for patterns; ``with_text``: names of forms and fonts of drawings that show text of their own; ``drawn``: those of
    all fonts of drawings."""

    components: Callable[[bytes], int | None]
    with_text: set[bytes]
    drawn: set[bytes]


class _State(NamedTuple):
    """``fill`` and ``line``: components of a colour; ``bare``: which of these two still wait for one; ``text``: what is
    set of text otherwise than it is at first; ``font``: its name."""

    fill: int | None
    line: int | None
    bare: frozenset[str] = frozenset()
    text: frozenset[bytes] = frozenset()
    font: bytes = b""


def shows_text(text: bytes) -> bool:
    return any(each in text for each in _SHOWING)


def are_usual_dashes(lengths: Iterable[float], phase: float) -> bool:
    """Return whether all readers draw the same dashes: some take none below zero, and nothing but zeros for none."""
    listed = list(lengths)
    return not listed or (min(listed) >= 0 and any(listed) and phase >= 0)


def check_settings(texts: Sequence[bytes], looks: Looks, *, of_page: bool) -> Remarks:
    """Return what readers may take differently in decoded contents that are well formed. ``of_page``: they begin with
    black; others begin with what was set where they are drawn."""
    text = b"\n".join((b"", *texts))
    rules = (*_WANTED, _OF_TEXT) if looks.with_text else _WANTED
    if not any(rule.search(text) for rule in rules):
        return NOTHING
    return _Settings(looks, 1 if of_page else _UNKNOWN).read(text)


class _Settings:
    """Follows the graphics state through contents."""

    def __init__(self, looks: Looks, components: int) -> None:
        self._looks, self._found = looks, set[str]()
        self._state, self._saved = _State(components, components), list[_State]()

    def read(self, text: bytes) -> Remarks:
        operands: list[bytes] = []
        for token in _TOKEN.findall(_without_images(text) if b"BI" in text else text):
            if token[0] in _OPERANDS:
                operands.append(token)
            elif token[0] != _COMMENT:
                self._operator(token, operands)
                operands = []
        return frozenset(self._found)

    def _operator(self, operator: bytes, operands: list[bytes]) -> None:
        if operator == b"q":
            self._saved.append(self._state)
        elif operator == b"Q":
            self._state = self._saved.pop() if self._saved else self._state
        elif operator in _PAINTING:
            self._paints(operator, operands)
        elif operator == b"Tf":
            self._state = self._state._replace(font=operands[0])
        elif operator in _USUAL:
            self._sets(operator, float(operands[0]))
        elif operator == b"d" and not are_usual_dashes(map(float, operands[1:-2]), float(operands[-1])):
            self._found.add("dashes")
        elif operator.lower() in _OF_SPACES or operator.lower() in (b"cs", b"sc", b"scn"):
            self._colours(operator.lower(), operands, "line" if operator.isupper() else "fill")

    def _colours(self, operator: bytes, operands: list[bytes], side: str) -> None:
        """PDFium keeps the last colour until there is another, others begin each colour space with black."""
        bare = self._state.bare - {side}
        if operator == b"cs":
            self._put(side, self._looks.components(operands[0]), bare | {side})
            return
        count = _OF_SPACES.get(operator, self._state.line if side == "line" else self._state.fill)
        if operator in _OF_SPACES:
            self._put(side, count, bare)
        elif count is not None and (len(operands) != count or operands[-1][:1] == b"/"):
            self._found.add("colours")
        self._state = self._state._replace(bare=bare)

    def _put(self, side: str, count: int | None, bare: frozenset[str]) -> None:
        self._state = self._state._replace(bare=bare, **{side: count})

    def _sets(self, operator: bytes, value: float) -> None:
        text = self._state.text - {operator}
        self._state = self._state._replace(text=text if value == _USUAL[operator] else text | {operator})
        if operator == b"Tr" and value >= _CLIPPING:
            self._found.add("clipping_text")

    def _paints(self, operator: bytes, operands: list[bytes]) -> None:
        state, inner = self._state, operands[0] if operator == b"Do" else b""
        if operator == b'"':
            self._sets(b"Tw", float(operands[0]))
            self._sets(b"Tc", float(operands[1]))
        outlines = operator in _WITH_LINES or (operator in _SHOWING and b"Tr" in state.text)
        if ("fill" in state.bare and operator not in _LINES) or ("line" in state.bare and outlines):
            self._found.add("colours")
        if operator in _SHOWING:
            inner = state.font
            if inner in self._looks.drawn and b"Tr" in state.text:
                self._found.add("text_state")
            if any(each[:1] == b"<" and _is_odd(each) for each in operands):
                self._found.add("digits")
        if inner in self._looks.with_text and state.text:
            self._found.add("text_state")


def _is_odd(token: bytes) -> bool:
    """Return whether half of the last byte of a hexadecimal string is missing."""
    return len(token[1:-1].translate(None, SPACES)) % 2 == 1


def _without_images(text: bytes) -> bytes:
    pieces, position = list[bytes](), 0
    for operator, place in found_in(text):
        end = end_of_image(operator, text, place + len(operator)) if operator[:2] == b"BI" else None
        if end is not None:
            pieces += text[position:place], b" BI "
            position = end
    return b"".join(pieces) + text[position:]
