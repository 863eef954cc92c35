"""DER (X.690), as much of it as CMS and timestamps need, and BER (§8), which other programs write, turned into DER.

Definite lengths and single-byte tags are read as DER; anything else raises :class:`DerError`. In BER, lengths become
definite and as short as possible, and strings in parts become whole. All else stays as it is, even the order of sets:
what a signature or a digest covers must not change.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

BOOLEAN, INTEGER, BIT_STRING, OCTET_STRING, NULL, OID = 0x01, 0x02, 0x03, 0x04, 0x05, 0x06
UTF8_STRING, GENERALIZED_TIME, SEQUENCE, SET = 0x0C, 0x18, 0x30, 0x31
CONTEXT = 0x80
CONSTRUCTED = 0x20
_DEEPEST = 64
_MOST_PARTS = 500_000
_MOST_BYTES = 32 * 1024 * 1024
_IN_PARTS = frozenset(CONSTRUCTED | tag for tag in (BIT_STRING, OCTET_STRING, UTF8_STRING, *range(0x12, 0x1D), 0x1E))
"""Tags of strings and times in parts, which BER allows (X.690 §8.6.4, §8.7.3, §8.23)."""
_INDEFINITE, _RESERVED = 0x80, 0x7F
_END = b"\0\0"


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
    """Yield the values in the bytes, one after another. Raise :class:`DerError` for bytes that are not values."""
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


def attribute(identifier: str, value: bytes) -> bytes:
    """Encode an attribute of CMS with one value."""
    return sequence(oid(identifier), tlv(SET, value))


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


def der_of(encoded: bytes) -> bytes:
    """Return ``encoded`` with its first value turned into DER, and whatever follows unchanged; DER stays as it is.
    Raise :class:`DerError` for a value that cannot be read, and for one with too many or too deeply nested parts."""
    if len(encoded) > _MOST_BYTES:
        raise DerError(f"more than {_MOST_BYTES} bytes")
    value, end = _Reading(encoded).value(0, len(encoded), 0)
    return encoded if value is None else value + encoded[end:]


def whole_string(content: bytes, tag: int) -> bytes:
    """Return the content of a string from its parts, given as DER. ``tag``: the primitive tag of the whole. Raise
    :class:`DerError`."""
    part_tag = BIT_STRING if tag == BIT_STRING else OCTET_STRING
    parts = [part.expect(part_tag).content for part in elements(content)]
    if tag != BIT_STRING:
        return b"".join(parts)
    if not all(parts) or any(part[0] for part in parts[:-1]):
        raise DerError("a string of bits that ends within")
    return (parts[-1][:1] if parts else b"\0") + b"".join(part[1:] for part in parts)


class _Reading:
    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._parts = 0

    def value(self, start: int, limit: int, depth: int) -> tuple[bytes | None, int]:
        """Return the value at ``start`` as DER (``None`` where it is DER already), and the position of its end, at most
        ``limit``."""
        self._parts += 1
        if depth > _DEEPEST or self._parts > _MOST_PARTS:
            raise DerError("too many parts, or nested too deeply")
        if limit - start < len(_END):
            raise DerError("a value cut short")
        encoded = self._encoded
        tag, size, position = encoded[start], encoded[start + 1], start + 2
        if tag & 0x1F == 0x1F or tag == 0:
            raise DerError("a tag that does not belong here")
        is_shortest = size < _INDEFINITE
        if size > _INDEFINITE:
            width = size & 0x7F
            if width == _RESERVED or width > limit - position:
                raise DerError("a length that cannot be read")
            digits = encoded[position : position + width]
            size, position = int.from_bytes(digits, "big"), position + width
            is_shortest = size >= _INDEFINITE and digits[0] != 0
        elif size == _INDEFINITE:
            return self._whole(tag, *self._values(position, limit, depth, is_open=True), position)
        if size > limit - position:
            raise DerError("a value cut short")
        end = position + size
        if not tag & CONSTRUCTED:
            return None if is_shortest else tlv(tag, encoded[position:end]), end
        values, _ = self._values(position, end, depth, is_open=False)
        if values is None and is_shortest and tag not in _IN_PARTS:
            return None, end
        return self._whole(tag, values, end, position)

    def _values(self, position: int, limit: int, depth: int, *, is_open: bool) -> tuple[bytes | None, int]:
        """Return the values (``None`` if DER already) up to ``limit`` or an end marker, and the position after."""
        parts, copied = list[bytes](), position
        while position < limit and not (is_open and self._encoded.startswith(_END, position)):
            start = position
            value, position = self.value(start, limit, depth + 1)
            if value is not None:
                parts += self._encoded[copied:start], value
                copied = position
        if is_open and position >= limit:
            raise DerError("a value without an end")
        content = b"".join((*parts, self._encoded[copied:position])) if parts or is_open else None
        return content, position + len(_END) * is_open

    def _whole(self, tag: int, content: bytes | None, end: int, start: int) -> tuple[bytes, int]:
        if not tag & CONSTRUCTED:
            raise DerError("a value without a length")
        content = self._encoded[start:end] if content is None else content
        if tag in _IN_PARTS:
            tag &= ~CONSTRUCTED
            content = whole_string(content, tag)
        return tlv(tag, content), end
