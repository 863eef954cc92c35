"""What a JPEG 2000 image says of its channels (ISO/IEC 15444-1, annex I)."""

_SUPERBOXES = (b"jp2h",)
_CODESTREAM = b"\xff\x4f\xff\x51"


def has_alpha(data: bytes) -> bool:
    """Return whether the image has, or may have, a channel of opacity beside its colours: readers blend with it or
    not, whatever /SMaskInData says."""
    if data[:4] == _CODESTREAM:
        return _components(data) not in (1, 3)
    place, end = 0, len(data)
    while place + 8 <= end:
        length, kind = int.from_bytes(data[place : place + 4], "big"), data[place + 4 : place + 8]
        head = 16 if length == 1 else 8
        length = int.from_bytes(data[place + 8 : place + 16], "big") if length == 1 else length or end - place
        if kind == b"cdef":
            return True
        if kind == b"jp2c":
            return _components(data[place + head : place + head + 64]) not in (1, 3)
        place += head if kind in _SUPERBOXES else max(length, 8)
    return True


def _components(codestream: bytes) -> int:
    """Return the number of components: Csiz of the SIZ marker."""
    return int.from_bytes(codestream[40:42], "big") if codestream[:4] == _CODESTREAM else 0
