"""The tags and signature lines of documents, and the first stamps and fields of a draft under the tags."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from paraph.documents.models import Document
from paraph.drafts.editing import held
from paraph.drafts.models import DocumentTags, Draft, DraftDocument, DraftField, DraftSigner, DraftStamp
from paraph.drafts.stamp_sizes import Size, sizes_for
from paraph.drafts.tag_offers import Offer, named_signer, offers_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import FoundTag, SignatureLine, list_signature_lines, list_tags, under
from paraph.signature_requests.fields.input import MOST_FIELDS
from paraph.signature_requests.fields.kinds import free_name
from paraph.signature_requests.input import MOST_STAMPS
from paraph.signature_requests.models import Role
from paraph.storage import store
from paraph.tenants.scope import tenant_key


def tags_of(document: Document) -> dict[str, FoundTag]:
    """Return the tags of the document, in reading order. Its file is searched once; none are found in a file that
    cannot be searched."""
    return {tag: FoundTag(*place) for tag, *place in _known(document).found}


def signature_lines_of(document: Document) -> list[SignatureLine]:
    """Return the lines of the document that wait for a signature, searched and found as its tags are."""
    known = _known(document)
    if known.lines is None:
        known.lines = _search_lines(document)
        DocumentTags.objects.filter(document=document).update(lines=known.lines)
    return [SignatureLine(*line) for line in known.lines]


def place_by_tags(draft: Draft) -> None:
    """Put a stamp, or the field that it names, under each tag whose signer is clear; only once for a draft, so that
    what is removed stays away.

    A tag is of the signer whose name is in it, else of the one whose number is in it, else the tags without either go
    through the signers in their order.
    """
    signers = list(draft.signers.filter(role=Role.SIGNER))
    if draft.tags_placed or not signers:
        return
    offers = offers_in(draft)  # the files are read before the draft is held
    with held(draft):
        if not draft.tags_placed:
            _place(draft, signers, offers)


def _place(draft: Draft, signers: Sequence[DraftSigner], offers: dict[str, Offer]) -> None:
    stamps, fields = draft.places()
    for document in draft.documents.select_related("document"):
        stamps += _stamps(document, signers, offers)
        fields += _fields(document, offers)
    draft.place(stamps, fields)
    draft.tags_placed = True
    draft.save(update_fields=["tags_placed"])


def offers_in(draft: Draft) -> dict[str, Offer]:
    """Return what the tags of all its documents name, by tag."""
    rows = draft.documents.select_related("document")
    tags = [tag for row in rows for tag in tags_of(row.document)]
    return offers_of(tags, list(draft.signers.filter(role=Role.SIGNER)))


def _known(document: Document) -> DocumentTags:
    known = DocumentTags.objects.filter(document=document).first()
    if known is None:
        known = DocumentTags(document=document, found=_search(document))
        DocumentTags.objects.bulk_create([known], ignore_conflicts=True)
    return known


def _search(document: Document) -> list[list[str | float]]:
    pdf = partial(store.get, document.shown_key)
    try:
        tags = list_tags(pdf, tenant_key=tenant_key(document), sha256=document.shown_sha256)
    except PdfRefused:
        return []
    return [[tag, at.page_number, at.x, at.y, at.width, at.height] for tag, at in tags.items()]


def _search_lines(document: Document) -> list[list[str | float]]:
    pdf = partial(store.get, document.shown_key)
    try:
        lines = list_signature_lines(pdf, tenant_key=tenant_key(document), sha256=document.shown_sha256)
    except PdfRefused:
        return []
    return [[at.label, at.page_number, at.x, at.y, at.width, at.height] for at in lines]


def _stamps(row: DraftDocument, signers: Sequence[DraftSigner], offers: dict[str, Offer]) -> list[DraftStamp]:
    stamps: list[DraftStamp] = []
    unnamed = list(signers)
    tags = {tag: found for tag, found in tags_of(row.document).items() if tag not in offers or not offers[tag].kind}
    for (tag, found), size in zip(tags.items(), sizes_for(row.document, list(tags.values())), strict=True):
        named = offers[tag].signer if tag in offers else named_signer(tag, signers)
        signer = named or (unnamed.pop(0) if unnamed else None)
        if signer is None or sum(stamp.signer == signer for stamp in stamps) == MOST_STAMPS:
            continue
        if signer in unnamed:
            unnamed.remove(signer)
        if stamp := _stamp(row, signer, found, size):
            stamps.append(stamp)
    return stamps


def _fields(row: DraftDocument, offers: dict[str, Offer]) -> list[DraftField]:
    fields: list[DraftField] = []
    for tag, found in tags_of(row.document).items():
        kind, signer, name = offers.get(tag, (None, None, ""))
        of_signer = [each.content["name"] for each in fields if each.signer == signer]
        place = _under(row, found, kind.drawn) if kind else None
        if not kind or not signer or not place or len(of_signer) == MOST_FIELDS:
            continue
        content = kind.content(free_name(name or str(kind.label), of_signer))
        fields.append(DraftField(document=row, signer=signer, content=content, **place))
    return fields


def _stamp(row: DraftDocument, signer: DraftSigner, found: FoundTag, size: Size) -> DraftStamp | None:
    place = _under(row, found, size)
    return DraftStamp(document=row, signer=signer, **place) if place else None


def _under(row: DraftDocument, found: FoundTag, size: Size) -> dict[str, Any] | None:
    """Return the rectangle by the names of its columns; None where the page has no room for it."""
    width, height = row.document.pages[found.page_number - 1]
    try:
        place = under(found, (width, height), *size)
    except PdfRefused:
        return None
    sides = {name: round(getattr(place, name), 2) for name in ("x", "y", "width", "height")}
    return {"page_number": found.page_number, **sides}
