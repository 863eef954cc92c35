"""The tags and signature lines of documents, and the first stamps of a draft under the tags."""

import re
from collections.abc import Sequence
from functools import partial

from paraph.database.rows import insert_once
from paraph.documents.models import Document
from paraph.drafts.models import DocumentTags, Draft, DraftDocument, DraftSigner, DraftStamp
from paraph.drafts.stamp_sizes import Size, sizes_for
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.find import FoundTag, SignatureLine, list_signature_lines, list_tags, under
from paraph.signature_requests.input import MOST_STAMPS
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_NUMBER = re.compile(r"[0-9]+")


def tags_of(document: Document) -> dict[str, FoundTag]:
    """Returns the tags of the document, in reading order. Its file is searched once; none are found in a file that
    cannot be searched."""
    return {tag: FoundTag(*place) for tag, *place in _known(document).found}


def signature_lines_of(document: Document) -> list[SignatureLine]:
    """Returns the lines of the document that wait for a signature, searched and found as its tags are."""
    known = _known(document)
    if known.lines is None:
        known.lines = _search_lines(document)
        DocumentTags.objects.filter(document=document).update(lines=known.lines)
    return [SignatureLine(*line) for line in known.lines]


def place_by_tags(draft: Draft) -> None:
    """Puts a stamp under each tag whose signer is clear; only once for a draft, so that removed stamps stay away.

    A tag is of the signer whose name is in it, else of the one whose number is in it, else the tags without either go
    through the signers in their order.
    """
    signers = list(draft.signers.all())
    if draft.tags_placed or not signers:
        return
    for document in draft.documents.select_related("document"):
        DraftStamp.objects.bulk_create(_stamps(document, signers))
    draft.tags_placed = True
    draft.save(update_fields=["tags_placed"])


def _known(document: Document) -> DocumentTags:
    known = DocumentTags.objects.filter(document=document).first()
    if known is None:
        known = DocumentTags(document=document, found=_search(document))
        insert_once(known)
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


def _stamps(row: DraftDocument, signers: Sequence[DraftSigner]) -> list[DraftStamp]:
    stamps: list[DraftStamp] = []
    unnamed = list(signers)
    tags = tags_of(row.document)
    for (tag, found), size in zip(tags.items(), sizes_for(row.document, list(tags.values())), strict=True):
        signer = _signer(tag, signers) or (unnamed.pop(0) if unnamed else None)
        if signer is None or sum(stamp.signer == signer for stamp in stamps) == MOST_STAMPS:
            continue
        if signer in unnamed:
            unnamed.remove(signer)
        if stamp := _stamp(row, signer, found, size):
            stamps.append(stamp)
    return stamps


def _signer(tag: str, signers: Sequence[DraftSigner]) -> DraftSigner | None:
    words = set(re.findall(r"\w+", tag.casefold()))
    for signer in signers:
        if words & set(f"{signer.first_name} {signer.last_name}".casefold().split()):
            return signer
    number = _NUMBER.search(tag)
    return signers[int(number[0]) - 1] if number and 1 <= int(number[0][:9]) <= len(signers) else None


def _stamp(row: DraftDocument, signer: DraftSigner, found: FoundTag, size: Size) -> DraftStamp | None:
    width, height = row.document.pages[found.page_number - 1]
    try:
        place = under(found, (width, height), *size)
    except PdfRefused:
        return None
    rounded = (round(value, 2) for value in (place.x, place.y, place.width, place.height))
    x, y, stamp_width, stamp_height = rounded
    return DraftStamp(
        document=row,
        signer=signer,
        page_number=found.page_number,
        x=x,
        y=y,
        width=stamp_width,
        height=stamp_height,
    )
