"""What is read of sealed files for a verdict on them, called by :mod:`paraph.pdf.untrusted.verify`.

Values travel as :mod:`paraph.pdf.untrusted.plain_values` writes them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf.refusal import too_complex
from paraph.pdf.timestamps.detached_timestamps import (
    DetachedTimestamp,
    DetachedTimestampsRefused,
    read_timestamps_file,
)
from paraph.pdf.untrusted.plain_values import from_plain, to_plain
from paraph.pdf.untrusted.sandbox_wire import JobAnswer
from paraph.pdf.verification import evidence_check
from paraph.pdf.verification import verify as verification

_LONGEST_ANSWER = 32 << 20  # bytes; names in certificates are as long as a hostile file wants them


def verify(files: Sequence[bytes], roots: list[str], timestamps: list[Any], signers: list[str]) -> JobAnswer:
    known = from_plain(list[DetachedTimestamp], timestamps)
    return _answer(verification.verify(files[0], from_plain(list[bytes], roots), known, signers))


def check_evidence(
    files: Sequence[bytes], names: list[str], roots: list[str], timestamps: dict[str, Any], signers: list[str]
) -> JobAnswer:
    """Check a proof against the files that belong to it. ``names``: of the files, in their order."""
    known = from_plain(dict[str, list[DetachedTimestamp]], timestamps)
    named = _Named(files, names)
    return _answer(evidence_check.check_evidence(named, from_plain(list[bytes], roots), known, signers))


def altered_seals(files: Sequence[bytes], roots: list[str]) -> JobAnswer:
    """Name the seals after which the one file was altered."""
    return _answer(verification.altered_seals(files[0], from_plain(list[bytes], roots)))


def timestamps(files: Sequence[bytes], earlier: list[Any]) -> JobAnswer:
    """Read what the first file has kept of the second, a sealed one, after the earlier timestamps."""
    try:
        return _answer(read_timestamps_file(files[0], files[1], from_plain(list[DetachedTimestamp], earlier)))
    except DetachedTimestampsRefused as error:
        return {"raised": str(error)}, b""


@dataclass(frozen=True)
class _Named(Mapping[str, bytes]):
    """The files by their names, each read when it is asked for."""

    files: Sequence[bytes]
    names: list[str]

    def __getitem__(self, name: str) -> bytes:
        try:
            return self.files[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def _answer(value: object) -> JobAnswer:
    answer = {"value": to_plain(value)}
    if len(json.dumps(answer)) > _LONGEST_ANSWER:
        raise too_complex()
    return answer, b""
