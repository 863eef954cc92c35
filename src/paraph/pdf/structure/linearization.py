"""What the first object of a file says of its length (ISO 32000-1, annex F).

Readers that find it true begin with the cross-reference behind that object, all others with the one that the end of the
file names. So a file that states a length to come is read anew once it has grown to it, be it by white space.
"""

import re

from paraph.pdf.structure.objects import GAP, REGULAR, skip_gap

_FIRST_OBJECT = re.compile(GAP + rb"\d++[\x00\t\n\x0c\r ]++\d++[\x00\t\n\x0c\r ]++obj")
_LENGTH = re.compile(rb"/L" + GAP + rb"\+?(\d{1,15}+)(?!\d)")
_LINEARIZED = re.compile(rb"/Linearized(?!" + REGULAR + rb")")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_WITHIN = 4096
_END = b"endobj"


def awaits_length(pdf: bytes) -> bool:
    """Return whether the file says that it is longer than it is."""
    return any(length > len(pdf) for length in _stated_lengths(pdf))


def begins_elsewhere(pdf: bytes, start: int | None) -> bool:
    """Return whether the file is as long as it says, and its newest cross-reference, at byte ``start``, is not the one
    with which some readers then begin."""
    if len(pdf) not in _stated_lengths(pdf):
        return False
    end = pdf.find(_END)
    return start is None or skip_gap(pdf, end + len(_END)) != skip_gap(pdf, start)


def _stated_lengths(pdf: bytes) -> list[int]:
    first = _FIRST_OBJECT.match(pdf)
    if first is None:
        return []
    text = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), pdf[first.end() : first.end() + _WITHIN])
    return [int(length) for length in _LENGTH.findall(text)] if _LINEARIZED.search(text) else []
