"""Cross-reference sections as text (ISO 32000-1, 7.5.4 and 7.5.8)."""

import zlib
from collections.abc import Mapping

from paraph.pdf.structure.crossreference import CrossReferenceEntry
from paraph.pdf.structure.objects import Dictionary, Ref, serialized


def crossreference_table(entries: Mapping[int, CrossReferenceEntry], trailer: Dictionary) -> bytes:
    """Return a table and its trailer. A table cannot locate objects inside object streams."""
    lines = [b"xref\n"]
    for run in _runs(entries):
        lines.append(b"%d %d\n" % (run[0], len(run)))
        lines += [b"%010d %05d n \n" % (entries[number].place, entries[number].index) for number in run]
    return b"".join([*lines, b"trailer\n", serialized(trailer), b"\n"])


def crossreference_stream(ref: Ref, entries: Mapping[int, CrossReferenceEntry], trailer: Dictionary) -> bytes:
    """Return the whole stream object ``ref``, its own trailer included; ``entries`` must contain ``ref``."""
    runs = _runs(entries)
    rows = [
        (b"\x02" if entry.packed else b"\x01") + entry.place.to_bytes(5, "big") + entry.index.to_bytes(2, "big")
        for run in runs
        for entry in (entries[number] for number in run)
    ]
    data = zlib.compress(b"".join(rows))
    dictionary = {
        b"/Type": b"/XRef",
        b"/W": [1, 5, 2],
        b"/Index": [part for run in runs for part in (run[0], len(run))],
        b"/Filter": b"/FlateDecode",
        b"/Length": len(data),
        **trailer,
    }
    return b"%d %d obj\n" % ref + serialized(dictionary) + b"\nstream\n" + data + b"\nendstream\nendobj\n"


def _runs(entries: Mapping[int, CrossReferenceEntry]) -> list[list[int]]:
    """Group the object numbers into runs without gaps."""
    runs: list[list[int]] = []
    for number in sorted(entries):
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
