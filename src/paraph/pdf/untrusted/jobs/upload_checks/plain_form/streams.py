"""The data of streams in a plain file (ISO 32000-1, 7.3.8 and 7.4)."""

from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.untrusted.jobs.upload_checks.plain_form.values import (
    Kinds,
    NotPlain,
    Resolve,
    check_entries,
    is_boolean,
    is_integer,
    is_natural,
    is_stream,
    one_of,
)

ABBREVIATED = frozenset(
    {b"/F", b"/FFilter", b"/FDecodeParms", b"/DP", b"/IM", b"/CS", b"/BPC", b"/D", b"/I", b"/W", b"/H"}
)
"""Of inline images, which some readers take for others' entries, and of data in another file."""
_PACKING = frozenset({b"/FlateDecode", b"/LZWDecode", b"/ASCIIHexDecode", b"/ASCII85Decode", b"/RunLengthDecode"})
_OF_IMAGES = frozenset({b"/DCTDecode", b"/JPXDecode", b"/CCITTFaxDecode", b"/JBIG2Decode"})
_PARAMETERS: Kinds = {
    **dict.fromkeys((b"/Predictor", b"/Colors", b"/BitsPerComponent", b"/Columns", b"/Rows"), is_natural),
    **dict.fromkeys((b"/EarlyChange", b"/ColorTransform"), one_of(0, 1)),
    **dict.fromkeys((b"/EndOfLine", b"/EncodedByteAlign", b"/EndOfBlock", b"/BlackIs1"), is_boolean),
    b"/K": is_integer,
    b"/DamagedRowsBeforeError": is_natural,
    b"/JBIG2Globals": is_stream,
}


def check_stream(stream: PdfStream, kinds: Kinds, what: str, resolve: Resolve, *, image: bool = False) -> list[bytes]:
    """Check dictionary and filters, and return the names of these. Raise NotPlain."""
    entries = stream.dictionary
    if not ABBREVIATED.isdisjoint(entries):
        raise NotPlain(f"{what} has entries of an inline image")
    check_entries(what, entries, kinds, resolve)
    filters, parameters = entries.get(b"/Filter", []), resolve(entries.get(b"/DecodeParms"))
    filters = filters if type(filters) is list else [filters]
    if type(parameters) is not list:
        parameters = [] if parameters is None else [parameters]
    if parameters and len(parameters) != len(filters):
        raise NotPlain(f"{what} has parameters for other filters")
    last = filters[-1:] if image else []
    packing = filters[:-1] if last and last[0] in _OF_IMAGES else filters
    if not all(type(each) is bytes and each in _PACKING for each in packing):
        raise NotPlain(f"{what} has an odd filter")
    for each in map(resolve, parameters):
        if type(each) is dict:
            check_entries(what, each, _PARAMETERS, resolve)
        elif each is not None:
            raise NotPlain(f"{what} has odd parameters")
    return filters
