"""The contents of a plain file, in the grammar of :mod:`paraph.pdf.structure.contents_grammar`, and what they set that
readers may take differently (ISO 32000-1, 8.4, 8.6.8, 9.3 and 9.6.4)."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from paraph.pdf.structure.contents_grammar import PAINTING, SPACES, end_of_image, found_in
from paraph.pdf.structure.graphics_state import Ending, ending
from paraph.pdf.structure.objects import REGULAR, SPACE, parse
from paraph.pdf.structure.pages import Matrix, apply, compose
from paraph.pdf.untrusted.jobs.upload_checks.fonts import Remarks
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain

_LONGEST = 32_000
_PARTS = {
    b"gap": rb"[" + SPACE + rb"]",
    b"ends": rb"(?!" + REGULAR + rb")",
    b"regular": REGULAR,
    b"space": SPACE,
    b"string": rb"\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S])*+\))*+\))*+\)",
}


def _rule(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern % _PARTS)


_STRINGS = _rule(rb"%(string)b|<[0-9A-Fa-f%(space)b]*+>|%%[^\r\n]*+")
_USED = _rule(rb"/(%(regular)b*+)%(gap)b++(?:[-+.0-9]++%(gap)b++)?+(Tf|gs|Do|sh|cs|CS|scn|SCN)%(ends)b")
_OPERATION = _rule(rb"([-+.0-9%(space)b]*+)(?:/%(regular)b*+%(gap)b*+)?([A-Za-z][A-Za-z0-9*]*+)")
_OF_OUTLINES = _rule(rb"([-+.0-9%(space)b]++)[mlcvy]%(ends)b")
_TOKEN = _rule(
    rb"%(string)b|%%[^\r\n]*+|<<|>>|<[^>]*+>"
    rb"|\[(?:%(string)b|%%[^\r\n]*+|<[^>]*+>|[-+.0-9%(space)b]++)*+\]|[\[\]]|/%(regular)b*+|%(regular)b++"
    rb"|(?:%(gap)b[-+.0-9%(space)b]*+(?:[mlcvyhwJjMi]|re|cm|T[dDm*]|BT|ET)%(ends)b)++|%(gap)b{8,}+"
)
"""A run of operators that set nothing is one token, and so is a long gap, which would be searched time and again."""
_SPACE_SET = _rule(rb"(?:cs|CS)(?<=%(gap)b..)%(ends)b")
_COLOUR_SET = [_rule(name + rb"(?<=%(gap)b..)[nN]?%(ends)b") for name in (rb"sc", rb"SC")]
_AT_ONCE = _rule(rb"(/%(regular)b*+)%(gap)b++(?:cs|CS)%(gap)b++((?:[-+.0-9]++%(gap)b++)*+)(?:sc|SC)[nN]?+%(ends)b")
"""A colour space, and right after it a colour in that space."""
_MODES = _rule(rb"Tr(?<=%(gap)bTr)(?<!%(gap)b0%(gap)bTr)%(ends)b")
_HALVES = _rule(rb"<(?:[0-9A-Fa-f]{2})*+[0-9A-Fa-f%(space)b]++>")
_DASHES = _rule(rb"\[([-+.0-9%(space)b]*+)\]%(gap)b*+([-+.0-9]++)%(gap)b++d%(ends)b")
_BELOW_ZERO = _rule(rb"-(?=[.0]*+[1-9])[.0-9]++%(gap)b++w%(ends)b")
_WITHOUT_AREA = _rule(rb"(?:%(gap)b-?0++(?:\.0*+)?+%(gap)b++[-+.0-9]++|%(gap)b-?0++(?:\.0*+)?+)%(gap)b++re%(ends)b")
_TO_ITSELF = _rule(rb"m(?<=%(gap)bm)%(gap)b++(?:h%(ends)b|([-+.0-9]++)%(gap)b++([-+.0-9]++)%(gap)b++l%(ends)b)")
_IN_INKS = _rule(rb"(?:[kK](?<=%(gap)b.)(?<!%(gap)b0%(gap)b0%(gap)b0%(gap)b1%(gap)b.)%(ends)b)")
"""A colour in inks of which black is not the only one, or is not full."""
_COMMENTED = _rule(rb"%%[^\r\n]*+%(gap)b++(?:[-+.0-9\[\]]++%(gap)b*+)*+(?:T[rcwzLs]|d|'|\")%(ends)b")
"""A comment before the operator, which may hide an operand from the other rules."""
_OF_TEXT = [
    _rule(rb"T(?:[cwLs](?<!%(gap)b0%(gap)b..)|z(?<!%(gap)b100%(gap)b..))%(ends)b"),
    _rule(rb"\"(?<=[)>%(space)b].)%(ends)b"),
]
_ONE_IMAGE = _rule(rb"(?:[^(<%%B]++|B(?!I))*+(?<=%(gap)b)BI(?=%(gap)b)")  # outside of strings and comments
_INLINE = _rule(rb"(?<!%(regular)b)BI(?=%(gap)b)")
_INLINE_MASK = _rule(rb"/(?:IM|ImageMask)%(gap)b++true%(ends)b")
_SHOWN = _rule(rb"(?:Tj|TJ|[)>]%(gap)b*+['\"])%(ends)b")
CATEGORIES = {
    **{b"Tf": b"/Font", b"gs": b"/ExtGState", b"Do": b"/XObject", b"sh": b"/Shading"},
    **dict.fromkeys((b"cs", b"CS"), b"/ColorSpace"),
    **dict.fromkeys((b"scn", b"SCN"), b"/Pattern"),
}
OWN_SPACES = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/Pattern"})
"""Colour spaces that stand for themselves, not in the resources."""
_OPERATORS = re.compile(rb"[A-Za-z][A-Za-z0-9*]*+")
_PAIRS = {b"m": 1, b"l": 1, b"c": 3, b"v": 2, b"y": 2}
_BEYOND = (b"(", b"<", b"%")  # text, and what is not worth telling apart from it
_PICTURES = (b"Do", b"BI")
_PASSED = frozenset(b"h f F f* n W W* w J j M i d g rg k G RG K gs".split())
_OUTLINES = _PASSED.union(_PAIRS) - {b"gs"}
_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0))
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
_SPARE = 0.05  # of the larger side: lines between pixels
_LONG = 64  # characters of two numbers
_OPERANDS = frozenset(b"(<>[]/+-.0123456789")
_COMMENT = ord("%")
_BETWEEN = frozenset({b"%", *(bytes([each]) for each in SPACES)})
_OF_SPACES = {b"g": 1, b"rg": 3, b"k": 4}
_USUAL = {b"Tc": 0.0, b"Tw": 0.0, b"Tz": 100.0, b"TL": 0.0, b"Ts": 0.0, b"Tr": 0.0}
_UNSEEN, _NOT_SHOWN = 3, b"3 Tr"  # the mode of text in scans, on which readers agree
_CLIPPING = 4  # and above: modes of text that cut off what follows
_SHOWING = frozenset({b"Tj", b"TJ", b"'", b'"'})
_LINES = frozenset({b"S", b"s"})
_PAINTING = (PAINTING - {b"n"}) | _SHOWING | {b"Do", b"sh", b"BI"}
_WITH_LINES = frozenset({b"S", b"s", b"B", b"B*", b"b", b"b*", b"Do"})
_UNKNOWN = -1


def check_contents(texts: list[bytes], *, within: str) -> Ending:
    """Return how the decoded contents end. Raise NotPlain where readers may take them differently."""
    found = ending(texts)
    if found is None:
        raise NotPlain(f"the contents of {within} are malformed")
    if found.strays:
        raise NotPlain(f"the contents of {within} restore what they did not save")
    for text in texts:
        if len(text) > _LONGEST and any(len(each) > _LONGEST for each in _STRINGS.findall(text)):
            raise NotPlain(f"the contents of {within} have a string that is too long")
    return found


def used_names(texts: Iterable[bytes]) -> set[tuple[bytes, bytes]]:
    """Return (category, name with its slash) of each resource that contents use, those of OWN_SPACES included."""
    used = {each for text in texts for each in _USED.findall(text)}
    return {(CATEGORIES[operator], parse(b"/" + name, 0)[0]) for name, operator in used}


def keeps_within(head: bytes, contents: bytes, *, deep: bool) -> bool:
    """Return whether a drawing keeps within the box of ``d1`` in ``head``. ``deep``: it draws more than images."""
    if not head.rstrip().endswith(b"d1"):
        return True
    text = without_images(contents)
    drawn = None if deep or any(each in head + text for each in _BEYOND) else _points(text)
    if not drawn:
        return drawn is not None
    left, bottom, right, top = map(float, head.split()[2:6])
    xs, ys = zip(*drawn, strict=True)
    spare = _SPARE * max(right - left, top - bottom)
    beyond: float = max(left - min(xs), bottom - min(ys), max(xs) - right, max(ys) - top)
    return beyond <= spare


def _points(contents: bytes) -> list[tuple[float, float]] | None:
    """Return points around all that is drawn; ``None`` where anything but paths and images is drawn."""
    if _OUTLINES.issuperset(_OPERATORS.findall(contents)):  # as of most glyphs
        listed = list(map(float, b" ".join(_OF_OUTLINES.findall(contents)).split()))
        return list(zip(listed[::2], listed[1::2], strict=True))
    matrix, saved, found = _SAME, list[Matrix](), list[tuple[float, float]]()
    for numbers, operator in _OPERATION.findall(contents):
        operands = [float(each) for each in numbers.split()]
        points: list[tuple[float, float]] = []
        if operator in _PAIRS:
            points = list(zip(operands[::2], operands[1::2], strict=True))
        elif operator == b"re":
            x, y, width, height = operands
            points = [(x + width * across, y + height * up) for across, up in _CORNERS]
        elif operator in _PICTURES:
            points = list(_CORNERS)
        elif operator == b"q":
            saved.append(matrix)
        elif operator == b"Q":
            matrix = saved.pop()
        elif operator == b"cm":
            a, b, c, d, e, f = operands
            matrix = compose((a, b, c, d, e, f), matrix)
        elif operator not in _PASSED:
            return None
        found += [apply(matrix, x, y) for x, y in points]
    return found


class Looks(NamedTuple):
    """What contents draw with. ``components`` returns how many numbers a colour in a named space has, ``None`` for
    patterns; ``with_text``: names of forms and fonts of drawings that show text of their own; ``drawn``: names of all
    fonts of drawings; ``coloured``: there are named colour spaces, or patterns."""

    components: Callable[[bytes], int | None]
    with_text: set[bytes]
    drawn: set[bytes]
    coloured: bool


class _State(NamedTuple):
    """``fill`` and ``line``: components of a colour; ``bare``: which of these two still lack a colour; ``text``: the
    operators of text that have set another value than the initial one; ``font``: the name of the font."""

    fill: int | None
    line: int | None
    bare: frozenset[str] = frozenset()
    text: frozenset[bytes] = frozenset()
    font: bytes = b""


def shows_text(text: bytes) -> bool:
    return bool(_SHOWN.search(text) or (b"%" in text and _COMMENTED.search(text)))


def _lacks_area(text: bytes) -> bool:
    """Return whether a path or rectangle has no area by its coordinates, so that only some readers draw it."""
    return bool(_WITHOUT_AREA.search(text)) or any(
        found[1] is None or text[max(found.start() - _LONG, 0) : found.start()].split()[-2:] == [found[1], found[2]]
        for found in _TO_ITSELF.finditer(text)
    )


def are_masks(text: bytes) -> bool:
    """Return whether all inline images of the contents are masks, without colours of their own."""
    return b"BI" not in text or len(_INLINE.findall(text)) == len(_INLINE_MASK.findall(text))


def are_usual_dashes(lengths: Iterable[float], phase: float) -> bool:
    """Return whether all readers draw the same dashes: some take no negative lengths, or zeros alone for none."""
    listed = list(lengths)
    return not listed or (min(listed) >= 0 and any(listed) and phase >= 0)


def check_settings(texts: Sequence[bytes], looks: Looks, what: str) -> Remarks:
    """Return what readers may take differently in decoded contents that are well formed. Those of ``a page`` begin with
    black, others with what was set where they are drawn."""
    text = b"\n".join((b"", *texts))
    found = {
        "line_width": _BELOW_ZERO.search(text),
        "no_area": _lacks_area(text),
        "inks": _IN_INKS.search(text),
        "inline_image": what != "a glyph" and b"BI" in text and _INLINE.search(text),
    }
    remarks = frozenset(name for name, is_there in found.items() if is_there)
    if _is_settled(text, looks):
        return remarks
    return remarks | _Settings(looks, 1 if what == "a page" else _UNKNOWN).read(text)


def _is_settled(text: bytes, looks: Looks) -> bool:
    """Return whether no settings need following, which is true of most contents and far quicker to check."""
    if (b"%" in text and _COMMENTED.search(text)) or _MODES.search(text) or _HALVES.search(text):
        return False
    if not _are_set_at_once(text, looks) or (looks.with_text and any(rule.search(text) for rule in _OF_TEXT)):
        return False
    return all(are_usual_dashes(map(float, each.split()), float(phase)) for each, phase in set(_DASHES.findall(text)))


def _are_set_at_once(text: bytes, looks: Looks) -> bool:
    """Return whether each colour space is followed by a colour of it, and no colour stands alone."""
    if not looks.coloured:
        return not any(rule.search(text) for rule in _COLOUR_SET)
    found = _AT_ONCE.findall(text)
    spaces, colours = len(_SPACE_SET.findall(text)), sum(len(rule.findall(text)) for rule in _COLOUR_SET)
    usual = {(name, len(values.split())) for name, values in found}
    return len(found) == spaces == colours and all(
        looks.components(parse(name, 0)[0]) == count for name, count in usual
    )


class _Settings:
    """The graphics state, followed through contents."""

    def __init__(self, looks: Looks, components: int) -> None:
        self._looks, self._found = looks, set[str]()
        self._halves = False
        self._state, self._saved = _State(components, components), list[_State]()

    def read(self, text: bytes) -> Remarks:
        operands: list[bytes] = []
        self._halves = bool(_HALVES.search(text))
        for token in _TOKEN.findall(without_images(text)):
            if token[0] in _OPERANDS:
                operands.append(token)
            elif token[0] in SPACES:
                operands = operands if token[-1] in SPACES else []
            elif token[0] != _COMMENT:
                self._operator(token, operands)
                operands = []
        return frozenset(self._found)

    def _operator(self, operator: bytes, operands: list[bytes]) -> None:
        if operands and operands[0][:1] == b"/":
            operands[0] = parse(operands[0], 0)[0]
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
        elif operator == b"d" and not are_usual_dashes(map(float, _split(operands[0])), float(operands[-1])):
            self._found.add("dashes")
        elif operator.lower() in _OF_SPACES or operator.lower() in (b"cs", b"sc", b"scn"):
            self._colours(operator.lower(), operands, "line" if operator.isupper() else "fill")

    def _colours(self, operator: bytes, operands: list[bytes], side: str) -> None:
        """Follow colours: PDFium keeps the last one until another is set, others begin each space with black."""
        bare = self._state.bare - {side}
        if operator == b"cs":
            self._put(side, self._looks.components(operands[0]), bare | {side})
            return
        count = _OF_SPACES.get(operator, self._state.line if side == "line" else self._state.fill)
        if operator in _OF_SPACES:
            self._put(side, count, bare)
        elif count is not None and (len(operands) != count or operands[-1][:1] == b"/"):
            self._found.add("colour_operands" if count != _UNKNOWN else "colours")
        self._state = self._state._replace(bare=bare)

    def _put(self, side: str, count: int | None, bare: frozenset[str]) -> None:
        fill, line = (self._state.fill, count) if side == "line" else (count, self._state.line)
        self._state = self._state._replace(fill=fill, line=line, bare=bare)

    def _sets(self, operator: bytes, value: float) -> None:
        text = self._state.text - {operator, _NOT_SHOWN if operator == b"Tr" else operator}
        if value != _USUAL[operator]:
            text |= {operator if value != _UNSEEN or operator != b"Tr" else _NOT_SHOWN}
        self._state = self._state._replace(text=text)
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
            if self._halves and any(map(_is_odd, _split(operands[-1]))):
                raise NotPlain("a hexadecimal string has an odd number of digits")
        if inner in self._looks.with_text and state.text:
            self._found.add("text_state")


def _is_odd(token: bytes) -> bool:
    """Return whether half of the last byte of a hexadecimal string is missing."""
    return token[:1] == b"<" and len(token[1:-1].translate(None, SPACES)) % 2 == 1


def _split(operand: bytes) -> list[bytes]:
    """Return the strings and numbers that an array consists of, or the operand itself."""
    inner = _TOKEN.findall(operand[1:-1]) if operand[:1] == b"[" else [operand]
    return [each for each in inner if each[:1] not in _BETWEEN]


def without_images(text: bytes) -> bytes:
    """Return contents without the data of inline images, of which only ``BI`` remains."""
    if b"BI" not in text:
        return text
    if text.count(b"EI") == 1 and (one := _ONE_IMAGE.match(text)):
        return one[0] + text[text.index(b"EI") + 2 :]
    pieces, position = list[bytes](), 0
    for operator, place in found_in(text):
        end = end_of_image(operator, text, place + len(operator)) if operator[:2] == b"BI" else None
        if end is not None:
            pieces += text[position:place], b" BI "
            position = end
    return b"".join(pieces) + text[position:]
