"""The steps of sealing that read the file, called by :mod:`paraph.pdf.untrusted.sandboxed_draft`."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

from paraph.pdf.drawing.marks import Drawing, ExpectedDrawing
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import SealError
from paraph.pdf.sealing.draft import SealContent, SealRevision, archive_revision, seal_revision
from paraph.pdf.sealing.self_check import ExpectedSeal
from paraph.pdf.sealing.self_check import check as check_seal
from paraph.pdf.structure.normalise import Method, UnreadablePdf, extendable_variants
from paraph.pdf.structure.objects import CONFUSED, Ref, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import WrittenRevision
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.sandbox_wire import JobAnswer, from_plain

_NOWHERE = (0.0, 0.0, 0.0, 0.0)


def answering(step: Callable[..., JobAnswer]) -> Callable[..., JobAnswer]:
    """Turn a step into a job that answers with the errors that the step raises about the file."""

    def job(file: UntrustedFile, **arguments: Any) -> JobAnswer:
        try:
            return step(file, **arguments)
        except (SealError, UnreadablePdf, Unsafe) as error:
            kind = type(error).__name__ if type(error) in (SealError, UnreadablePdf) else "Unsafe"
            return {"raised": [kind, str(error)]}, b""
        except CONFUSED:
            return {"raised": ["Unsafe", "the file confuses the reader"]}, b""

    return job


@answering
def seal(file: UntrustedFile, method: Method, wanted: dict[str, Any], data: dict[str, Any], hole: int) -> JobAnswer:
    """Return the revision of the seal, preceded by the variant if that is not the file itself."""
    variant, content = _variant(file, method), from_plain(SealContent, wanted)
    content = replace(content, clean_contents=content.clean_contents and method == "incremental")
    reader = PdfReader(variant, is_closed=content.clean_contents)
    draft = seal_revision(reader, content, from_plain(LongTermData, data), hole)
    message, text = _revision(draft.revision.write())
    if method == "incremental":
        return {**message, "variant": 0, "known": _known(draft)}, text
    return {**message, "variant": len(variant), "known": _known(draft)}, variant + text


@answering
def archive(file: UntrustedFile, known: dict[str, Any], data: dict[str, Any], hole: int) -> JobAnswer:
    """Return the revision of an archive timestamp for a sealed file."""
    reader = PdfReader(_content(file), is_closed=known["is_closed"])
    revision = archive_revision(reader, from_plain(LongTermData, data), frozenset(known["names"]), hole)
    return _revision(revision.write())


@answering
def check(file: UntrustedFile, known: dict[str, Any], size: int, expected: dict[str, Any]) -> JobAnswer:
    """Check that the finished file, whose first ``size`` bytes are the variant, is what was to be written."""
    content = _content(file)
    with memoryview(content) as whole:
        original_hash = hashlib.sha256(whole[:size])
    placed, wanted = list(_placed(known["placed"])), from_plain(ExpectedSeal, expected)
    check_seal(content, size, original_hash, original_start=known["start"], placed=placed, expected=wanted)
    return {}, b""


def _variant(file: UntrustedFile, method: Method) -> bytes:
    if method == "incremental":
        return _content(file)
    for made, variant in extendable_variants(file.whole):
        if made == method:
            return variant
    raise Unsafe("the file has no such variant")


def _content(file: UntrustedFile) -> bytes:
    """Return the mapped file; it is searched and sliced as bytes are, without a copy."""
    return cast(bytes, file.content)


def _revision(written: WrittenRevision) -> JobAnswer:
    return {"hole": [written.start, written.end]}, bytes(written.text)


def _known(draft: SealRevision) -> dict[str, Any]:
    """Return what later steps must know of this one and cannot read from the file."""
    placed = [[item.page, list(item.drawing.names.values()), *item[2:]] for item in draft.placed]
    reader = draft.revision.reader
    facts = {"start": reader.crossreference.start, "is_closed": reader.is_closed}
    return {**facts, "names": list(draft.names), "placed": placed}


def _placed(message: list[list[Any]]) -> Iterator[ExpectedDrawing]:
    for page, drawn_forms, in_annotation, background in message:
        names = {b"%d" % number: Ref(*form) for number, form in enumerate(drawn_forms)}
        yield ExpectedDrawing(Ref(*page), Drawing(b"", names, _NOWHERE), in_annotation, background)
