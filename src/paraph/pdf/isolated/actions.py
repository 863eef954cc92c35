"""One walk over the objects of a file: what would run or leave it when it is opened, and what would burst.

Having every object parsed costs most of an inspection, and most files do nothing. So the text of the objects is
searched first, as it stands in the file; only where a name of interest stands in it are they parsed and counted.
"""

import re
import zlib
from typing import Any

import pikepdf

from paraph.pdf.isolated.expansion import check_expansion
from paraph.pdf.isolated.places import places, texts
from paraph.pdf.isolated.source import Source
from paraph.pdf.objects import Unsafe

# qpdf writes names in one form, so that /J#61vaScript is found as well, and the keys of a dictionary sorted
_COUNTED = {
    "scripts": re.compile(rb"/S /JavaScript\b|/JS\b(?:(?!>>|/S ).)*/S /Rendition\b", re.DOTALL),
    "launch_actions": re.compile(rb"/S /Launch\b"),
    "submit_actions": re.compile(rb"/S /(?:SubmitForm|ImportData)\b"),
    "attachments": re.compile(rb"/EF <<"),
}
_MANY = 200
_NAMES = (b"/JavaScript", b"/Rendition", b"/Launch", b"/SubmitForm", b"/ImportData", b"/EF")
_ESCAPED = re.compile(rb"/[^\x00\t\n\x0c\r ()<>\[\]{}/%]*#[^\x00\t\n\x0c\r ()<>\[\]{}/%]*")
_ESCAPE = re.compile(rb"#([0-9A-Fa-f]{2})")


def count_actions(source: Source) -> dict[str, int]:
    """``scripts``, ``launch_actions``, ``submit_actions`` and ``attachments``: a number each.

    Raises PdfRefused ``too_complex`` for a bomb.
    """
    document = source.pikepdf()
    if _has_many_objects(document) and is_quiet(source, document):
        return dict.fromkeys(_COUNTED, 0)
    return count(document)


def _has_many_objects(document: pikepdf.Pdf) -> bool:
    """So that a look at the text is worth it."""
    size = document.trailer.get("/Size")
    return isinstance(size, int) and size > _MANY


def is_quiet(source: Source, document: pikepdf.Pdf) -> bool:
    """Whether the file is plainly written and no name of interest stands in it, outside the data of streams and
    inside object streams. On the way, what each stream unpacks to is checked."""
    if document.get_warnings():
        return False
    data = source.content[:]
    try:
        found = places(data)
    except (Unsafe, ValueError, RecursionError):
        return False
    for span in found.perhaps_streams:
        item = document.get_object(span.number, span.generation)
        stream = item if isinstance(item, pikepdf.Stream) else None
        raw = None if stream is None else bytes(stream.get_raw_stream_buffer())
        if stream is not None and raw is not None:
            check_expansion(stream, raw)
        if span.number in found.containers and (raw is None or _speaks(_unpacked(stream, raw))):
            return False
        if any(map(_speaks, texts(data, span, raw))):
            return False
    return not any(_speaks(data[start:end]) for start, end in found.others) and not document.get_warnings()


def _unpacked(stream: Any, raw: bytes) -> bytes:
    """The objects in an object stream, as text."""
    if stream.get("/Filter") == pikepdf.Name.FlateDecode and "/DecodeParms" not in stream:
        try:
            return zlib.decompress(raw)
        except zlib.error:
            pass
    content: bytes = stream.read_bytes()
    return content


def _speaks(text: bytes) -> bool:
    if any(name in text for name in _NAMES):
        return True
    return b"#" in text and any(_unescaped(name) in _NAMES for name in _ESCAPED.findall(text))


def _unescaped(name: bytes) -> bytes:
    return _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), name)


def count(document: pikepdf.Pdf) -> dict[str, int]:
    """The same of every object, parsed."""
    counts = dict.fromkeys(_COUNTED, 0)
    for item in document.objects:
        if isinstance(item, pikepdf.Stream):
            check_expansion(item, item.get_raw_stream_buffer())
            text = item.stream_dict.unparse(resolved=True)
        elif isinstance(item, pikepdf.Dictionary | pikepdf.Array):
            text = item.unparse(resolved=True)
        else:
            continue
        for name, pattern in _COUNTED.items():
            counts[name] += len(pattern.findall(text))
    return counts
