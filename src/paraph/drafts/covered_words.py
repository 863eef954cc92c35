"""The words of a document that stamps and fields cover."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial

from paraph.documents.models import Document
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import Place, find_covered_words
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_RULE = 3  # another number where words are found in another way, so that what was kept is not found
_AT_A_TIME = 200  # places, for which the time of one job is plenty


def covered_words(document: Document, places: Sequence[Place]) -> list[list[str]]:
    """Return the whole words under each place, by lines, none on a page that cannot be read.

    Found once and kept beside the pictures of the pages. Raises :class:`paraph.pdf.refusal.ReadersUnavailable`.
    """
    if not places:
        return []
    places = [
        (number, round(x, 2), round(y, 2), round(width, 2), round(height, 2)) for number, x, y, width, height in places
    ]
    digest = hashlib.sha256(json.dumps(places).encode()).hexdigest()[:32]
    key = f"pages/{document.shown_sha256.hex()}/covered-{_RULE}-{digest}.json"
    with suppress(FileNotFoundError):
        kept: list[list[str]] = json.loads(store.get(key))
        return kept
    found = list(_found(document, places))
    with suppress(OSError):  # without room to keep it, it is found again
        store.put(key, json.dumps(found).encode())
    return found


def _found(document: Document, places: Sequence[Place]) -> Iterator[list[str]]:
    pdf = partial(store.get, document.shown_key)
    for first in range(0, len(places), _AT_A_TIME):
        some = places[first : first + _AT_A_TIME]
        try:
            yield from find_covered_words(pdf, some, tenant_key=tenant_key(document), sha256=document.shown_sha256)
        except PdfRefused:
            yield from [[] for _ in some]
