"""The sandboxed processes that verify sealed files: each job may read several files, as a whole."""

import contextlib
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, overload

import pikepdf

from paraph.pdf.typesetting.proof import EVIDENCE
from paraph.pdf.untrusted.jobs import verify_job
from paraph.pdf.untrusted.jobs.serving import serve
from paraph.pdf.untrusted.jobs.warm_up import look_up_encodings, open_random_source, verify_on_trial
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

JOBS: dict[str, Callable[..., JobAnswer]] = {
    "verify": verify_job.verify,
    "check_evidence": verify_job.check_evidence,
    "timestamps": verify_job.timestamps,
    "altered_seals": verify_job.altered_seals,
}
_EVIDENCE = {"format": "paraph-evidence/1", "request": {}, "journal": [], "signers": [], "documents": []}


def main() -> None:
    serve(_do, partial(warm_up_verification, JOBS))


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    with WholeFiles(descriptors) as files:
        return JOBS[request["job"]](files, **request["arguments"])


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

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        file = self._files[index]
        file.seek(0)
        return file.read()


def warm_up_verification(jobs: Mapping[str, Callable[..., Any]]) -> None:
    """Run each job once on a small file with evidence that was sealed, and sealed again."""
    look_up_encodings()
    open_random_source()
    proof = _with_evidence()
    sealed, sealed_again = verify_on_trial(proof)
    trust: dict[str, Any] = {"roots": [], "signers": []}
    jobs["verify"]([sealed_again], timestamps=[], **trust)
    jobs["check_evidence"]([proof, sealed], names=["proof", "signed"], timestamps={}, **trust)
    jobs["altered_seals"]([sealed_again], roots=[])
    jobs["timestamps"]([b"{}", sealed], earlier=[])


def _with_evidence() -> bytes:
    document = pikepdf.new()
    page = document.add_blank_page(page_size=(50, 50))
    font = pikepdf.Dictionary(Type=pikepdf.Name.Font, Subtype=pikepdf.Name.Type1, BaseFont=pikepdf.Name.Helvetica)
    page.obj.Resources = pikepdf.Dictionary(Font=pikepdf.Dictionary(F1=font))
    page.obj.Contents = document.make_stream(b"BT /F1 12 Tf 20 20 Td (a) Tj ET")
    document.attachments[EVIDENCE] = _attachment(document)
    file = io.BytesIO()
    document.save(file, object_stream_mode=pikepdf.ObjectStreamMode.generate)  # for pyHanko to unpack
    return file.getvalue()


def _attachment(document: pikepdf.Pdf) -> pikepdf.AttachedFileSpec:
    text = dict.fromkeys(("filename", "description", "mime_type", "creation_date", "mod_date"), "")
    return pikepdf.AttachedFileSpec(document, json.dumps(_EVIDENCE).encode(), **text)


if __name__ == "__main__":
    main()
