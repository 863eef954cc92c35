"""Whether what follows a seal is an archive timestamp of this service and nothing else: it is written once more, and
must come out byte for byte.

Comparing two revisions of a large file in general takes seconds; this takes milliseconds and allows nothing at all.
What does not come out the same (another program's timestamp, a version that wrote otherwise) is left to the general
comparison.
"""

from typing import Any

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing.archive import archive_revision
from paraph.pdf.structure.existing_signatures import existing_signatures
from paraph.pdf.structure.objects import PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader, decoded
from paraph.pdf.structure.revision import Revision
from paraph.pdf.verification.stored_data import KEYS


def is_archive_of(before: PdfReader, after: PdfReader, value: bytes) -> bool:
    """Whether what ``after`` has more than ``before``, with which it begins, is exactly such a revision.

    ``value``: the whole /Contents of its signature, padding included; whether that is a good timestamp is not
    asked here. Raises nothing.
    """
    pdf, sealed_size = after.data, before.size
    try:
        added = _store(after) if pdf.count(b"/DSS", sealed_size) else ()
        missing = LongTermData(*(_contents(*pair) for pair in zip(_store(before), added, strict=False)))
        names = existing_signatures(Revision(before)).field_names
        written = archive_revision(before, missing, names, len(value)).write()
    except (Unsafe, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return False
    start, end = (place - sealed_size for place in written.hole)
    written.text[start + 1 : end - 1] = value.hex().encode()
    with memoryview(pdf) as view:
        return view[sealed_size:] == written.text


def _store(reader: PdfReader) -> list[tuple[PdfReader, list[Any]]]:
    """The lists of the document security store, each with who can read them; what is no list counts as an empty one,
    as it does where the store is extended."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    store = reader.resolve(root.get(b"/DSS"))
    lists = [reader.resolve(store.get(key)) if isinstance(store, dict) else None for key in KEYS]
    return [(reader, listed if isinstance(listed, list) else []) for listed in lists]


def _contents(old: tuple[PdfReader, list[Any]], new: tuple[PdfReader, list[Any]]) -> tuple[bytes, ...]:
    """What the new list has more than the old one."""
    streams = [new[0].resolve(item) for item in new[1][len(old[1]) :]]
    return tuple(decoded(stream) for stream in streams if isinstance(stream, PdfStream))
