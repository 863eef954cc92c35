"""A fast scan that recognises plainly written files in which nothing runs, as most are.

Parsing every object is the most expensive part of an inspection. So the text of the objects is searched as it stands in
the file; only a file with a name of interest, or one that is not plainly written, is examined in full. If only its
annotations may draw something, only they are.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple, cast

from paraph.pdf.refusal import SealError
from paraph.pdf.structure.objects import CONFUSED, REGULAR, SPACE, PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.expansion import Expansion
from paraph.pdf.untrusted.jobs.upload_checks.object_index import ObjectIndex, StreamPlace, index_objects, stream_in

_NAMES_OF_INTEREST = re.compile(  # what runs, is embedded or changes what is shown (actions.py, changeable.py)
    rb"/(?:JavaScript|Rendition|Launch|SubmitForm|ImportData|EF"
    rb"|(?:AA|3D|DefaultForPrinting|GoTo3DView|Hide|Movie|Named|OC|OCGs?|OCMD|OCProperties|PS|ResetForm"
    rb"|RichMedia|RichMediaExecute|Screen|SetOCGState|Sound|Usage)(?!" + REGULAR + rb"))"
)
_DRAWN_ANNOTATIONS = re.compile(  # annotations that may draw something: any but a link without an appearance
    rb"/(?:AP(?!" + REGULAR + rb")|Subtype(?![" + SPACE + rb"]*+/(?:Type0|Type1|MMType1|TrueType|Type3|CIDFontType0"
    rb"|CIDFontType2|Type1C|CIDFontType0C|OpenType|Image|Form|XML|Link)(?!" + REGULAR + rb")))"
)
_OTHER_NAME = re.compile(rb"/[!-$&'*-.0-;=?-Z^-z|~]*+[\x80-\xff]")  # perhaps within a string
_ESCAPED = re.compile(rb"/[^\x00\t\n\x0c\r ()<>\[\]{}/%]*#[^\x00\t\n\x0c\r ()<>\[\]{}/%]*")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")


class ScannedFile(NamedTuple):
    """A plainly written file, whose names are printable ASCII. ``passive``: nothing runs and nothing changes what is
    shown."""

    reader: PdfReader
    passive: bool
    may_draw_annotations: bool


def fast_scan(file: UntrustedFile) -> ScannedFile | None:
    """Return the file; ``None`` if it is not plainly written. Stream data is not searched, except that of object
    streams. Raise PdfRefused ``too_complex`` for a decompression bomb."""
    data = cast(bytes, file.content)  # mapped memory, searched and sliced like bytes: untouched parts are never read
    try:
        index = index_objects(data)
        text = b"\n".join(_texts(data, index))
        if not text.isascii() and _OTHER_NAME.search(text):
            return None
        passive = not (_contains_name(_NAMES_OF_INTEREST, text) or _acts_when_opened(index.reader))
        return ScannedFile(index.reader, passive, _contains_name(_DRAWN_ANNOTATIONS, text))
    except (Unsafe, SealError, *CONFUSED):
        return None


def _texts(data: bytes, index: ObjectIndex) -> Iterator[bytes]:
    """Yield all text of the file except stream data, and check what the streams unpack to."""
    containers, expansion = index.containers.copy(), Expansion()
    for start, end in index.others:
        yield data[start:end]
    for span in index.perhaps_streams:
        stream = stream_in(data, span, index.reader)
        if stream is None:
            yield data[span.body : span.end]
            continue
        dictionary, start, end = stream
        _check_expansion(expansion, data, stream)
        yield data[span.body : start]
        yield data[end : span.end]
        if span.place in containers:
            containers.remove(span.place)
            yield index.reader.unpack(span.number, PdfStream(dictionary, data[start:end]))
    if containers:
        raise Unsafe("an object stream is missing")


def _check_expansion(expansion: Expansion, data: bytes, stream: StreamPlace) -> None:
    dictionary, start, end = stream
    filters = dictionary.get(b"/Filter")
    names = filters if type(filters) is list else [] if filters is None else [filters]
    if any(type(name) is not bytes for name in names):
        raise Unsafe("the filter of a stream stands elsewhere")
    image = dictionary.get(b"/Subtype") == b"/Image"
    expansion.check_by_zlib(names, memoryview(data)[start:end], image=image)


def _contains_name(names: re.Pattern[bytes], text: bytes) -> bool:
    if names.search(text):
        return True
    return b"#" in text and any(names.match(_unescaped(name)) for name in _ESCAPED.findall(text))


def _unescaped(name: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), name)


def _acts_when_opened(reader: PdfReader) -> bool:
    """Return whether opening the file does more than turn to a page."""
    action = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/OpenAction"))
    return type(action) is dict and (action.get(b"/S") != b"/GoTo" or b"/Next" in action)
