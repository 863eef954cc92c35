"""What senders are told of a draft's stamps and fields before it is sent: what they cover, and names that cannot be
written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import Any, NamedTuple

from paraph.documents.models import Document
from paraph.drafts.covered_words import covered_words
from paraph.drafts.models import Draft, DraftField, DraftStamp
from paraph.drafts.signer_name import signer_name
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.glyph_fallback import written_otherwise

_MOST = 50  # nobody reads more at a time
_TOUCHING = 2.0  # points by which stamps and fields may overlap unseen


@dataclass(frozen=True)
class StampRemark:
    """The stamp of ``name`` covers ``words`` of the document, or the stamp of ``other``."""

    name: str
    document: str
    page_number: int
    words: str = ""
    other: str = ""


@dataclass(frozen=True)
class FieldRemark:
    """The ``fields``, two that are called so, overlap; or one of them and the stamp of ``name``, or covers ``words`` of
    the document."""

    fields: tuple[str, ...]
    document: str
    page_number: int
    name: str = ""
    words: str = ""


def stamp_remarks(draft: Draft) -> list[StampRemark | FieldRemark]:
    """Return what stamps and fields cover, in the order of documents: the first remarks of many."""
    return list(islice(_remarks(draft), _MOST))


def _remarks(draft: Draft) -> Iterator[StampRemark | FieldRemark]:
    stamps, fields = draft.places()
    for row in draft.documents.select_related("document"):
        here = [stamp for stamp in stamps if stamp.document == row]
        yield from _of_document(row.document, here, draft.locale)
        yield from _of_fields(row.document, [field for field in fields if field.document == row], here, draft.locale)


def unwritten_names(draft: Draft) -> list[tuple[str, str]]:
    """Return each signer's name whose letters no font has, with what stamps say in its place."""
    named = [(signer_name(signer, draft.locale), signer.email) for signer in draft.signers.all()]
    return [(name, written) for name, email in named if (written := written_otherwise(name, email))]


def _covered(
    document: Document, placed: Sequence[DraftStamp] | Sequence[DraftField]
) -> dict[DraftStamp | DraftField, str]:
    """Return the words under each that covers any; nothing while no reader has time."""
    on_pages = [each for each in placed if 1 <= each.page_number <= len(document.pages)]
    places = [(at.page_number, at.x, at.y, at.width, at.height) for at in on_pages]
    try:
        found = covered_words(document, places)
    except DomainError:
        return {}
    return {each: words for each, words in zip(on_pages, found, strict=True) if words}


def _of_document(document: Document, stamps: Sequence[DraftStamp], locale: str) -> Iterator[StampRemark]:
    found = _covered(document, stamps)
    for stamp in stamps:
        if words := found.get(stamp):
            yield StampRemark(signer_name(stamp.signer, locale), document.name, stamp.page_number, words=words)
    for one, other in filter(_overlap, combinations(map(_Box.of, stamps), 2)):
        names = signer_name(one.at.signer, locale), signer_name(other.at.signer, locale)
        yield StampRemark(names[0], document.name, one.page, other=names[1])


def _of_fields(
    document: Document, fields: Sequence[DraftField], stamps: Sequence[DraftStamp], locale: str
) -> Iterator[FieldRemark]:
    found = _covered(document, fields)
    for field in fields:
        if words := found.get(field):
            yield FieldRemark((_label(field),), document.name, field.page_number, words=words)
    boxes = list(map(_Box.of, fields))
    for at, stamp in filter(_overlap, product(boxes, map(_Box.of, stamps))):
        yield FieldRemark((_label(at.at),), document.name, at.page, signer_name(stamp.at.signer, locale))
    for one, other in filter(_overlap, combinations(boxes, 2)):
        yield FieldRemark((_label(one.at), _label(other.at)), document.name, one.page)


def _label(field: DraftField) -> str:
    return str(field.content.get("label") or field.content.get("name") or "")


class _Box(NamedTuple):
    """Sides of what is placed, in numbers that are at hand: a million pairs are compared."""

    at: Any
    page: int
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, at: DraftStamp) -> "_Box":
        return cls(at, at.page_number, at.x, at.y, at.x + at.width, at.y + at.height)


def _overlap(pair: tuple[_Box, _Box]) -> bool:
    (_, page, left, bottom, right, top), (_, page2, left2, bottom2, right2, top2) = pair
    return (
        page == page2
        and min(right, right2) - max(left, left2) > _TOUCHING
        and min(top, top2) - max(bottom, bottom2) > _TOUCHING
    )
