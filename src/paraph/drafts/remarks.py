"""What senders are told of a draft's signatures and fields before it is sent: what they cover, options that nobody has
named, and names that cannot be written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, count, islice, product
from typing import NamedTuple

from django.utils.text import get_text_list
from django.utils.translation import gettext as _

from paraph.documents.models import Document
from paraph.drafts.covered_words import covered_words
from paraph.drafts.models import Draft, DraftSigner, Placed
from paraph.kernel.errors import DomainError
from paraph.pdf.typesetting.glyph_fallback import written_otherwise
from paraph.signature_requests.fields.kinds import KINDS

_MOST = 50  # nobody reads more at a time
_TOUCHING = 2.0  # points by which stamps and fields may overlap unseen


@dataclass(frozen=True)
class Remark:
    """A sentence about one place or two. ``rows``: which, ``stamp-0`` for the first stamp of the draft, ``field-1`` for
    its second field."""

    sentence: str
    rows: tuple[str, ...]


def remarks(draft: Draft) -> list[Remark]:
    """Return what stamps and fields cover, and what fields still offer, in the order of documents: the first remarks of
    many."""
    return list(islice(_remarks(draft), _MOST))


def unwritten_names(draft: Draft) -> list[tuple[str, str]]:
    """Return each signer's name whose letters no font has, with what stamps say in its place."""
    named = [(signer.name(draft.locale), signer.email) for signer in draft.signers]
    return [(name, written) for name, email in named if (written := written_otherwise(name, email))]


def _remarks(draft: Draft) -> Iterator[Remark]:
    documents, rows = draft.files(), {"stamp": count(), "field": count()}
    names = _names(draft)
    told = [
        _Told(at, f"{kind}-{next(rows[kind])}", names[at.signer.ref], several=len(documents) > 1)
        for at in draft.places()
        for kind in ["field" if at.field else "stamp"]
    ]
    for document in documents:
        here = [each for each in told if each.at.document == document]
        stamps, fields = ([each for each in here if (each.at.field is None) == is_stamp] for is_stamp in (True, False))
        yield from _covering(document, stamps, fields)
        yield from _overlapping(stamps, fields)
        yield from (Remark(sentence, (each.row,)) for each in fields if (sentence := _unnamed_options(each)))


def _names(draft: Draft) -> dict[str, str]:
    """Return what each signer is called in a sentence, by ref: the first name, unless two have it."""
    first = [signer.first_name for signer in draft.signers]
    return {each.ref: _short(each, first) or each.name(draft.locale) for each in draft.signers}


def _short(signer: DraftSigner, first_names: Sequence[str]) -> str:
    return signer.first_name if first_names.count(signer.first_name) == 1 else ""


@dataclass(frozen=True, eq=False)
class _Told:
    """A place, its row, and what it is called in sentences. ``several``: whether there are several documents."""

    at: Placed
    row: str
    name: str
    several: bool

    def words(self, **more: str) -> dict[str, str]:
        page = str(self.at.page_number)
        if self.several:
            page = _("%(page)s of %(document)s") % {"page": page, "document": self.at.document.name}
        asked = self.at.field or {}
        return {"name": self.name, "field": str(asked.get("label") or asked.get("name") or ""), "page": page, **more}


def _covering(document: Document, stamps: Sequence[_Told], fields: Sequence[_Told]) -> Iterator[Remark]:
    """Yield what covers words; nothing while no reader has time."""
    on_pages = [each for each in (*stamps, *fields) if 1 <= each.at.page_number <= len(document.pages)]
    places = [(each.at.page_number, each.at.x, each.at.y, each.at.width, each.at.height) for each in on_pages]
    try:
        found = covered_words(document, places)
    except DomainError:
        return
    for told, lines in zip(on_pages, found, strict=True):
        if not lines:
            continue
        covers = _("The field “%(field)s” on page %(page)s covers %(words)s.")
        if told.at.field is None:
            covers = _("%(name)s's signature on page %(page)s covers %(words)s.")
        yield Remark(covers % told.words(words=_quoted(lines)), (told.row,))


def _quoted(texts: Sequence[str]) -> str:
    return get_text_list([_("“%(words)s”") % {"words": each} for each in texts], _("and"))


def _overlapping(stamps: Sequence[_Told], fields: Sequence[_Told]) -> Iterator[Remark]:
    of_stamps, of_fields = list(map(_Box.of, stamps)), list(map(_Box.of, fields))
    pairs = (combinations(of_stamps, 2), product(of_fields, of_stamps), combinations(of_fields, 2))
    for one, other in (pair for some in pairs for pair in some if _overlap(pair)):
        yield Remark(_overlap_of(one.told, other.told), (one.told.row, other.told.row))


def _overlap_of(one: _Told, other: _Told) -> str:
    if other.at.field:
        sentence = _("The fields “%(field)s” and “%(other)s” on page %(page)s overlap.")
        return sentence % one.words(other=other.words()["field"])
    if one.at.field:
        sentence = _("The field “%(field)s” and %(other)s's signature on page %(page)s overlap.")
    elif one.at.signer == other.at.signer:
        sentence = _("Two signatures of %(name)s on page %(page)s overlap.")
    else:
        sentence = _("The signatures of %(name)s and %(other)s on page %(page)s overlap.")
    return sentence % one.words(other=other.name)


def _unnamed_options(told: _Told) -> str:
    """Return a sentence on options that are those of a new field; "" where none is."""
    asked = told.at.field or {}
    new = KINDS[asked["type"]].content("").get("options", ()) if asked.get("options") else ()
    left = [option for option in asked.get("options", ()) if option in new]
    sentence = _("The field “%(field)s” on page %(page)s still offers %(words)s. Enter the options to choose from.")
    return sentence % told.words(words=_quoted(left)) if left else ""


class _Box(NamedTuple):
    """Sides of what is placed, in numbers that are at hand: a million pairs are compared."""

    told: _Told
    page: int
    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, told: _Told) -> "_Box":
        at = told.at
        return cls(told, at.page_number, at.x, at.y, at.x + at.width, at.y + at.height)


def _overlap(pair: tuple[_Box, _Box]) -> bool:
    (_told, page, left, bottom, right, top), (_other, page2, left2, bottom2, right2, top2) = pair
    return (
        page == page2
        and min(right, right2) - max(left, left2) > _TOUCHING
        and min(top, top2) - max(bottom, bottom2) > _TOUCHING
    )
