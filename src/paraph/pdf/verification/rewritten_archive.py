"""Recognition of the service's own archive timestamp after a seal: the revision is written once more, and must come out
byte for byte.

This takes milliseconds, where a general comparison of two revisions of a large file takes seconds, and it tolerates
nothing. Whatever differs, such as a timestamp of another program or version, is left to the general comparison.
"""

from typing import Any

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing.archive import archive_revision
from paraph.pdf.structure.existing_signatures import existing_signatures
from paraph.pdf.structure.objects import PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader, decoded
from paraph.pdf.structure.revision import Revision
from paraph.pdf.verification.stored_validation_data import KEYS


def is_archive_of(before: PdfReader, after: PdfReader, value: bytes) -> bool:
    """Whether the bytes of ``after`` beyond those of ``before``, with which it begins, are exactly such a revision.

    ``value``: the whole /Contents of its signature, padding included. Whether that is a valid timestamp is for the
    caller to check. Raises nothing.
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
    """Returns the lists of the document security store, each with its reader. Anything but a list counts as an empty
    one, as it does where the store is extended."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    store = reader.resolve(root.get(b"/DSS"))
    lists = [reader.resolve(store.get(key)) if isinstance(store, dict) else None for key in KEYS]
    return [(reader, listed if isinstance(listed, list) else []) for listed in lists]


def _contents(old: tuple[PdfReader, list[Any]], new: tuple[PdfReader, list[Any]]) -> tuple[bytes, ...]:
    """Returns the decoded items at the end of the new list that the old one lacks."""
    streams = [new[0].resolve(item) for item in new[1][len(old[1]) :]]
    return tuple(decoded(stream) for stream in streams if isinstance(stream, PdfStream))
