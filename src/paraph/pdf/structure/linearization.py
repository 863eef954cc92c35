"""What the beginning of a file says of its length (ISO 32000-1, annex F).

Readers that find it true begin with the cross-reference behind the first object, all others with the one that the end
of the file names. So a file that states a length to come is read anew once it has grown to it, be it by white space;
and readers differ in which ways of stating a length they understand.
"""

import re

from paraph.pdf.structure.crossreference import newest_section
from paraph.pdf.structure.objects import GAP, Unsafe, parse, skip_gap

_WITHIN = 1024  # bytes in which a linearized file says that it is one
_TAIL = 2048  # bytes in which a revision names its cross-reference
_LONGEST = 1 << 20  # bytes searched where the first object cannot be read
_OBJECT = re.compile(GAP + rb"\d++" + GAP + rb"\d++" + GAP + rb"obj")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")
_NAME = b"Linearized"
_SPACE = rb"[\t\n\r ]"
_MARKER = re.compile(
    rb"%%PDF-\d\.\d%(s)b*+(?<=[\r\n])(?:%%[^\r\n]*+[\r\n]%(s)b*+)*+[1-9]\d{0,9} 0 obj%(s)b*+<<(?:%(s)b*+/"
    rb"(?:(?:Linearized%(s)b++1(?:\.0)?|L%(s)b++(?P<length>[1-9]\d{0,9})|[EONPT]%(s)b++\d{1,10})(?=[\t\n\r />])"
    rb"|H%(s)b*+\[[\d\t\n\r ]++\]))++%(s)b*+>>%(s)b*+endobj(?=%(s)b)" % {b"s": _SPACE}
)
_KEY = re.compile(rb"/[A-Za-z]++")


def misstates_length(pdf: bytes) -> bool:
    """Return whether the file says that it is linearized, and not plainly that it is exactly as long as its first
    revision is."""
    beginning = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), pdf[: max(_first_object_end(pdf), _WITHIN)])
    if _NAME not in beginning:
        return False
    marker = _MARKER.match(pdf)
    if marker is None or marker["length"] is None or beginning.count(_NAME) > 1 or _has_a_key_twice(marker[0]):
        return True
    length = int(marker["length"])
    try:
        # The end of the first revision, and of no other, names the cross-reference behind the first object.
        return length > len(pdf) or newest_section(pdf[max(0, length - _TAIL) : length]) != skip_gap(pdf, marker.end())
    except Unsafe:
        return True


def _first_object_end(pdf: bytes) -> int:
    head = _OBJECT.match(pdf)
    try:
        return parse(pdf, head.end())[1] if head else _WITHIN
    except Unsafe:
        return _LONGEST


def _has_a_key_twice(dictionary: bytes) -> bool:
    keys = _KEY.findall(dictionary)
    return len(set(keys)) < len(keys)
