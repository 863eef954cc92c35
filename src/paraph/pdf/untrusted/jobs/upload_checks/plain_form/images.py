"""The images of a plain file (ISO 32000-1, 8.9)."""

from typing import Any

from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.colours import check_space
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.fonts import NOTHING, Remarks
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.jpx import has_alpha
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.streams import check_stream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import (
    Kinds,
    NotPlain,
    Resolve,
    any_of,
    is_array,
    is_boolean,
    is_name,
    is_natural,
    is_stream,
    numbers,
    one_of,
)

_IMAGE: Kinds = {
    b"/Width": is_natural,
    b"/Height": is_natural,
    b"/BitsPerComponent": one_of(1, 2, 4, 8, 16),
    b"/ColorSpace": any_of(is_name, is_array),
    b"/ImageMask": is_boolean,
    b"/Interpolate": is_boolean,
    b"/Decode": numbers(),
    b"/Mask": any_of(is_stream, numbers()),
    b"/SMask": is_stream,
    b"/SMaskInData": one_of(0, 1, 2),
    b"/Matte": numbers(),
}


def check_image(stream: Any, resolve: Resolve) -> Remarks:
    """Return what readers may draw differently in the image. Raise NotPlain."""
    if type(stream) is not PdfStream:
        raise NotPlain("a mask is no image")
    filters, entries = check_stream(stream, _IMAGE, "an image", resolve, image=True), stream.dictionary
    if b"/Width" not in entries or b"/Height" not in entries:
        raise NotPlain("an image lacks its size")
    is_mask, is_jpx = resolve(entries.get(b"/ImageMask")) == b"true", filters[-1:] == [b"/JPXDecode"]
    space = entries.get(b"/ColorSpace")
    if not (is_mask or is_jpx) and (space is None or b"/BitsPerComponent" not in entries):
        raise NotPlain("an image lacks an entry")
    remarks = check_space(space, resolve) if space is not None else NOTHING
    if is_jpx:
        remarks |= {"jpx"}
    if is_jpx and (resolve(entries.get(b"/SMaskInData", 0)) or has_alpha(stream.data)):
        remarks |= {"image_alpha"}
    for key in (b"/SMask", b"/Mask"):
        mask = resolve(entries.get(key))
        if type(mask) is PdfStream:
            if {b"/SMask", b"/Mask"} & mask.dictionary.keys():
                raise NotPlain("a mask has a mask")
            remarks |= check_image(mask, resolve)
    return remarks
