"""Placing stamps: from tags and coordinates to rectangles on pages (rule 4.5, cases 4 and 5)."""

from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from paraph.documents.models import Document
from paraph.documents.refusals import sentence_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.find import ROUNDING, FoundTag, Rect, find_tags, under
from paraph.signature_requests.input import (
    Assignment,
    CoordinatesStamp,
    DocumentInput,
    MagicFieldStamp,
    Tag,
)
from paraph.signature_requests.problems import Problems
from paraph.storage import store
from paraph.tenants.scope import tenant_key


@dataclass(frozen=True)
class PlannedPlacement:
    """A stamp on a page. ``rect`` is in points of the page as a reader sees it; ``stamp`` counts from 0 within the
    signer's stamps on the document, as they were given."""

    signer_ref: str
    stamp: int
    page_number: int
    rect: Rect


def place(given: DocumentInput, path: str, document: Document, problems: Problems) -> list[PlannedPlacement]:
    """Return the placements on the document at a path of the payload. Reads and searches its file once, if there are
    tags."""
    found = _find(given, path, document, problems)
    if found is None:
        return []
    placements: list[PlannedPlacement] = []
    for index, assignment in enumerate(given.signers):
        here = f"{path}.signers[{index}]"
        tried = [
            _Stamp(stamp, number, f"{here}.stamps[{number}]", assignment, document, problems).place(found)
            for number, stamp in enumerate(assignment.stamps)
            if stamp is not None  # it could not be read
        ]
        placed = [placement for placement in tried if placement]
        if not placed and _all_optional(assignment):
            sentence = _("none of the optional stamps of signer “%(ref)s” was found on document %(document)d.")
            problems.add(here, sentence % {"ref": assignment.signer_ref or "", "document": document.pk})
        placements += placed
    return placements


def _all_optional(assignment: Assignment) -> bool:
    stamps = assignment.stamps
    return bool(stamps) and all(isinstance(stamp, MagicFieldStamp) and stamp.optional for stamp in stamps)


def _find(given: DocumentInput, path: str, document: Document, problems: Problems) -> dict[str, FoundTag] | None:
    stamps = [stamp for assignment in given.signers for stamp in assignment.stamps]
    tags = {stamp.value.tag for stamp in stamps if isinstance(stamp, MagicFieldStamp)}
    if not tags:
        return {}
    pdf = partial(store.get, document.shown_key)
    try:
        return find_tags(pdf, sorted(tags), tenant_key=tenant_key(document), sha256=document.shown_sha256)
    except PdfRefused as refused:
        problems.add(path, sentence_of(refused))
        return None


@dataclass(frozen=True)
class _Stamp:
    """A stamp of the payload, and what its problems name."""

    stamp: MagicFieldStamp | CoordinatesStamp
    number: int
    path: str
    assignment: Assignment
    document: Document
    problems: Problems

    def place(self, found: dict[str, FoundTag]) -> PlannedPlacement | None:
        if isinstance(self.stamp, CoordinatesStamp):
            return self._by_coordinates(self.stamp)
        tag = self.stamp.value.tag
        if tag in found:
            return self._by_tag(self.stamp.value, found[tag])
        if not self.stamp.optional:
            self._refuse(_("the tag “%(tag)s” of signer “%(ref)s” is not in document %(document)d."), tag=tag)
        return None

    def _by_tag(self, at: Tag, found: FoundTag) -> PlannedPlacement | None:
        page_width, page_height = self.document.pages[found.page_number - 1]
        try:
            rect = under(found, (page_width, page_height), at.width, at.height)
        except PdfRefused:
            sentence = _(
                "the stamp of signer “%(ref)s” at the tag “%(tag)s”, %(width)s by %(height)s points, does not fit on "
                "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
            )
            sizes = {"width": f"{at.width:g}", "height": f"{at.height:g}"}
            self._refuse(sentence, tag=at.tag, page=found.page_number, **sizes)
            return None
        return PlannedPlacement(self.assignment.signer_ref, self.number, found.page_number, rect)

    def _by_coordinates(self, stamp: CoordinatesStamp) -> PlannedPlacement | None:
        at, pages = stamp.value, self.document.pages
        if at.page_number > len(pages):
            sentence = _("page %(page)d of signer “%(ref)s” does not exist: document %(document)d has %(count)d pages.")
            self._refuse(sentence, page=at.page_number, count=len(pages))
            return None
        page_width, page_height = pages[at.page_number - 1]
        if min(at.x, at.y) < 0 or at.x + at.width > page_width + ROUNDING or at.y + at.height > page_height + ROUNDING:
            sentence = _(
                "the stamp of signer “%(ref)s” at x=%(x)s, y=%(y)s, %(width)s by %(height)s points, does not fit on "
                "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
            )
            sizes = {name: f"{getattr(at, name):g}" for name in ("x", "y", "width", "height")}
            self._refuse(sentence, page=at.page_number, **sizes)
            return None
        rect = Rect(at.x, at.y, at.width, at.height)
        return PlannedPlacement(self.assignment.signer_ref, self.number, at.page_number, rect)

    def _refuse(self, sentence: str, page: int = 0, **facts: str | int) -> None:
        facts |= {"ref": self.assignment.signer_ref or "", "document": self.document.pk, "page": page}
        if 0 < page <= len(self.document.pages):
            page_width, page_height = self.document.pages[page - 1]
            facts |= {"page_width": f"{page_width:g}", "page_height": f"{page_height:g}"}
        self.problems.add(self.path, sentence % facts)
