"""The document security store: long-term data in the file itself (ISO 32000-2, 12.8.4.3; ETSI EN 319 142-1 §5.4.2).

It has no /VRI: that would name the seal by the digest of a value which does not exist yet when the store is written,
and the lists serve all signatures alike.
"""

import zlib
from functools import lru_cache

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import Dictionary, PdfStream, Ref
from paraph.pdf.structure.revision import Revision

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_PADES: Dictionary = {b"/BaseVersion": b"/1.7", b"/ExtensionLevel": 1}


def extend_store(revision: Revision, data: LongTermData) -> None:
    """Adds what the file's store lacks, and the store where there is none. What was there stays."""
    root_ref = revision.reader.trailer[b"/Root"]
    root = revision.change(root_ref)
    given = root.get(b"/DSS")
    existing = revision.resolve(given)
    if type(given) is Ref and isinstance(existing, dict):
        store = revision.change(given)
    else:
        store = dict(existing) if isinstance(existing, dict) else {}
        root[b"/DSS"] = store if store else revision.add(store)
    for key, items in zip(_KEYS, data.lists, strict=True):
        _extend_list(revision, store, key, items)
    _declare(revision, root)


def _extend_list(revision: Revision, store: Dictionary, key: bytes, items: tuple[bytes, ...]) -> None:
    """What an earlier seal of this service brought is known by its bytes; nothing of others is decoded."""
    known = revision.resolve(store.get(key))
    listed = known if isinstance(known, list) else []
    there = {stream.data for stream in map(revision.resolve, listed) if isinstance(stream, PdfStream)}
    added = [revision.add(_stream(item)) for item in items if _stream(item).data not in there]
    if added:
        store[key] = [*listed, *added]


@lru_cache(maxsize=256)
def _stream(item: bytes) -> PdfStream:
    """Made once for all files that carry it."""
    compressed = zlib.compress(item, 9)
    if len(compressed) >= len(item):
        return PdfStream({}, item)
    return PdfStream({b"/Filter": b"/FlateDecode"}, compressed)


def _declare(revision: Revision, root: Dictionary) -> None:
    """Says in the catalog that the file uses PAdES, as a reader of PDF 1.7 may want to know."""
    extensions = revision.resolve(root.get(b"/Extensions"))
    known = extensions if isinstance(extensions, dict) else {}
    if b"/ESIC" not in known:
        root[b"/Extensions"] = {**known, b"/ESIC": _PADES}
