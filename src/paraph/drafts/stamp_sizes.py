"""How large a stamp is where it lands by itself: as large as the room under its tag, or over its line, allows."""

from collections.abc import Sequence

from paraph.documents.models import Document
from paraph.drafts.covered_words import covered_words
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import FoundTag, Rect, SignatureLine, under
from paraph.signature_requests.input import DEFAULT_SIZE

Size = tuple[float, float]
Target = FoundTag | SignatureLine

_SIZES: tuple[Size, ...] = (DEFAULT_SIZE, (180, 64), (160, 56), (140, 48), (120, 40), (100, 34), (80, 30))
_CRAMPED: Size = (120, 40)  # where every size covers words, and somebody has to look


def sizes_for(document: Document, targets: Sequence[Target]) -> list[Size]:
    """Return the size for each tag or line: the largest of some that covers no words there; the default one where the
    document cannot be read now."""
    places = [_places(document, target) for target in targets]
    asked = [
        (target.page_number, at.x, at.y, at.width, at.height)
        for target, candidates in zip(targets, places, strict=True)
        for at in candidates
    ]
    try:
        free = iter([not words for words in covered_words(document, asked)])
    except DomainError:
        return [DEFAULT_SIZE] * len(targets)
    sizes = []
    for candidates in places:
        fitting = [(at.width, at.height) for at in candidates if next(free)]
        sizes.append(fitting[0] if fitting else _CRAMPED)
    return sizes


def _places(document: Document, target: Target) -> list[Rect]:
    """Return the places of all sizes for which the page has room, the largest first."""
    width, height = document.pages[target.page_number - 1]
    found = []
    for size in _SIZES:
        if isinstance(target, FoundTag):
            try:
                found.append(under(target, (width, height), *size))
            except PdfRefused:
                continue
        elif target.x + size[0] <= width and target.y + size[1] <= height:
            found.append(Rect(target.x, target.y, *size))
    return found
