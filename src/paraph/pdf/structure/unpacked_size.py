"""The size to which LZW and run-length data unpacks, computed without unpacking it."""

_CLEAR, _END, _FIRST = 256, 257, 258
_WIDEST = 12  # bits
_END_OF_RUNS = 128


def lzw_size(data: bytes, *, early_change: bool, limit: int) -> int:
    """Return the size of LZW data (ISO 32000-1, 7.4.4) from the lengths of its words; counting stops beyond
    ``limit``."""
    lengths, previous, size = [1] * _FIRST, 0, 0
    width, waiting, bits = 9, 0, 0
    for byte in data:
        waiting, bits = (waiting << 8) | byte, bits + 8
        if bits < width:
            continue
        bits -= width
        code, waiting = waiting >> bits, waiting & ((1 << bits) - 1)
        if code == _END or size > limit:
            break
        if code == _CLEAR:
            del lengths[_FIRST:]
            previous, width = 0, 9
            continue
        if previous and len(lengths) < 1 << _WIDEST:
            lengths.append(previous + 1)
        if code >= len(lengths):  # damaged
            break
        previous = lengths[code]
        size += previous
        while width < _WIDEST and len(lengths) + early_change >= 1 << width:
            width += 1
    return size


def run_length_size(data: bytes) -> int:
    """Return the size of run-length data (ISO 32000-1, 7.4.5)."""
    place, size = 0, 0
    while place < len(data) and data[place] != _END_OF_RUNS:
        length = data[place]
        size += length + 1 if length < _END_OF_RUNS else 257 - length
        place += length + 2 if length < _END_OF_RUNS else 2
    return size
