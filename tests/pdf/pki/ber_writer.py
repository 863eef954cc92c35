"""DER written anew as BER, in all the ways that X.690 leaves to the writer: lengths without end or longer than needed,
strings in parts."""

from collections.abc import Callable, Container
from random import Random

from paraph.pdf.pki import der

_STRINGS = {der.BIT_STRING, der.OCTET_STRING, der.UTF8_STRING, *range(0x12, 0x1D), 0x1E}
_MOST_SPLIT = 4


def as_ber(encoded: bytes, odds: Callable[[], float], keep: Container[bytes] = ()) -> bytes:
    """Return the one value of ``encoded`` as BER. ``odds``: a number from 0 to 1 for each choice; 0 changes nothing.
    ``keep``: values within that stay as they are, such as certificates, whose signatures are over their bytes."""
    if encoded in keep:
        return encoded
    value = der.read(encoded)
    if value.tag in _STRINGS and odds() > 0.6:
        return _framed(value.tag | der.CONSTRUCTED, _in_parts(value.tag, value.content, odds), odds)
    if not value.tag & der.CONSTRUCTED:
        return _framed(value.tag, value.content, odds)
    parts = (as_ber(part.raw, odds, keep) for part in der.elements(value.content))
    return _framed(value.tag, b"".join(parts), odds)


def chosen_by(chance: Random) -> Callable[[], float]:
    return chance.random


def indefinite_outside(encoded: bytes) -> bytes:
    """Return the same value with nothing but its outermost length left open."""
    value = der.read(encoded)
    return bytes((value.tag, 0x80)) + value.content + b"\0\0"


def _in_parts(tag: int, content: bytes, odds: Callable[[], float]) -> bytes:
    unused, bits = (content[:1], content[1:]) if tag == der.BIT_STRING else (b"", content)
    size = max(len(bits) // _MOST_SPLIT, 1)
    parts = [bits[start : start + size] for start in range(0, len(bits), size)] or [b""]
    part_tag = der.BIT_STRING if tag == der.BIT_STRING else der.OCTET_STRING
    leads = [b"\0" * len(unused)] * (len(parts) - 1) + [unused]
    return b"".join(as_ber(der.tlv(part_tag, lead, part), odds) for lead, part in zip(leads, parts, strict=True))


def _framed(tag: int, content: bytes, odds: Callable[[], float]) -> bytes:
    chosen = odds()
    if tag & der.CONSTRUCTED and chosen > 0.6:
        return bytes((tag, 0x80)) + content + b"\0\0"
    if chosen > 0.4:
        return bytes((tag, 0x84)) + len(content).to_bytes(4, "big") + content
    return der.tlv(tag, content)
