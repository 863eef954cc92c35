"""The sandboxed processes that verify sealed files: each job may read several files, as a whole.

Their jobs are called by :mod:`paraph.pdf.untrusted.verify`; values travel as
:func:`paraph.pdf.untrusted.sandbox_wire.to_plain` writes them.
"""

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from paraph.pdf.asic import FilesByName
from paraph.pdf.refusal import too_complex
from paraph.pdf.timestamps.detached_timestamps import DetachedTimestamp, DetachedTimestampsRefused, read_timestamps_file
from paraph.pdf.typesetting import EVIDENCE
from paraph.pdf.untrusted.jobs.serving import look_up_encodings, open_random_source, serve
from paraph.pdf.untrusted.jobs.upload_checks.dry_run import small_file, verify_on_trial
from paraph.pdf.untrusted.sandbox_wire import JobAnswer, from_plain, to_plain
from paraph.pdf.verification import bundle_check, evidence_check
from paraph.pdf.verification import verify as verification

_EVIDENCE = {"format": "paraph-evidence/1", "request": {}, "journal": [], "signers": [], "documents": []}
_LONGEST_ANSWER = 32 << 20  # bytes; names in certificates are as long as a hostile file wants them


def verify(
    files: Sequence[bytes], roots: list[str], timestamps: list[Any], signers: list[str], *, at: str | None
) -> JobAnswer:
    known, moment = from_plain(list[DetachedTimestamp], timestamps), _moment(at)
    return _answered(verification.verify(files[0], from_plain(list[bytes], roots), known, signers, at=moment))


def check_evidence(
    files: Sequence[bytes],
    names: list[str],
    roots: list[str],
    timestamps: dict[str, Any],
    signers: list[str],
    *,
    at: str | None,
    compared: dict[str, tuple[str, int]],
) -> JobAnswer:
    """Check a proof against the files that belong to it. ``names``: those of ``files``, in the same order."""
    known = from_plain(dict[str, list[DetachedTimestamp]], timestamps)
    named = FilesByName({name: partial(files.__getitem__, index) for index, name in enumerate(names)})
    trusted, moment = from_plain(list[bytes], roots), _moment(at)
    return _answered(evidence_check.check_evidence(named, trusted, known, signers, at=moment, compared=compared))


def check_bundle(files: "WholeFiles", roots: list[str], signers: list[str], *, at: str | None) -> JobAnswer:
    """Check the bundle, which is the only file."""
    trusted, moment = from_plain(list[bytes], roots), _moment(at)
    return _answered(bundle_check.check_bundle(files.opened(0), trusted, signers, at=moment))


def _moment(at: str | None) -> datetime | None:
    return datetime.fromisoformat(at) if at else None


def altered_seals(files: Sequence[bytes], roots: list[str]) -> JobAnswer:
    """Return the names of the seals after which the only file was altered."""
    return _answered(verification.altered_seals(files[0], from_plain(list[bytes], roots)))


def timestamps(files: Sequence[bytes], earlier: list[Any]) -> JobAnswer:
    """Read from the first file the timestamps of the second, which is sealed. ``earlier``: those already known."""
    try:
        return _answered(read_timestamps_file(files[0], files[1], from_plain(list[DetachedTimestamp], earlier)))
    except DetachedTimestampsRefused as error:
        return {"raised": str(error)}, b""


def _answered(value: object) -> JobAnswer:
    answer = {"value": to_plain(value)}
    if len(json.dumps(answer)) > _LONGEST_ANSWER:
        raise too_complex()
    return answer, b""


JOBS: dict[str, Callable[..., JobAnswer]] = {
    "verify": verify,
    "check_evidence": check_evidence,
    "check_bundle": check_bundle,
    "timestamps": timestamps,
    "altered_seals": altered_seals,
}


class WholeFiles(Sequence[bytes]):
    """Files behind descriptors, which it owns; a context manager that closes them. A file is read anew whenever it is
    asked for: several may be more than fits in memory together."""

    def __init__(self, descriptors: Sequence[int]) -> None:
        self._opened = contextlib.ExitStack()
        self._files = [self._opened.enter_context(os.fdopen(each, "rb")) for each in descriptors]

    def __enter__(self) -> "WholeFiles":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: Any) -> Any:
        """Return a whole file; slices are not supported."""
        file = self.opened(index)
        file.seek(0)
        return file.read()

    def opened(self, index: int) -> BinaryIO:
        """Return a file to be read in parts."""
        return self._files[index]


def warm_up_verification(jobs: Mapping[str, Callable[..., Any]]) -> None:
    """Run each job once on a small file with evidence that was sealed, and sealed again."""
    look_up_encodings()
    open_random_source()
    proof = small_file({EVIDENCE: json.dumps(_EVIDENCE).encode()})
    sealed, sealed_again = verify_on_trial(proof)
    trust: dict[str, Any] = {"roots": [], "signers": [], "at": None}
    jobs["verify"]([sealed_again], timestamps=[], **trust)
    jobs["check_evidence"]([proof, sealed], names=["proof", "signed"], timestamps={}, compared={}, **trust)
    jobs["altered_seals"]([sealed_again], roots=[])
    jobs["timestamps"]([b"{}", sealed], earlier=[])


def main() -> None:
    serve(_do, partial(warm_up_verification, JOBS))


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    with WholeFiles(descriptors) as files:
        return JOBS[request["job"]](files, **request["arguments"])


if __name__ == "__main__":
    main()
