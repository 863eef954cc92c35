"""The document security store read from a file, without the items that cannot be read."""

import zlib
from dataclasses import dataclass, field
from typing import Any

from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import CONFUSED, Dictionary, PdfStream, Unsafe
from paraph.pdf.structure.reader import PdfReader, decoded
from paraph.pdf.structure.signed_fields import place_of

KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_ENCODING = (b"/Filter", b"/DecodeParms")
_MAX_ITEM = 32 * 1024 * 1024  # bytes; the longest revocation lists have a few million
_MAX_TOTAL = 64 * 1024 * 1024
_MAX_ENCODED = 64 * 1024
"""Bytes before decoding, for filters other than Flate, whose decoders have no limit."""


@dataclass(frozen=True)
class StoredData:
    """The content of a store. ``incomplete``: ``data`` lacks items that could not be read."""

    data: LongTermData
    incomplete: bool


@dataclass
class StoreReader:
    """Read the stores of several revisions of one file, and decodes no more in all than an honest store holds."""

    _decoded: dict[tuple[str, bytes], bytes] = field(default_factory=dict)
    _left: int = _MAX_TOTAL

    def read(self, reader: PdfReader) -> StoredData:
        """Return the content of the store, empty where there is none. Raises nothing."""
        try:
            store = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/DSS"))
        except (Unsafe, *CONFUSED):
            return StoredData(LongTermData(), incomplete=True)
        if not isinstance(store, dict):
            return StoredData(LongTermData(), incomplete=store is not None)
        items = [(key, item) for key in KEYS for item in _listed(reader, store, key)]
        # Newest first: an upload that holds too much must not crowd out the data of its seal.
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
        key = (repr([stream.dictionary.get(entry) for entry in _ENCODING]), stream.data)
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
        return content if len(content) <= _MAX_ITEM else b""


def _listed(reader: PdfReader, store: Dictionary, key: bytes) -> list[Any]:
    """Return the items of one list; a single ``None``, which cannot be read, in place of anything but a list."""
    try:
        items = reader.resolve(store.get(key))
    except (Unsafe, *CONFUSED):
        return [None]
    if isinstance(items, list):
        return items
    return [] if items is None else [None]


def _decode(stream: PdfStream) -> bytes:
    """Decode a stream. A longer one than :data:`_MAX_ITEM` comes out cut off shortly after this limit."""
    filters, parameters = stream.dictionary.get(b"/Filter"), stream.dictionary.get(b"/DecodeParms")
    if filters in (b"/FlateDecode", [b"/FlateDecode"]) and parameters in (None, [None]):
        try:
            return zlib.decompressobj().decompress(stream.data, _MAX_ITEM + 1)
        except zlib.error:
            return b""
    is_encoded = filters is not None and filters != []
    if is_encoded and (len(stream.data) > _MAX_ENCODED or _is_several(filters)):
        return b""
    return decoded(stream)


def _is_several(filters: Any) -> bool:
    return isinstance(filters, list) and len(filters) != 1
