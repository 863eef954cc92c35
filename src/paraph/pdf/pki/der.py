"""DER (X.690), as much of it as CMS and timestamps need.

Reads definite lengths and single-byte tags; anything else raises :class:`DerError`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
UTF8_STRING, GENERALIZED_TIME, SEQUENCE, SET = 0x0C, 0x18, 0x30, 0x31
CONTEXT = 0x80
CONSTRUCTED = 0x20


class DerError(ValueError):
    """The bytes are not the DER that was expected."""


@dataclass(frozen=True, slots=True)
class Element:
    """One value: its tag, its content, and its whole encoding."""

    tag: int
    content: bytes
    raw: bytes

    def expect(self, tag: int) -> "Element":
        """Return the element itself. Raise :class:`DerError` where it has another tag."""
        if self.tag != tag:
            raise DerError(f"tag {self.tag:#04x} where {tag:#04x} belongs")
        return self

    def children(self, tag: int = SEQUENCE) -> list["Element"]:
        return list(elements(self.expect(tag).content))

    def only(self, tag: int = SEQUENCE) -> "Element":
        return read(self.expect(tag).content)

    def integer(self) -> int:
        content = self.expect(INTEGER).content
        if not content:
            raise DerError("an integer without digits")
        return int.from_bytes(content, "big", signed=True)

    def oid(self) -> str:
        """Return the identifier in dotted decimal."""
        return _dotted(self.expect(OID).content)

    def utf8(self) -> str:
        try:
            return self.expect(UTF8_STRING).content.decode()
        except UnicodeDecodeError as error:
            raise DerError("a text that is none") from error

    def octets(self) -> bytes:
        return self.expect(OCTET_STRING).content

    def generalized_time(self) -> datetime:
        """Return a time in UTC. A fraction of a second is allowed, the ``Z`` required (RFC 3161 §2.4.2)."""
        try:
            text = self.expect(GENERALIZED_TIME).content.decode("ascii")
            whole, _, fraction = text.removesuffix("Z").partition(".")
            moment = datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
            microseconds = int(fraction[:6].ljust(6, "0")) if fraction else 0
        except ValueError as error:
            raise DerError("a time that is none") from error
        if not text.endswith("Z") or len(whole) != 14:
            raise DerError("a time that is not in UTC")
        return moment.replace(microsecond=microseconds)


def elements(encoded: bytes) -> Iterator[Element]:
    """Yield the values that follow one another. Raise :class:`DerError` for bytes that are none."""
    position, end = 0, len(encoded)
    while position < end:
        start = position
        tag = encoded[position]
        if tag & 0x1F == 0x1F or end - position < 2:
            raise DerError("a tag that does not belong here" if tag & 0x1F == 0x1F else "a value cut short")
        size = encoded[position + 1]
        position += 2
        if size >= 0x80:
            width = size & 0x7F
            if not 1 <= width <= 4 or end - position < width:
                raise DerError("a length that cannot be read")
            size = int.from_bytes(encoded[position : position + width], "big")
            position += width
        if end - position < size:
            raise DerError("a value cut short")
        yield Element(tag, encoded[position : position + size], encoded[start : position + size])
        position += size


def read(encoded: bytes) -> Element:
    """Parse exactly one element. Raise :class:`DerError`, also for bytes after it."""
    found = list(elements(encoded))
    if len(found) != 1:
        raise DerError(f"{len(found)} values where one belongs")
    return found[0]


def tlv(tag: int, *parts: bytes) -> bytes:
    """Encode one value: tag, length, and the parts as its content."""
    content = b"".join(parts)
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes((tag, 0x80 | len(length))) + length + content


def sequence(*parts: bytes) -> bytes:
    return tlv(SEQUENCE, *parts)


def set_of(*parts: bytes) -> bytes:
    """Encode a SET OF, sorted as DER demands (X.690 §11.6)."""
    return tlv(SET, *sorted(parts))


def integer(value: int) -> bytes:
    size = (value + (value < 0)).bit_length() // 8 + 1
    return tlv(INTEGER, value.to_bytes(size, "big", signed=True))


def utf8_string(text: str) -> bytes:
    return tlv(UTF8_STRING, text.encode())


def octet_string(content: bytes) -> bytes:
    return tlv(OCTET_STRING, content)


@lru_cache(maxsize=256)
def oid(dotted: str) -> bytes:
    first, second, *rest = (int(part) for part in dotted.split("."))
    return tlv(OID, b"".join(_base128(arc) for arc in (first * 40 + second, *rest)))


def generalized_time(moment: datetime) -> bytes:
    """Encode a time to the millisecond, without trailing zeros (X.690 §11.7)."""
    moment = moment.astimezone(UTC)
    fraction = f".{moment.microsecond // 1000:03d}".rstrip("0").rstrip(".")
    return tlv(GENERALIZED_TIME, f"{moment:%Y%m%d%H%M%S}{fraction}Z".encode())


@lru_cache(maxsize=1024)
def _dotted(content: bytes) -> str:
    if not content or content[-1] & 0x80 or len(content) > 64:
        raise DerError("an object identifier that cannot be read")
    arcs, value = [], 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            arcs.append(value)
            value = 0
    first = min(arcs[0] // 40, 2)
    return ".".join(str(arc) for arc in (first, arcs[0] - first * 40, *arcs[1:]))


def _base128(arc: int) -> bytes:
    groups = [arc & 0x7F]
    while arc := arc >> 7:
        groups.append(arc & 0x7F | 0x80)
    return bytes(reversed(groups))
