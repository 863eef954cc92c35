"""What a JPEG image says of itself (ISO/IEC 10918-1, annex B)."""

from typing import NamedTuple

from paraph.pdf.untrusted.jobs.upload_checks.plain_form.streams import Beginning

_FRAMES = frozenset({0xC0, 0xC1, 0xC2})  # by Huffman codes; few readers know the others
_OTHER_FRAMES = frozenset(range(0xC3, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ADOBE = 0xEE
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_MOST = 400  # segments
_NUMBERED = frozenset({b"\x01\x02\x03", b"\x00\x01\x02"})


class Frame(NamedTuple):
    """``transformed``: its colours are differences, which readers tell by ``ids`` of the components or by what Adobe's
    segment says, ``None`` where there is none."""

    width: int
    height: int
    components: int
    bits: int
    ids: bytes
    transformed: bool | None

    def is_taken_alike(self, parameter: object) -> bool:
        """Return whether readers agree on what its numbers mean. ``parameter``: /ColorTransform."""
        if self.transformed is None and self.components == 3:
            return parameter in (None, 1) and self.ids in _NUMBERED
        return parameter is None or (self.components != 1 and parameter == int(bool(self.transformed)))


def frame(data: Beginning) -> Frame | None:
    """Return what the head of the first frame says; ``None`` where there is none that all readers know."""
    place, transformed = 2, None
    if data.read(0, 2) != b"\xff\xd8":
        return None
    for _ in range(_MOST):
        head = data.read(place, 4)
        if len(head) < 4 or head[0] != 0xFF or head[1] in _OTHER_FRAMES:
            return None
        if head[1] == 0xFF or head[1] in _ALONE:
            place += 1 if head[1] == 0xFF else 2
            continue
        length = int.from_bytes(head[2:], "big")
        if head[1] in _FRAMES:
            body = data.read(place + 4, length - 2)
            size = int.from_bytes(body[3:5], "big"), int.from_bytes(body[1:3], "big")
            return Frame(*size, body[5], body[0], body[6::3], transformed) if len(body) > 5 else None
        if head[1] == _ADOBE and data.read(place + 4, 5) == b"Adobe":
            transformed = data.read(place + 15, 1) not in (b"\x00", b"")
        place += 2 + length
    return None
