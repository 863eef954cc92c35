"""The colour spaces of a plain file (ISO 32000-1, 8.6)."""

from typing import Any

from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import NOTHING, Remarks
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import NotPlain, Resolve, is_natural

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
_BASES = {b"/Indexed": 1, b"/Pattern": 1, b"/Separation": 2, b"/DeviceN": 2}
"""Where the space stands in which colours are shown."""
_DEEPEST = 4


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
    if family == b"/Indexed" and not is_natural(resolve(parts[2])):
        raise NotPlain("a palette is odd")
    remarks: Remarks = frozenset({"function"}) if family in (b"/Separation", b"/DeviceN") else NOTHING
    return remarks | check_space(parts[_BASES[family]], resolve, depth + 1) if family in _BASES else remarks
