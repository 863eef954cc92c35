"""The document security store: long-term data in the file itself (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1 §5.4.2).

There is no /VRI: it names a seal by the digest of its value, which does not exist yet when the store is written. The
lists serve all signatures.
"""

import zlib
from functools import lru_cache

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref
from paraph.pdf.structure.revision import Revision

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_PADES: Dictionary = {b"/BaseVersion": b"/1.7", b"/ExtensionLevel": 1}


def extend_store(revision: Revision, data: LongTermData) -> None:
    """Add the data that the file's store lacks, and the store itself where there is none. Nothing is removed."""
    root = revision.change(revision.reader.trailer[b"/Root"])
    reference = root.get(b"/DSS")
    existing = revision.resolve(reference)
    if type(reference) is Ref and isinstance(existing, dict):
        store = revision.change(reference)
    else:
        store = dict(existing) if isinstance(existing, dict) else {}
        root[b"/DSS"] = store if store else revision.add(store)
    for key, items in zip(_KEYS, data.lists, strict=True):
        _extend_list(revision, store, key, items)
    _declare(revision, root)


def _extend_list(revision: Revision, store: Dictionary, key: bytes, items: tuple[bytes, ...]) -> None:
    """Add the items that are not in the list yet. Streams are compared as encoded, which recognizes those of earlier
    seals of this service; streams of other programs are never decoded."""
    existing = revision.resolve(store.get(key))
    listed = existing if isinstance(existing, list) else []
    present = {stream.data for stream in map(revision.resolve, listed) if isinstance(stream, PdfStream)}
    added = [revision.add(_stream(item)) for item in items if _stream(item).data not in present]
    if added:
        store[key] = [*listed, *added]


@lru_cache(maxsize=256)
def _stream(item: bytes) -> PdfStream:
    """Compress an item once for all files that carry it."""
    compressed = zlib.compress(item, 9)
    if len(compressed) >= len(item):
        return PdfStream({}, item)
    return PdfStream({b"/Filter": b"/FlateDecode"}, compressed)


def _declare(revision: Revision, root: Dictionary) -> None:
    """Declare in the catalog that the file uses PAdES, for readers of PDF 1.7."""
    extensions = revision.resolve(root.get(b"/Extensions"))
    declared = extensions if isinstance(extensions, dict) else {}
    if b"/ESIC" not in declared:
        root[b"/Extensions"] = {**declared, b"/ESIC": _PADES}
