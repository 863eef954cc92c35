"""The images and colour spaces of a plain file (ISO 32000-1, 8.6 and 8.9), and the heads of JPEG and JPEG 2000."""

from functools import cache
from typing import Any, NamedTuple

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import Dictionary, PdfStream
from paraph.pdf.untrusted.jobs.upload_checks import values
from paraph.pdf.untrusted.jobs.upload_checks.fonts import NOTHING, Remarks
from paraph.pdf.untrusted.jobs.upload_checks.values import Beginning, Kinds, NotPlain, Resolve, check_stream

_NAMED_ALONE = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/Pattern"})
_LENGTHS = {
    **dict.fromkeys((b"/ICCBased", b"/Pattern", b"/CalGray", b"/CalRGB", b"/Lab"), (2,)),
    **dict.fromkeys((b"/Indexed", b"/Separation"), (4,)),
    b"/DeviceN": (4, 5),
}
_LIKE_DEVICE = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/ICCBased", b"/CalGray", b"/CalRGB"})
_BASES = {b"/Indexed": 1, b"/Pattern": 1, b"/Separation": 2, b"/DeviceN": 2}
"""The index, in a colour space, of the space in which its colours are shown."""
_DEEPEST = 4
_ONE_BY_ONE = {
    **dict.fromkeys((b"/DeviceGray", b"/CalGray", b"/Indexed", b"/Separation"), 1),
    **dict.fromkeys((b"/DeviceRGB", b"/CalRGB", b"/Lab"), 3),
    b"/DeviceCMYK": 4,
}
_PROFILES = {1: (b"GRAY", b"/DeviceGray"), 3: (b"RGB ", b"/DeviceRGB"), 4: (b"CMYK", b"/DeviceCMYK")}
"""The colour space that a profile of so many components names, and the one that may take its place."""
_SIGNED = slice(36, 40)
_HEAD_OF_PROFILE = 40
_LONGEST_PALETTE = 1 << 12
_USUAL_GAMMA = (1.7, 2.6)  # with which a reader that ignores it shows nearly the same
_ODD: Remarks = frozenset({"colour_space"})


def check_space(value: Any, resolve: Resolve, depth: int = 0) -> Remarks:
    """Return what readers may draw differently in the colour space. Raise NotPlain."""
    space = resolve(value)
    parts = space if type(space) is list else [space]
    family = resolve(parts[0]) if parts else None
    if family in _NAMED_ALONE and len(parts) == 1:
        return NOTHING
    if depth > _DEEPEST or type(family) is not bytes or len(parts) not in _LENGTHS.get(family, ()):
        raise NotPlain("a colour space is odd")
    if family == b"/ICCBased":
        profile = resolve(parts[1])
        if type(profile) is not PdfStream or resolve(profile.dictionary.get(b"/N")) not in (1, 3, 4):
            raise NotPlain("a colour profile is odd")
    if family == b"/Indexed" and not values.is_natural(resolve(parts[2])):
        raise NotPlain("a palette is odd")
    remarks: Remarks = frozenset({"function"}) if family in (b"/Separation", b"/DeviceN") else NOTHING
    if not _is_usual(family, parts, resolve):
        remarks |= _ODD
    if family == b"/Lab":
        remarks |= {"colours"}
    return remarks | check_space(parts[_BASES[family]], resolve, depth + 1) if family in _BASES else remarks


def components(value: Any, resolve: Resolve) -> int | None:
    """Return how many numbers a colour in this space has; ``None`` for patterns."""
    space = resolve(value)
    parts = space if type(space) is list else [space]
    family = resolve(parts[0])
    if family == b"/ICCBased":
        return int(resolve(resolve(parts[1]).dictionary[b"/N"]))
    return len(resolve(parts[1])) if family == b"/DeviceN" else _ONE_BY_ONE.get(family)


def _is_usual(family: bytes, parts: list[Any], resolve: Resolve) -> bool:
    if family == b"/ICCBased":
        return _is_usual_profile(resolve(parts[1]), resolve)
    if family == b"/Indexed":
        wanted: int = (resolve(parts[2]) + 1) * (components(parts[1], resolve) or 0)
        palette = resolve(parts[3])
        if type(palette) is PdfStream:
            return len(Beginning(palette).read(0, _LONGEST_PALETTE + 1)) == wanted
        return values.is_string(palette) and len(string_bytes(palette)) == wanted
    if family == b"/Separation":
        return bool(resolve(parts[1]) != b"/None")
    if family in (b"/CalGray", b"/CalRGB"):
        return _is_calibrated(resolve(parts[1]), resolve, 1 if family == b"/CalGray" else 3)
    return True


def _is_usual_profile(profile: PdfStream, resolve: Resolve) -> bool:
    """Return whether the header of a profile, its range, and the space in its place fit its number of components."""
    count = resolve(profile.dictionary[b"/N"])
    named, other = _PROFILES[count]
    span = resolve(profile.dictionary.get(b"/Range", [0, 1] * count))
    if resolve(profile.dictionary.get(b"/Alternate", other)) != other or not values.numbers(2 * count)(span):
        return False
    if list(map(float, span)) != [0, 1] * count:
        return False
    head = Beginning(profile).read(0, _HEAD_OF_PROFILE)
    return head[_SIGNED] == b"acsp" and head[16:20] == named


def _is_calibrated(entries: Dictionary, resolve: Resolve, count: int) -> bool:
    """Return whether the primary colours add up to white, and the gamma is a usual one."""
    white, gamma, matrix = (resolve(entries.get(key)) for key in (b"/WhitePoint", b"/Gamma", b"/Matrix"))
    gammas = gamma if type(gamma) is list else [gamma]
    has_matrix = count == 1 or values.numbers(9)(matrix)
    if not values.numbers(3)(white) or not values.numbers(count)(gammas) or not has_matrix:
        return False
    sums = [sum(map(float, matrix[place::3])) for place in range(3)] if count > 1 else map(float, white)
    alike = all(abs(here - float(there)) < 0.05 and 0.7 < here < 1.3 for here, there in zip(sums, white, strict=True))
    return alike and all(_USUAL_GAMMA[0] <= float(each) <= _USUAL_GAMMA[1] for each in gammas)


def check_default(value: Any, resolve: Resolve) -> Remarks:
    """Return what readers may draw differently in a space that takes the place of a device's (8.6.5.6). Some readers
    ignore it, so it has to look as the device's does. Raise NotPlain."""
    space = resolve(value)
    family = resolve(space[0]) if type(space) is list and space else space
    return check_space(value, resolve) | (NOTHING if family in _LIKE_DEVICE else _ODD)


_FRAMES = frozenset({0xC0, 0xC1, 0xC2})  # by Huffman codes; few readers know the others
_OTHER_FRAMES = frozenset(range(0xC3, 0xD0)) - {0xC4, 0xC8, 0xCC}
_ADOBE = 0xEE
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_MOST_SEGMENTS = 400
_NUMBERED = frozenset({b"\x01\x02\x03", b"\x00\x01\x02"})
_IMAGE: Kinds = {
    b"/Width": values.is_natural,
    b"/Height": values.is_natural,
    b"/BitsPerComponent": values.one_of(1, 2, 4, 8, 16),
    b"/ColorSpace": values.any_of(values.is_name, values.is_array),
    b"/ImageMask": values.is_boolean,
    b"/Interpolate": values.is_boolean,
    b"/Decode": values.numbers(),
    b"/Matte": values.numbers(),
    b"/Mask": values.any_of(values.is_stream, values.numbers()),
    b"/SMask": values.is_stream,
    b"/SMaskInData": values.one_of(0, 1, 2),
}
_IS_MASK, _JPEG = b"/ImageMask", b"/DCTDecode"
_ODD_IN_MASKS = frozenset({b"/ColorSpace", b"/SMask", b"/Mask"})
_OF_TWO_COLOURS = frozenset({b"/CCITTFaxDecode", b"/JBIG2Decode"})
_SOFT = ((b"/DeviceGray", 1), (b"/DeviceGray", 8))
_DEEPEST_KEYED = 8  # bits of a component whose values may be masked out
_OF_ROWS = ((b"/Columns", 1), (b"/Colors", 1), (b"/BitsPerComponent", 8))
_PNG = 10  # predictors from this one on add a byte to each row
_SPARE = 2  # bytes of an end of line behind the data
_MOST = 128 << 20  # bytes of all images of a file
_CODES = 256
_LARGEST_FAX = 64 << 20
_END_OF_FAX = "000000000001000000000001"  # in the scheme that nearly all writers use
_SUPERBOXES = (b"jp2h",)
_CODESTREAM = b"\xff\x4f\xff\x51"


class Frame(NamedTuple):
    """``transformed``: whether Adobe's segment says that colours are differences, ``None`` without such a segment;
    readers then tell by ``ids``, those of the components."""

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
    for _ in range(_MOST_SEGMENTS):
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


class Images:
    """A check of the images of one file."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve, self._left = resolve, _MOST

    def check(self, stream: Any) -> Remarks:
        """Return what readers may draw differently in the image. Raise NotPlain."""
        resolve = self._resolve
        if type(stream) is not PdfStream:
            raise NotPlain("a mask is no image")
        filters, entries = check_stream(stream, _IMAGE, "an image", resolve, image=True), stream.dictionary
        if b"/Width" not in entries or b"/Height" not in entries:
            raise NotPlain("an image lacks its size")
        is_mask, is_jpx = resolve(entries.get(_IS_MASK)) == b"true", filters[-1:] == [b"/JPXDecode"]
        space = entries.get(b"/ColorSpace")
        if not (is_mask or is_jpx) and (space is None or b"/BitsPerComponent" not in entries):
            raise NotPlain("an image lacks an entry")
        remarks = check_space(space, resolve) if space is not None else NOTHING
        if is_jpx:
            remarks |= {"jpx"}
        elif not (self._is_usual_mask(stream, filters) if is_mask else self._is_usual(stream, filters)):
            remarks |= {"image"}
        if not _OF_TWO_COLOURS.isdisjoint(filters[-1:]) and not self._are_whole(stream, filters):
            remarks |= {"bilevel"}
        if is_jpx and (resolve(entries.get(b"/SMaskInData", 0)) or has_alpha(stream.data)):
            remarks |= {"image_alpha"}
        for key in (b"/SMask", b"/Mask"):
            mask = resolve(entries.get(key))
            if type(mask) is PdfStream:
                if {b"/SMask", b"/Mask"} & mask.dictionary.keys():
                    raise NotPlain("a mask has a mask")
                remarks |= self.check(mask)
        return remarks

    def _is_usual_mask(self, stream: PdfStream, filters: list[bytes]) -> bool:
        """Return whether an image that is a mask is one bit deep, and has neither colours nor other masks."""
        entries = self._entries(stream)
        alike = _ODD_IN_MASKS.isdisjoint(entries) and entries.get(b"/BitsPerComponent", 1) == 1
        decoded = _decode(entries, [0, 1]) in ([0, 1], [1, 0])
        return alike and decoded and filters[-1:] != [_JPEG] and self._fits(stream, filters, 1, 1)

    def _is_usual(self, stream: PdfStream, filters: list[bytes]) -> bool:
        """Return whether the entries fit each other, the data, and the entries of the mask."""
        entries, last = self._entries(stream), filters[-1] if filters else b""
        space, depth = entries[b"/ColorSpace"], entries[b"/BitsPerComponent"]
        count = components(space, self._resolve)
        palette = self._resolve(space[2]) if type(space) is list and self._resolve(space[0]) == b"/Indexed" else None
        if count is None or (last in _OF_TWO_COLOURS and (count, depth) != (1, 1)):
            return False
        whole = [0, 1] * count if palette is None else [0, (1 << depth) - 1]
        if _decode(entries, whole) not in ((whole, whole[::-1]) if palette is None or depth == 1 else (whole,)):
            return False
        masks = [entries[key] for key in (b"/SMask", b"/Mask") if key in entries]
        if len(masks) > 1 or not all(self._is_for(mask, entries, count) for mask in masks):
            return False
        if last != _JPEG:
            return self._fits(stream, filters, count, depth, palette)
        found, keyed = frame(Beginning(stream, len(filters) - 1)), masks and type(masks[0]) is list
        if found is None or palette is not None or keyed:
            return False
        changed = self._parameters(entries).get(b"/ColorTransform")
        return found[:4] == (entries[b"/Width"], entries[b"/Height"], count, depth) and found.is_taken_alike(changed)

    def _is_for(self, mask: Any, entries: Dictionary, count: int) -> bool:
        """Return whether the mask of an image is of the kind that the entry for it needs."""
        depth = entries[b"/BitsPerComponent"]
        if type(mask) is list:
            if len(mask) != 2 * count or depth > _DEEPEST_KEYED or not all(type(each) is int for each in mask):
                return False
            return all(0 <= low <= high < 1 << depth for low, high in zip(mask[::2], mask[1::2], strict=True))
        found = self._entries(mask)
        if b"/Mask" in entries:
            return bool(found.get(_IS_MASK) == b"true")
        kind = (found.get(b"/ColorSpace"), found.get(b"/BitsPerComponent"))
        if kind not in _SOFT or _decode(found, [0, 1]) != [0, 1] or _IS_MASK in found:
            return False
        matte, same = found.get(b"/Matte"), all(found.get(key) == entries[key] for key in (b"/Width", b"/Height"))
        return matte is None or (same and len(matte) == count)

    def _fits(
        self, stream: PdfStream, filters: list[bytes], count: int, depth: int, palette: int | None = None
    ) -> bool:
        """Return whether there is as much data as the entries say, and a colour of the palette for each value."""
        entries = self._entries(stream)
        width, height, parameters = entries[b"/Width"], entries[b"/Height"], self._parameters(entries)
        if filters[-1:] == [b"/CCITTFaxDecode"]:
            return parameters.get(b"/Columns", 1728) == width and parameters.get(b"/Rows", 0) in (0, height)
        if filters[-1:] == [b"/JBIG2Decode"]:
            return True
        row, predictor = (width * count * depth + 7) // 8, parameters.get(b"/Predictor", 1)
        if predictor > 1 and tuple(parameters.get(key, other) for key, other in _OF_ROWS) != (width, count, depth):
            return False
        is_small = palette is not None and palette + 1 < 1 << depth
        packed = filters == [b"/FlateDecode"] and not is_small  # inflated alone: counts the bytes of predictors
        length = (row + (packed and predictor >= _PNG)) * height
        self._left -= length
        if self._left < 0:
            return False
        data = Beginning(PdfStream({b"/Filter": filters}, stream.data) if packed else stream).read(0, length + 3)
        known = _bytes_below(palette + 1, depth) if is_small and palette is not None else None
        return length <= len(data) <= length + _SPARE and not (known and data[:length].translate(None, known))

    def _are_whole(self, stream: PdfStream, filters: list[bytes]) -> bool:
        """Return whether a fax ends as writers end it, and whether a JBIG2 image begins with its size."""
        entries, data = self._entries(stream), Beginning(stream, len(filters) - 1)
        width, height = entries[b"/Width"], entries[b"/Height"]
        if filters[-1] == b"/JBIG2Decode":
            size = int(width).to_bytes(4, "big") + int(height).to_bytes(4, "big")
            return data.read(4, 1)[:1] in (b"0", b"\xb0") and data.read(11, 8) == size
        whole = data.read(0, _LARGEST_FAX)
        end = f"{int.from_bytes(whole[-8:], 'big'):064b}".rstrip("0")
        return len(whole) * 8 > height and end.endswith(_END_OF_FAX)

    def _entries(self, stream: PdfStream) -> Dictionary:
        return {key: self._resolve(value) for key, value in stream.dictionary.items()}

    def _parameters(self, entries: Dictionary) -> Dictionary:
        """Return the parameters of the last filter."""
        listed = entries.get(b"/DecodeParms")
        found = self._resolve(listed[-1]) if type(listed) is list and listed else listed
        return {key: self._resolve(value) for key, value in found.items()} if type(found) is dict else {}


def _decode(entries: Dictionary, usual: list[int]) -> list[float]:
    return list(map(float, entries.get(b"/Decode", usual)))


@cache
def _bytes_below(count: int, depth: int) -> bytes:
    """Return the bytes that consist of numbers below ``count``, each of ``depth`` bits."""
    most = (1 << depth) - 1
    return bytes(each for each in range(_CODES) if all((each >> at) & most < count for at in range(0, 8, depth)))


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
