"""The contents of a plain file: operators with their operands, in the grammar of
:mod:`paraph.pdf.structure.contents_grammar`, and names that stand in the resources."""

import re
from collections.abc import Iterable

from paraph.pdf.structure.graphics_state import Ending, ending
from paraph.pdf.structure.objects import REGULAR, SPACE, parse
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import NotPlain

_LONGEST = 32_000
STRING = rb"\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S]|\((?:[^()\\]++|\\[\s\S])*+\))*+\))*+\)"
_STRINGS = re.compile(STRING + rb"|<[0-9A-Fa-f" + SPACE + rb"]*+>|%[^\r\n]*+")
_GAP = rb"[" + SPACE + rb"]++"
_USED = re.compile(
    rb"/(" + REGULAR + rb"*+)" + _GAP + rb"(?:[-+.0-9]++" + _GAP + rb")?+"
    rb"(Tf|gs|Do|sh|cs|CS|scn|SCN)(?!" + REGULAR + rb")"
)
CATEGORIES = {
    b"Tf": b"/Font",
    b"gs": b"/ExtGState",
    b"Do": b"/XObject",
    b"sh": b"/Shading",
    b"cs": b"/ColorSpace",
    b"CS": b"/ColorSpace",
    b"scn": b"/Pattern",
    b"SCN": b"/Pattern",
}
OWN_SPACES = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/Pattern"})
"""Colour spaces that stand for themselves, not in the resources."""


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
    """Return (category, name) of the resources that contents use, with the slashes of names, and of OWN_SPACES."""
    used = {each for text in texts for each in _USED.findall(text)}
    return {(CATEGORIES[operator], parse(b"/" + name, 0)[0]) for name, operator in used}
