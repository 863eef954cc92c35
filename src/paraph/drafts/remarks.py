"""What senders are told of a draft's stamps and fields before it is sent: what they cover, and names that cannot be
written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product
from typing import NamedTuple

from paraph.documents.models import Document
from paraph.drafts.covered_words import covered_words
from paraph.drafts.models import Draft, Placed
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.glyph_fallback import written_otherwise

_MOST = 50  # nobody reads more at a time
_TOUCHING = 2.0  # points by which stamps and fields may overlap unseen


@dataclass(frozen=True)
class Remark:
    """What a stamp, that of ``name``, or a field covers: ``words`` of the document, or the stamp of ``other``. Where
    there are ``fields``, two that are called so overlap; or one of them and the stamp of ``name``."""

    document: str
    page_number: int
    name: str = ""
    fields: tuple[str, ...] = ()
    words: str = ""
    other: str = ""


def remarks(draft: Draft) -> list[Remark]:
    """Return what stamps and fields cover, in the order of documents: the first remarks of many."""
    return list(islice(_remarks(draft), _MOST))


def unwritten_names(draft: Draft) -> list[tuple[str, str]]:
    """Return each signer's name whose letters no font has, with what stamps say in its place."""
    named = [(signer.name(draft.locale), signer.email) for signer in draft.signers]
    return [(name, written) for name, email in named if (written := written_otherwise(name, email))]


def _remarks(draft: Draft) -> Iterator[Remark]:
    places = draft.places()
    for document in draft.files():
        here = [each for each in places if each.document == document]
        stamps, fields = ([each for each in here if (each.field is None) == is_stamp] for is_stamp in (True, False))
        yield from _of_stamps(document, stamps, draft.locale)
        yield from _of_fields(document, fields, stamps, draft.locale)


def _covered(document: Document, places: Sequence[Placed]) -> dict[Placed, str]:
    """Return the words under each that covers any; nothing while no reader has time."""
    on_pages = [each for each in places if 1 <= each.page_number <= len(document.pages)]
    try:
        found = covered_words(document, [(at.page_number, at.x, at.y, at.width, at.height) for at in on_pages])
    except DomainError:
        return {}
    return {each: words for each, words in zip(on_pages, found, strict=True) if words}


def _of_stamps(document: Document, stamps: Sequence[Placed], locale: str) -> Iterator[Remark]:
    for stamp, words in _covered(document, stamps).items():
        yield Remark(document.name, stamp.page_number, stamp.signer.name(locale), words=words)
    for one, other in filter(_overlap, combinations(map(_Box.of, stamps), 2)):
        yield Remark(document.name, one.page, one.at.signer.name(locale), other=other.at.signer.name(locale))


def _of_fields(document: Document, fields: Sequence[Placed], stamps: Sequence[Placed], locale: str) -> Iterator[Remark]:
    for field, words in _covered(document, fields).items():
        yield Remark(document.name, field.page_number, fields=(_label(field),), words=words)
    boxes = list(map(_Box.of, fields))
    for at, stamp in filter(_overlap, product(boxes, map(_Box.of, stamps))):
        yield Remark(document.name, at.page, stamp.at.signer.name(locale), (_label(at.at),))
    for one, other in filter(_overlap, combinations(boxes, 2)):
        yield Remark(document.name, one.page, fields=(_label(one.at), _label(other.at)))


def _label(at: Placed) -> str:
    asked = at.field or {}
    return str(asked.get("label") or asked.get("name") or "")


class _Box(NamedTuple):
    """Sides of what is placed, in numbers that are at hand: a million pairs are compared."""

    at: Placed
    page: int
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, at: Placed) -> "_Box":
        return cls(at, at.page_number, at.x, at.y, at.x + at.width, at.y + at.height)


def _overlap(pair: tuple[_Box, _Box]) -> bool:
    (_, page, left, bottom, right, top), (_, page2, left2, bottom2, right2, top2) = pair
    return (
        page == page2
        and min(right, right2) - max(left, left2) > _TOUCHING
        and min(top, top2) - max(bottom, bottom2) > _TOUCHING
    )
