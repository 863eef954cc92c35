"""The document security store as our own reader finds it: what cannot be read of it is left out."""

import zlib
from dataclasses import dataclass, field
from typing import Any

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader, decoded
from paraph.pdf.structure.signed_fields import place_of

KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_HOW = (b"/Filter", b"/DecodeParms")
_LARGEST = 32 * 1024 * 1024  # bytes; the longest revocation lists have a few million
_MOST_IN_ALL = 64 * 1024 * 1024
_LARGEST_OF_OTHER_FILTERS = 64 * 1024
"""Before decoding, which then has no limit of its own."""


@dataclass(frozen=True)
class StoredData:
    """``incomplete``: something of the store could not be read and is not in ``data``."""

    data: LongTermData
    incomplete: bool


@dataclass
class StoreReader:
    """Reads the stores of several revisions of one file, and decodes no more than one honest store holds."""

    _decoded: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    _left: int = _MOST_IN_ALL

    def read(self, reader: PdfReader) -> StoredData:
        """Empty where there is no store. Raises nothing."""
        try:
            store = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/DSS"))
        except (Unsafe, *CONFUSED):
            return StoredData(LongTermData(), incomplete=True)
        if not isinstance(store, dict):
            return StoredData(LongTermData(), incomplete=store is not None)
        items = [(key, item) for key in KEYS for item in _listed(reader, store, key)]
        # What was added last is decoded first: an upload that holds too much crowds out nothing of its seal.
        newest_first = sorted(enumerate(items), key=lambda each: place_of(reader, each[1][1], 0), reverse=True)
        contents = {number: self._content(reader, item) for number, (_, item) in newest_first}
        lists = ([contents[number] for number, (key, _) in enumerate(items) if key == wanted] for wanted in KEYS)
        data = LongTermData(*(tuple(content for content in listed if content) for listed in lists))
        return StoredData(data, incomplete=not all(contents.values()))

    def _content(self, reader: PdfReader, item: Any) -> bytes:
        try:
            stream = reader.resolve(item)
        except (Unsafe, *CONFUSED):
            return b""
        if not isinstance(stream, PdfStream):
            return b""
        key = (repr([stream.dictionary.get(entry) for entry in _HOW]), stream.data)
        if key not in self._decoded:
            self._decoded[key] = self._decode(stream)
        return self._decoded[key]

    def _decode(self, stream: PdfStream) -> bytes:
        if self._left <= 0:
            return b""
        try:
            content = _decode(stream)
        except (Unsafe, *CONFUSED):
            content = b""
        self._left -= len(content)
        if len(content) > _LARGEST:
            return b""
        return content


def _listed(reader: PdfReader, store: Dictionary, key: bytes) -> list[Any]:
    """The items of one list; one that is nothing in place of what is no list."""
    try:
        items = reader.resolve(store.get(key))
    except (Unsafe, *CONFUSED):
        return [None]
    if isinstance(items, list):
        return items
    return [] if items is None else [None]


def _decode(stream: PdfStream) -> bytes:
    """More than is allowed where there is more, but not much more."""
    filters, parameters = stream.dictionary.get(b"/Filter"), stream.dictionary.get(b"/DecodeParms")
    if filters in (b"/FlateDecode", [b"/FlateDecode"]) and parameters in (None, [None]):
        try:
            return zlib.decompressobj().decompress(stream.data, _LARGEST + 1)
        except zlib.error:
            return b""
    of_other_filters = filters is not None and filters != []
    if of_other_filters and (len(stream.data) > _LARGEST_OF_OTHER_FILTERS or _is_several(filters)):
        return b""
    return decoded(stream)


def _is_several(filters: Any) -> bool:
    return isinstance(filters, list) and len(filters) != 1
