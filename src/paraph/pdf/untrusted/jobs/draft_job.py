"""The steps of sealing that read the file (called by :mod:`paraph.pdf.untrusted.sandboxed_draft`)."""

import hashlib
from base64 import b64decode
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, cast

from paraph.pdf.drawing.drawing_check import Placed
from paraph.pdf.drawing.marks import Drawing, Mark, Overlay
from paraph.pdf.errors import SealError
from paraph.pdf.pki.purpose import from_json
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.sealing.archive import archive_revision
from paraph.pdf.sealing.draft import Wanted
from paraph.pdf.sealing.draft_here import Prepared, holed, prepared
from paraph.pdf.sealing.self_check import check_appended
from paraph.pdf.structure.extendable_variants import Method, forms
from paraph.pdf.structure.normalise import Unreadable
from paraph.pdf.structure.objects import CONFUSED, Ref, Unsafe
from paraph.pdf.structure.reader import Reader
from paraph.pdf.structure.revision import Written
from paraph.pdf.untrusted.jobs.untrusted_file import Source

_NOWHERE = (0.0, 0.0, 0.0, 0.0)

Answer = tuple[dict[str, Any], bytes]


def telling(step: Callable[..., Answer]) -> Callable[..., Answer]:
    """The step as a job: what it raises over the file becomes its answer."""

    def job(source: Source, **arguments: Any) -> Answer:
        try:
            return step(source, **arguments)
        except (SealError, Unreadable, Unsafe) as error:
            return {"raised": [type(error).__name__ if type(error) in _TOLD else "Unsafe", str(error)]}, b""
        except CONFUSED:
            return {"raised": ["Unsafe", "the file confuses the reader"]}, b""

    return job


_TOLD = {SealError, Unreadable}


@telling
def seal(source: Source, method: Method, wanted: dict[str, Any], data: list[list[str]], hole: int) -> Answer:
    """The revision of the seal, behind the form where the file has another one."""
    form = _form(source, method)
    draft = prepared(Reader(form), _wanted(wanted), _data(data), hole)
    told, text = _told(draft.revision.write(), len(form))
    if method == "incremental":
        return {**told, "form": 0, "known": _known(draft)}, text
    return {**told, "form": len(form), "known": _known(draft)}, form + text


@telling
def archive(source: Source, known: dict[str, Any], data: list[list[str]], hole: int) -> Answer:
    """The revision of an archive timestamp behind a sealed file."""
    names = frozenset(name.encode("latin-1") for name in known["names"])
    return _told(archive_revision(Reader(_content(source)), _data(data), names, hole).write(), source.size)


@telling
def check(source: Source, known: dict[str, Any], size: int, expected: dict[str, Any]) -> Answer:
    """Whether the finished file, of which ``size`` bytes were there before, is what was to be written."""
    content = _content(source)
    with memoryview(content) as whole:
        original_hash = hashlib.sha256(whole[:size])
    check_appended(
        content,
        size,
        original_hash=original_hash,
        original_start=known["start"],
        placed=list(_placed(known["placed"])),
        certificates=list(map(b64decode, expected["certificates"])),
        purpose=from_json(expected["purpose"]),
        token=b64decode(expected["token"]),
        sealed_size=expected["sealed_size"],
        archive_token=b64decode(expected["archive_token"]),
        statuses=_data(expected["statuses"]),
    )
    return {}, b""


def _form(source: Source, method: Method) -> bytes:
    if method == "incremental":
        return _content(source)
    for made, form in forms(source.whole):
        if made == method:
            return form
    raise Unsafe("the file has no such form")


def _content(source: Source) -> bytes:
    """Searched and cut as bytes are, but not copied."""
    return cast(bytes, source.content)


def _told(written: Written, size: int) -> Answer:
    text, start, end = holed(written, size)
    return {"hole": [start, end]}, bytes(text)


def _wanted(told: dict[str, Any]) -> Wanted:
    overlay = told["page_overlay"]
    return Wanted(
        appearances=b64decode(told["appearances"]),
        marks=[Mark(*mark) for mark in told["marks"]],
        page_overlay=None if overlay is None else Overlay(overlay),
        reason=told["reason"],
        name=told["name"],
        at=datetime.fromisoformat(told["at"]),
    )


def _data(lists: list[list[str]]) -> LongTermData:
    return LongTermData(*(tuple(map(b64decode, items)) for items in lists))


def _known(draft: Prepared) -> dict[str, Any]:
    """What later steps must know of this one, and cannot read from the file."""
    placed = [[item.page, list(item.drawing.names.values()), *item[2:]] for item in draft.placed]
    return {"start": draft.start, "names": [name.decode("latin-1") for name in draft.names], "placed": placed}


def _placed(told: list[list[Any]]) -> Iterator[Placed]:
    for page, forms_drawn, in_annotation, background in told:
        names = {b"%d" % number: Ref(*form) for number, form in enumerate(forms_drawn)}
        yield Placed(Ref(*page), Drawing(b"", names, _NOWHERE), in_annotation, background)
