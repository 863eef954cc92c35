"""Placing stamps: from tags and coordinates to rectangles on pages (specification 4.5, cases 4 and 5)."""

from dataclasses import dataclass
from functools import partial

from django.utils.translation import gettext as _

from paraph.documents.models import Document
from paraph.documents.refusals import sentence_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.find import FoundTag, find_tags
from paraph.pdf.untrusted.tag_placement import ROUNDING, Rect, under
from paraph.signature_requests.problems import Problems
from paraph.signature_requests.request_draft import AssignmentDraft, DocumentDraft, StampDraft
from paraph.storage import store
from paraph.tenants.scope import party


@dataclass(frozen=True)
class PlannedPlacement:
    """A stamp on a page. ``rect`` is in points of the page as a reader sees it."""

    signer_ref: str
    page_number: int
    rect: Rect


def place(draft: DocumentDraft, document: Document, problems: Problems) -> list[PlannedPlacement]:
    """Returns the placements on one document. Reads and searches its file once, if there are tags."""
    found = _find(draft, document, problems)
    if found is None:
        return []
    placements: list[PlannedPlacement] = []
    for assignment in draft.assignments:
        tried = [_placement(stamp, assignment, document, found, problems) for stamp in assignment.stamps]
        placed = [placement for placement in tried if placement]
        if not placed and assignment.whole and all(stamp.optional and stamp.tag for stamp in assignment.stamps):
            sentence = _("none of the optional stamps of signer “%(ref)s” was found on document %(document)d.")
            problems.add(assignment.path, sentence % {"ref": assignment.signer_ref, "document": document.pk})
        placements += placed
    return placements


def _find(draft: DocumentDraft, document: Document, problems: Problems) -> dict[str, FoundTag] | None:
    tags = {stamp.tag for assignment in draft.assignments for stamp in assignment.stamps if stamp.tag}
    if not tags:
        return {}
    pdf = partial(store.get, document.shown_key)
    try:
        return find_tags(pdf, sorted(tags), party=party(document), sha256=document.shown_sha256)
    except PdfRefused as refused:
        problems.add(draft.path, sentence_of(refused))
        return None


def _placement(
    stamp: StampDraft,
    assignment: AssignmentDraft,
    document: Document,
    found: dict[str, FoundTag],
    problems: Problems,
) -> PlannedPlacement | None:
    if not stamp.tag:
        return _by_coordinates(stamp, assignment, document, problems)
    if stamp.tag in found:
        return _by_tag(stamp, assignment, document, found[stamp.tag], problems)
    if not stamp.optional:
        sentence = _("the tag “%(tag)s” of signer “%(ref)s” is not in document %(document)d.")
        facts = {"tag": stamp.tag, "ref": assignment.signer_ref, "document": document.pk}
        problems.add(stamp.path, sentence % facts)
    return None


def _by_tag(
    stamp: StampDraft, assignment: AssignmentDraft, document: Document, found: FoundTag, problems: Problems
) -> PlannedPlacement | None:
    page_width, page_height = document.pages[found.page_number - 1]
    try:
        rect = under(found, (page_width, page_height), stamp.width, stamp.height)
    except PdfRefused:
        sentence = _(
            "the stamp of signer “%(ref)s” at the tag “%(tag)s”, %(width)s by %(height)s points, does not fit on "
            "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
        )
        problems.add(stamp.path, sentence % _facts(stamp, assignment, document, found.page_number))
        return None
    return PlannedPlacement(assignment.signer_ref, found.page_number, rect)


def _by_coordinates(
    stamp: StampDraft, assignment: AssignmentDraft, document: Document, problems: Problems
) -> PlannedPlacement | None:
    if stamp.page_number > len(document.pages):
        sentence = _("page %(page)d of signer “%(ref)s” does not exist: document %(document)d has %(count)d pages.")
        facts = {"page": stamp.page_number, "ref": assignment.signer_ref}
        problems.add(stamp.path, sentence % {**facts, "document": document.pk, "count": len(document.pages)})
        return None
    page_width, page_height = document.pages[stamp.page_number - 1]
    if (
        min(stamp.x, stamp.y) < 0
        or stamp.x + stamp.width > page_width + ROUNDING
        or stamp.y + stamp.height > page_height + ROUNDING
    ):
        sentence = _(
            "the stamp of signer “%(ref)s” at x=%(x)s, y=%(y)s, %(width)s by %(height)s points, does not fit on "
            "page %(page)d of document %(document)d, %(page_width)s by %(page_height)s points."
        )
        problems.add(stamp.path, sentence % _facts(stamp, assignment, document, stamp.page_number))
        return None
    rect = Rect(stamp.x, stamp.y, stamp.width, stamp.height)
    return PlannedPlacement(assignment.signer_ref, stamp.page_number, rect)


def _facts(
    stamp: StampDraft, assignment: AssignmentDraft, document: Document, page_number: int
) -> dict[str, str | int]:
    page_width, page_height = document.pages[page_number - 1]
    return {
        "ref": assignment.signer_ref,
        "tag": stamp.tag,
        "x": f"{stamp.x:g}",
        "y": f"{stamp.y:g}",
        "width": f"{stamp.width:g}",
        "height": f"{stamp.height:g}",
        "page": page_number,
        "document": document.pk,
        "page_width": f"{page_width:g}",
        "page_height": f"{page_height:g}",
    }
