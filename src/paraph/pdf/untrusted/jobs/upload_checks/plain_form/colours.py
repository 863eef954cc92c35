"""The colour spaces of a plain file (ISO 32000-1, 8.6)."""

from typing import Any

from paraph.pdf.structure.encryption import string_bytes
from paraph.pdf.structure.objects import Dictionary, PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import values
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import NOTHING, Remarks
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import Beginning, NotPlain, Resolve

_ALONE = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/Pattern"})
_LENGTHS = {
    b"/ICCBased": (2,),
    b"/Indexed": (4,),
    b"/Pattern": (2,),
    b"/Separation": (4,),
    b"/DeviceN": (4, 5),
    b"/CalGray": (2,),
    b"/CalRGB": (2,),
    b"/Lab": (2,),
}
_LIKE_DEVICE = frozenset({b"/DeviceGray", b"/DeviceRGB", b"/DeviceCMYK", b"/ICCBased", b"/CalGray", b"/CalRGB"})
_BASES = {b"/Indexed": 1, b"/Pattern": 1, b"/Separation": 2, b"/DeviceN": 2}
"""Where the space stands in which colours are shown."""
_DEEPEST = 4
_ONE_BY_ONE = {
    b"/DeviceGray": 1,
    b"/CalGray": 1,
    b"/Indexed": 1,
    b"/Separation": 1,
    b"/DeviceRGB": 3,
    b"/CalRGB": 3,
    b"/Lab": 3,
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
    if family in _ALONE and len(parts) == 1:
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
    """Return of how many numbers a colour in this space consists; ``None`` for patterns."""
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
        return _palette_length(resolve(parts[3])) == wanted
    if family == b"/Separation":
        return bool(resolve(parts[1]) != b"/None")
    if family in (b"/CalGray", b"/CalRGB"):
        return _is_calibrated(resolve(parts[1]), resolve, 1 if family == b"/CalGray" else 3)
    return True


def _is_usual_profile(profile: PdfStream, resolve: Resolve) -> bool:
    """Return whether its header is one of a profile for as many colours as it says, and what readers take instead of
    it is the same."""
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
    if (
        not values.numbers(3)(white)
        or not values.numbers(count)(gammas)
        or (count > 1 and not values.numbers(9)(matrix))
    ):
        return False
    sums = [sum(map(float, matrix[place::3])) for place in range(3)] if count > 1 else map(float, white)
    alike = all(abs(here - float(there)) < 0.05 and 0.7 < here < 1.3 for here, there in zip(sums, white, strict=True))
    return alike and all(_USUAL_GAMMA[0] <= float(each) <= _USUAL_GAMMA[1] for each in gammas)


def _palette_length(palette: Any) -> int:
    """Return the number of bytes; -1 where there is no palette."""
    if type(palette) is PdfStream:
        return Beginning(palette).length(_LONGEST_PALETTE)
    return len(string_bytes(palette)) if values.is_string(palette) else -1


def check_default(value: Any, resolve: Resolve) -> Remarks:
    """Return what readers may draw differently in a space that takes the place of a device's (8.6.5.6). Some readers
    ignore it, so it has to look as the device's does. Raise NotPlain."""
    space = resolve(value)
    family = resolve(space[0]) if type(space) is list and space else space
    return check_space(value, resolve) | (NOTHING if family in _LIKE_DEVICE else _ODD)
