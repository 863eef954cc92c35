"""What the first object of a file says of its length (ISO 32000-1, annex F).

Readers that find it true begin with the cross-reference behind that object, all others with the one that the end of the
file names. So a file that states a length to come is read anew once it has grown to it, be it by white space.
"""

import re

from paraph.pdf.structure.objects import GAP, REGULAR, skip_gap


def _spelt(name: str) -> bytes:
    """Return a pattern of a name, each letter of which may be escaped."""
    return b"/" + b"".join(rb"(?:%c|(?i:#%02x))" % (each, each) for each in name.encode())


_LENGTH = re.compile(_spelt("L") + GAP + rb"\+?(\d{1,15}+)(?!\d)")
_LINEARIZED = re.compile(_spelt("Linearized") + rb"(?!" + REGULAR + rb")")
_PLAIN = re.compile(rb"%PDF-\d\.\d[\r\n]+(?:%[\x80-\xff]*[\r\n]+)?\d+ \d+ obj[\r\n ]*<<[^<>()%#{}]*>>")
"""A first object that ends at the same byte for every reader: one dictionary, without strings, comments or escapes."""
_WITHIN = 1 << 20
"""Bytes at the beginning. The object is the first one of the file, and small unless somebody hides in it."""
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
    plain = _PLAIN.match(pdf, 0, _WITHIN)
    end = plain.end() if plain else _WITHIN
    return [int(length) for length in _LENGTH.findall(pdf, 0, end)] if _LINEARIZED.search(pdf, 0, end) else []
