"""The document security store as our own reader finds it: what cannot be read of it is left out."""

from dataclasses import dataclass
from typing import Any

from paraph.pdf.long_term import LongTermData
from paraph.pdf.objects import CONFUSED, Stream, Unsafe
from paraph.pdf.reader import Reader, decoded

KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_PLAIN: tuple[Any, ...] = (None, [], b"/FlateDecode", [b"/FlateDecode"])
_MOST_IN_ALL = 256 * 1024 * 1024
_MOST_DECODED_OTHERWISE = 64 * 1024


@dataclass(frozen=True)
class StoredData:
    """``incomplete``: something of the store could not be read and is not in ``data``."""

    data: LongTermData
    incomplete: bool


def stored_data(reader: Reader) -> StoredData:
    """Empty where there is no store. Raises nothing."""
    collector = _Collector(reader)
    try:
        store = reader.resolve(reader.dictionary(reader.trailer.get(b"/Root")).get(b"/DSS"))
    except (Unsafe, *CONFUSED):
        return StoredData(LongTermData(), incomplete=True)
    if not isinstance(store, dict):
        return StoredData(LongTermData(), incomplete=store is not None)
    data = LongTermData(*(collector.listed(store.get(key)) for key in KEYS))
    return StoredData(data, collector.incomplete)


class _Collector:
    def __init__(self, reader: Reader) -> None:
        self.incomplete = False
        self._reader = reader
        self._left = _MOST_IN_ALL

    def listed(self, value: Any) -> tuple[bytes, ...]:
        """The contents of the streams in one list of the store."""
        try:
            items = self._reader.resolve(value)
        except (Unsafe, *CONFUSED):
            items = False
        if items is not None and not isinstance(items, list):
            self.incomplete = True
        contents = [self._content(item) for item in items] if isinstance(items, list) else []
        return tuple(content for content in contents if content)

    def _content(self, item: Any) -> bytes:
        """Empty where it cannot be read, or where the store holds more than any honest one."""
        content = b""
        try:
            stream = self._reader.resolve(item)
            if isinstance(stream, Stream) and self._left > 0 and _is_bounded(stream):
                content = decoded(stream)
        except (Unsafe, *CONFUSED):
            pass
        self._left -= len(content)
        self.incomplete = self.incomplete or not content
        return content


def _is_bounded(stream: Stream) -> bool:
    """Whether decoding has a limit of its own, or there is little to decode and one filter to do it."""
    filters, parameters = stream.dictionary.get(b"/Filter"), stream.dictionary.get(b"/DecodeParms")
    if filters in _PLAIN and parameters in (None, [None]):
        return True
    single = not isinstance(filters, list) or len(filters) == 1
    return single and len(stream.data) <= _MOST_DECODED_OTHERWISE
