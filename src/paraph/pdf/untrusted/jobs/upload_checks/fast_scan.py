"""A fast scan that recognises plainly written files in which nothing runs, as most are.

Parsing every object is the most expensive part of an inspection. So the objects are found without parsing any, and
their text is searched as it stands in the file; only a file with a name of interest, or one that is not plainly
written, is examined in full. If only its annotations may draw something, only these are. A hostile file may hide an
object inside another one's string, or disguise a stream: whatever cannot be seen to be harmless raises Unsafe.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, cast

from paraph.pdf.refusal import SealError
from paraph.pdf.structure.crossreference import TABLE_ENTRY, CrossReferenceSection
from paraph.pdf.structure.objects import CONFUSED, REGULAR, SPACE, Dictionary, PdfStream, Unsafe, parse, unescaped
from paraph.pdf.structure.reader import OBJECT_HEAD, STREAM, PdfReader
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks.expansion import Expansion

_ESCAPED_BYTE = re.compile(rb"\\.", re.DOTALL)
_LENGTH = re.compile(rb"/Length(?![^\x00\t\n\x0c\r ()<>\[\]{}/%])")
_STRING = re.compile(rb"\([^()]*\)")
_DEEPEST_STRING = 8
_NAMES_OF_INTEREST = re.compile(  # what runs, is embedded or changes what is shown (preflight.py)
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


class ObjectSpan(NamedTuple):
    """An object and everything up to the next one. ``body``: where the object itself begins, after its number."""

    number: int
    place: int
    body: int
    end: int


class StreamPlace(NamedTuple):
    """``dictionary``: that of the stream; ``start`` and ``end`` of the data."""

    dictionary: Dictionary
    start: int
    end: int


class ObjectIndex(NamedTuple):
    """Every object that any section of the cross-reference names, in use or replaced since."""

    reader: PdfReader
    perhaps_streams: list[ObjectSpan]
    others: list[tuple[int, int]]
    """Ranges that contain no stream, the text before all objects included."""
    containers: set[int]
    """Places of the object streams in use."""


def index_objects(data: bytes) -> ObjectIndex:
    """Index a file. Raise :class:`Unsafe` if an object might hide in it: if it is encrypted or hybrid, or has an
    object elsewhere than the cross-reference says."""
    reader = PdfReader(data)
    sections = reader.crossreference.sections
    if reader.encryption is not None or any(b"/XRefStm" in section.trailer for section in sections):
        raise Unsafe("an encrypted or hybrid file")
    if reader.trailer.get(b"/Size") != reader.crossreference.next_number:
        raise Unsafe("there are objects beyond the number of objects")
    uncompressed: dict[int, tuple[int, int]] = {}
    containers: set[int] = set()
    for section in sections:
        for first, count, place in section.runs:
            if section.is_stream:
                containers |= _rows(section, first, count, place, uncompressed)
            else:
                _entries(data, first, count, place, uncompressed)
    streams, others = _sorted_out(data, uncompressed)
    places = set[int]()
    for number in containers:  # which an earlier revision may have put elsewhere
        entry = reader.crossreference.entry(number)
        if entry is None or entry.packed or uncompressed.get(entry.place) != (number, entry.index):
            raise Unsafe("an object stream is missing")
        places.add(entry.place)
    return ObjectIndex(reader, streams, others, places)


def _sorted_out(
    data: bytes, uncompressed: dict[int, tuple[int, int]]
) -> tuple[list[ObjectSpan], list[tuple[int, int]]]:
    """Separate possible streams from other objects, with adjacent others joined."""
    streams: list[ObjectSpan] = []
    others: list[tuple[int, int]] = [(0, min(uncompressed, default=len(data)))]
    for start, end in pairwise([*sorted(uncompressed), len(data)]):
        number, generation = uncompressed[start]
        body = _body(data, start, number, generation)
        if data.find(b"stream", body, end) >= 0:
            streams.append(ObjectSpan(number, start, body, end))
            continue
        _check_closed(data[body:end])
        if others[-1][1] == start:
            others[-1] = (others[-1][0], end)
        else:
            others.append((start, end))
    return streams, others


def _body(data: bytes, start: int, number: int, generation: int) -> int:
    head = b"%d %d obj" % (number, generation)
    if data[start : start + len(head)] == head:
        return start + len(head)
    match = OBJECT_HEAD.match(data, start)
    if match is None or (int(match[1]), int(match[2])) != (number, generation):
        raise Unsafe("an object is not where the cross-reference says")
    return match.end()


def _entries(data: bytes, first: int, count: int, place: int, uncompressed: dict[int, tuple[int, int]]) -> None:
    found = TABLE_ENTRY.findall(data, place, place + 20 * count)
    if len(found) != count:
        raise Unsafe("a cross-reference entry is not 20 bytes wide")
    for number, (offset, generation, kind) in enumerate(found, start=first):
        if kind == b"n":
            uncompressed[int(offset)] = (number, int(generation))


def _rows(
    section: CrossReferenceSection, first: int, count: int, place: int, uncompressed: dict[int, tuple[int, int]]
) -> set[int]:
    """Add the uncompressed objects of stream rows; return the numbers of the object streams."""
    a, b, c = section.widths
    width = a + b + c
    if a != 1:
        raise Unsafe("a cross-reference stream of unusual width")
    rows = section.rows[place : place + count * width]
    containers = set()
    same_place = rb"(.)(.{%d}).{%d}(?:\1\2.{%d})*+" % (b, c, c)
    for run in re.finditer(same_place, rows, re.DOTALL):
        where = int.from_bytes(run[2], "big")
        if run[1] == b"\x02":
            containers.add(where)
        elif run[1] == b"\x01":
            row = run.end() - width  # the last of several at one place, as in a table
            uncompressed[where] = (first + row // width, int.from_bytes(rows[row + 1 + b : row + width], "big"))
    return containers


def _check_closed(text: bytes) -> None:
    """Check that no string, dictionary or comment is still open at ``endobj``, where it could hide a stream."""
    body, end, _ = text.partition(b"endobj")
    if b"(" in body or b")" in body:
        body = _without_strings(body)
    if not end or b"%" in body or body.count(b"<<") != body.count(b">>"):
        raise Unsafe("an object does not end where it seems to")


def _without_strings(body: bytes) -> bytes:
    body = _ESCAPED_BYTE.sub(b"", body)
    for _ in range(_DEEPEST_STRING):
        body, found = _STRING.subn(b"", body)
        if not found:
            break
    if b"(" in body or b")" in body:
        raise Unsafe("a string does not end")
    return body


def stream_in(data: bytes, span: ObjectSpan, reader: PdfReader) -> StreamPlace | None:
    """Return the stream in the span, or ``None``. Raise :class:`Unsafe` where readers might see another end."""
    dictionary, position = parse(data, span.body)
    begins = STREAM.match(data, position) if type(dictionary) is dict else None
    if begins is None:
        _check_closed(data[span.body : span.end])
        return None
    head = data[span.body : position]
    if b"#" in head or len(_LENGTH.findall(head)) != 1:
        raise Unsafe("a stream may have two lengths")
    place = StreamPlace(dictionary, begins.end(), begins.end() + reader.length_of(dictionary, begins.end()))
    if place.end > span.end:
        raise Unsafe("a stream goes on behind the next object")
    return place


class ScannedFile(NamedTuple):
    """A plainly written file, whose names are printable ASCII. ``passive``: nothing in it runs or changes its looks."""

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
        reader = index.reader
        action = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/OpenAction"))
        acts = type(action) is dict and (action.get(b"/S") != b"/GoTo" or b"/Next" in action)  # else it turns a page
        passive = not (acts or _contains_name(_NAMES_OF_INTEREST, text))
        return ScannedFile(reader, passive, _contains_name(_DRAWN_ANNOTATIONS, text))
    except (Unsafe, SealError, *CONFUSED):
        return None


def _texts(data: bytes, index: ObjectIndex) -> Iterator[bytes]:
    """Yield all text of the file except stream data, and check what the streams unpack to."""
    containers, expansion = index.containers.copy(), Expansion()
    for start, end in index.others:
        yield data[start:end]
    for span in index.perhaps_streams:
        if (stream := stream_in(data, span, index.reader)) is None:
            yield data[span.body : span.end]
            continue
        dictionary, start, end = stream
        filters = dictionary.get(b"/Filter")
        names = filters if type(filters) is list else [] if filters is None else [filters]
        if any(type(name) is not bytes for name in names):
            raise Unsafe("the filter of a stream stands elsewhere")
        is_image = dictionary.get(b"/Subtype") == b"/Image"
        expansion.check_by_zlib(names, memoryview(data)[start:end], image=is_image)
        yield data[span.body : start]
        yield data[end : span.end]
        if span.place in containers:
            containers.remove(span.place)
            yield index.reader.unpack(span.number, PdfStream(dictionary, data[start:end]))
    if containers:
        raise Unsafe("an object stream is missing")


def _contains_name(names: re.Pattern[bytes], text: bytes) -> bool:
    if names.search(text):
        return True
    escaped = _ESCAPED.findall(text) if b"#" in text else ()
    return any(names.match(unescaped(name)) for name in escaped)
