"""BER (X.690 §8), as other programs write CMS and timestamps, written anew as DER.

Lengths become definite and as short as possible, strings in parts become whole. All else stays as it is, the order of
sets too: what a signature or a digest covers must not change.
"""

from paraph.pdf.pki import der
from paraph.pdf.pki.der import DerError

_DEEPEST = 64
_MOST_PARTS = 500_000
_MOST_BYTES = 32 * 1024 * 1024
_IN_PARTS = frozenset(
    der.CONSTRUCTED | tag for tag in (der.BIT_STRING, der.OCTET_STRING, der.UTF8_STRING, *range(0x12, 0x1D), 0x1E)
)
"""Tags of strings and times that stand there in parts (X.690 §8.6.4, §8.7.3, §8.23)."""
_BITS_IN_PARTS = der.CONSTRUCTED | der.BIT_STRING
_INDEFINITE, _RESERVED = 0x80, 0x7F
_END = b"\0\0"


def der_of(encoded: bytes) -> bytes:
    """Return the value with which ``encoded`` begins as DER, and whatever follows it as it is; of DER the same bytes.

    Raise :class:`DerError` for a value that cannot be read, and for one with too many or too deeply nested parts.
    """
    if len(encoded) > _MOST_BYTES:
        raise DerError(f"more than {_MOST_BYTES} bytes")
    value, end = _Reading(encoded).value(0, len(encoded), 0)
    return encoded if value is None else value + encoded[end:]


def whole_string(content: bytes, tag: int) -> bytes:
    """Return the content of a string from its parts, given as DER. ``tag``: of the whole, as primitive value. Raise
    :class:`DerError`."""
    part_tag = der.BIT_STRING if tag == der.BIT_STRING else der.OCTET_STRING
    parts = [part.expect(part_tag).content for part in der.elements(content)]
    if tag != der.BIT_STRING:
        return b"".join(parts)
    if not all(parts) or any(part[0] for part in parts[:-1]):
        raise DerError("a string of bits that ends within")
    return (parts[-1][:1] if parts else b"\0") + b"".join(part[1:] for part in parts)


class _Reading:
    def __init__(self, encoded: bytes) -> None:
        self._encoded = encoded
        self._parts = 0

    def value(self, start: int, limit: int, depth: int) -> tuple[bytes | None, int]:
        """Return the value at ``start`` as DER, ``None`` where it is DER already, and where it ends, at most at
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
        if not tag & der.CONSTRUCTED:
            return None if is_shortest else der.tlv(tag, encoded[position:end]), end
        values, _ = self._values(position, end, depth, is_open=False)
        if values is None and is_shortest and tag not in _IN_PARTS:
            return None, end
        return self._whole(tag, values, end, position)

    def _values(self, position: int, limit: int, depth: int, *, is_open: bool) -> tuple[bytes | None, int]:
        """Return the values up to ``limit``, or up to the marker of an end, which is read too; ``None`` for DER."""
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
        if not tag & der.CONSTRUCTED:
            raise DerError("a value without a length")
        content = self._encoded[start:end] if content is None else content
        if tag in _IN_PARTS:
            tag &= ~der.CONSTRUCTED
            content = whole_string(content, tag)
        return der.tlv(tag, content), end
