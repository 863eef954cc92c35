"""Placing stamps and fields: from tags and coordinates to rectangles on pages (rule 4.5, cases 4 and 5); and whether
values that are known when a request is sent, given by the sender or filled in by the service, have room there."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache, partial
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph import words
from paraph.documents.models import Document
from paraph.documents.refusals import sentence_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.structure.pages import Rect
from paraph.pdf.typesetting.field_values import ORDINARY, FieldContent, cost, fit, fitted_size
from paraph.pdf.untrusted.page_reading import ROUNDING, FoundTag, find_tags, under
from paraph.signature_requests.fields.input import FieldInput, FieldRectangle, FieldTag, MagicFieldPlacement, row_of
from paraph.signature_requests.fields.kinds import DEFAULT_SIZE, KINDS, Person, field_content, known_value
from paraph.signature_requests.input import Assignment, DocumentInput, MagicFieldStamp, Rectangle, Tag
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.scope import tenant_key

Found = dict[str, FoundTag]


@dataclass(frozen=True)
class PlannedPlacement:
    """A stamp on a page. ``rect`` is in points of the page as a reader sees it; ``stamp`` counts from 0 within the
    signer's stamps on the document, as they were given."""

    signer_ref: str
    stamp: int
    page_number: int
    rect: Rect


@dataclass(frozen=True)
class PlannedField:
    """A field on a page, as it was ``given``; ``number`` counts from 0 within the signer's fields on the document."""

    signer_ref: str
    number: int
    page_number: int
    rect: Rect
    given: FieldInput


class PlannedDocument(NamedTuple):
    """A document, and what has a place on it."""

    document: Document
    placements: list[PlannedPlacement]
    fields: list[PlannedField]


def place(given: DocumentInput, path: str, document: Document, problems: Problems) -> PlannedDocument:
    """Return the placements and fields on the document at a path of the payload. Reads and searches its file once, if
    there are tags."""
    placed = PlannedDocument(document, [], [])
    found = _find(given, path, document, problems)
    if found is None:
        return placed
    for index, assignment in enumerate(given.signers):
        here = f"{path}.signers[{index}]"
        stamps = list(_stamps(assignment, here, document, found, problems))
        optional = [isinstance(stamp, MagicFieldStamp) and stamp.optional for stamp in assignment.stamps]
        if optional and all(optional) and not stamps:
            sentence = _("none of the optional stamps of signer “%(ref)s” was found on document %(document)d.")
            problems.add(here, sentence % {"ref": assignment.signer_ref or "", "document": document.pk})
        placed.placements.extend(stamps)
        placed.fields.extend(_fields(assignment, here, document, found, problems))
    return placed


def _stamps(
    assignment: Assignment, path: str, document: Document, found: Found, problems: Problems
) -> Iterator[PlannedPlacement]:
    for number, stamp in enumerate(assignment.stamps):
        if stamp is None:  # it could not be read
            continue
        at, ref = stamp.value, assignment.signer_ref
        place = _Place(_STAMP, f"{path}.stamps[{number}]", {"ref": ref or ""}, document, problems)
        if isinstance(at, Tag) and at.tag not in found and stamp.optional:
            continue
        if spot := place.find(at, (at.width, at.height), found):
            yield PlannedPlacement(ref, number, *spot)


def _fields(
    assignment: Assignment, path: str, document: Document, found: Found, problems: Problems
) -> Iterator[PlannedField]:
    for number, given in enumerate(assignment.fields):
        if given.placement is None:
            continue
        at, ref = given.placement.value, assignment.signer_ref
        facts = {"ref": ref or "", "name": given.name or ""}
        place = _Place(_FIELD, f"{path}.fields[{number}].placement", facts, document, problems)
        width, height = KINDS[given.type].size if given.type else DEFAULT_SIZE
        if spot := place.find(at, (at.width or width, at.height or height), found):
            yield PlannedField(ref, number, *spot, given)


def _find(given: DocumentInput, path: str, document: Document, problems: Problems) -> Found | None:
    stamps = [stamp for assignment in given.signers for stamp in assignment.stamps]
    places = [field.placement for assignment in given.signers for field in assignment.fields]
    tags = {each.value.tag for each in (*stamps, *places) if isinstance(each, MagicFieldStamp | MagicFieldPlacement)}
    if not tags:
        return {}
    pdf = partial(store.get, document.shown_key)
    try:
        return find_tags(pdf, sorted(tags), tenant_key=tenant_key(document), sha256=document.shown_sha256)
    except PdfRefused as refused:
        problems.add(path, sentence_of(refused))
        return None


class _Sentences(NamedTuple):
    """The sentences about a stamp or a field that does not fit on its page."""

    by_tag: Callable[[], str]
    by_coordinates: Callable[[], str]


_STAMP = _Sentences(
    lambda: _(
        "the stamp of signer “%(ref)s” at the tag “%(tag)s”, %(width)s by %(height)s points, does not fit on "
        "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
    ),
    lambda: _(
        "the stamp of signer “%(ref)s” at x=%(x)s, y=%(y)s, %(width)s by %(height)s points, does not fit on "
        "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
    ),
)
_FIELD = _Sentences(
    lambda: _(
        "the field “%(name)s” of signer “%(ref)s” at the tag “%(tag)s”, %(width)s by %(height)s points, does not fit "
        "on page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
    ),
    lambda: _(
        "the field “%(name)s” of signer “%(ref)s” at x=%(x)s, y=%(y)s, %(width)s by %(height)s points, does not fit on "
        "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
    ),
)


@dataclass(frozen=True)
class _Place:
    """Where the payload wants something on a document, and what its problems name."""

    sentences: _Sentences
    path: str
    facts: dict[str, str]
    document: Document
    problems: Problems

    def find(
        self, at: Tag | FieldTag | Rectangle | FieldRectangle, size: tuple[float, float], found: Found
    ) -> tuple[int, Rect] | None:
        """Return the page and the rectangle, or add a problem."""
        if isinstance(at, Rectangle | FieldRectangle):
            return self._by_coordinates(at, *size)
        if at.tag in found:
            return self._by_tag(at.tag, found[at.tag], *size)
        self._refuse(_("the tag “%(tag)s” of signer “%(ref)s” is not in document %(document)d."), tag=at.tag)
        return None

    def _by_tag(self, tag: str, found: FoundTag, width: float, height: float) -> tuple[int, Rect] | None:
        page_width, page_height = self.document.pages[found.page_number - 1]
        try:
            return found.page_number, under(found, (page_width, page_height), width, height)
        except PdfRefused:
            sizes = {"width": f"{width:g}", "height": f"{height:g}"}
            self._refuse(self.sentences.by_tag(), tag=tag, page=found.page_number, **sizes)
            return None

    def _by_coordinates(self, at: Rectangle | FieldRectangle, width: float, height: float) -> tuple[int, Rect] | None:
        pages = self.document.pages
        if at.page_number > len(pages):
            sentence = _("page %(page)d of signer “%(ref)s” does not exist: document %(document)d has %(count)d pages.")
            self._refuse(sentence, page=at.page_number, count=len(pages))
            return None
        page_width, page_height = pages[at.page_number - 1]
        if min(at.x, at.y) < 0 or at.x + width > page_width + ROUNDING or at.y + height > page_height + ROUNDING:
            sizes = {"x": f"{at.x:g}", "y": f"{at.y:g}", "width": f"{width:g}", "height": f"{height:g}"}
            self._refuse(self.sentences.by_coordinates(), page=at.page_number, **sizes)
            return None
        return at.page_number, Rect(at.x, at.y, width, height)

    def _refuse(self, sentence: str, page: int = 0, **facts: str | int) -> None:
        facts |= {**self.facts, "document": self.document.pk, "page": page}
        if 0 < page <= len(self.document.pages):
            page_width, page_height = self.document.pages[page - 1]
            facts |= {"page_width": f"{page_width:g}", "page_height": f"{page_height:g}"}
        self.problems.add(self.path, sentence % facts)


_LONGEST_SHOWN = 100  # characters of a value in a sentence
_DAYS = [date(2028, month, 28) for month in range(1, 13)]  # one in each month, with as many digits as there can be


@dataclass(frozen=True)
class ExpectedSigner:
    """Who will sign a request that is written in ``locale``."""

    full_name: str
    email: str
    locale: str

    @property
    def signed_on(self) -> str:
        """The day of signature that takes the most room."""
        return _longest_day(self.locale)


class PlacedField(NamedTuple):
    """A field at a ``path`` of the payload, and where it stands."""

    path: str
    given: FieldInput
    rect: Rect
    signer: ExpectedSigner


def check_room(fields: Iterable[PlacedField], problems: Problems, most: int = 0) -> None:
    """Add a problem for each value without room. ``most``: how many ordinary values may be measured, the rest being
    left out, 0 for any number."""
    left, chosen = most * ORDINARY, list[_KnownValue]()
    for path, given, rect, signer in fields:
        if given.value is None and not KINDS[given.type].known:
            continue
        if content := known_content(given, rect.width, rect.height, signer, signer.locale):
            left -= cost(content)
            if most and left < 0:
                break
            chosen.append(_KnownValue(path, content, by_service=given.value is None))
    for each, has_room in zip(chosen, fit([each.content for each in chosen]), strict=True):
        if not has_room:
            problems.add(*_problem(each))


def _problem(each: "_KnownValue") -> tuple[str, str]:
    """Return the path and the sentence."""
    if not each.by_service:
        return f"{each.path}.value", _("there is no room for it in the field, not even in the smallest letters.")
    sentence = _(
        "“%(value)s”, which the service fills in, has no room in %(width)s by %(height)s points, not even in "
        "the smallest letters."
    )
    content = each.content
    facts = {"value": content.text[:_LONGEST_SHOWN], "width": f"{content.width:g}", "height": f"{content.height:g}"}
    return f"{each.path}.placement", sentence % facts


class _KnownValue(NamedTuple):
    path: str
    content: FieldContent
    by_service: bool


def known_content(given: FieldInput, width: float, height: float, signer: Person, locale: str) -> FieldContent | None:
    """Return what will stand in a field if its signer changes nothing: the value that the sender gave, or what the
    service fills in; None where there is neither. Raise ``InvalidValueError`` for a value that the field does not
    take."""
    row = row_of(given)
    row.width, row.height = width, height
    value = known_value(row, signer) or row.value
    return None if value is None else field_content(row, value, locale)


@lru_cache
def _longest_day(locale: str) -> str:
    """Return the day that needs the smallest letters to fit in a given width."""
    sizes = {day: fitted_size(FieldContent(150, 40, words.day(day, locale), 24, locale)) or 0 for day in _DAYS}
    return min(sizes, key=lambda day: sizes[day]).isoformat()
