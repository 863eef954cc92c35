"""What stamps on a document stand on: a dark or busy page, where they get a ground of their own, and words that they
cover. The same for every preview and for the seal."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import partial

from paraph.documents.models import Document
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import Place, Underneath, look_underneath
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_RULE = 1  # another number where places are judged in another way, so that what was kept is not found
_AT_A_TIME = 200  # places, for which the time of one job is plenty


def grounds(document: Document, places: Sequence[Place], *, keep: bool = True) -> list[bool]:
    """Return for each place whether a stamp there needs a ground of its own; otherwise as :func:`underneath`."""
    return [under.dark for under in underneath(document, places, keep=keep)]


def underneath(
    document: Document, places: Sequence[Place], *, pictures: bool = True, texts: bool = False, keep: bool = True
) -> list[Underneath]:
    """Return what lies under each place: whether it is dark with ``pictures``, its words with ``texts``.

    Judged once and kept beside the pictures of the pages; judged again alike where those were removed. Not kept for a
    caller that is the last to ask (``keep``). A page that cannot be read has nothing underneath. Raises
    :class:`paraph.pdf.refusal.ReadersUnavailable`.
    """
    if not places:
        return []
    places = [_rounded(place) for place in places]
    digest = hashlib.sha256(json.dumps([places, pictures, texts]).encode()).hexdigest()[:32]
    key = f"pages/{document.shown_sha256.hex()}/underneath-{_RULE}-{digest}.json"
    with suppress(FileNotFoundError):
        return [Underneath(*found) for found in json.loads(store.get(key))]
    judged = list(_judged(document, places, pictures=pictures, texts=texts))
    if keep:
        with suppress(OSError):  # without room to keep it, it is judged again
            store.put(key, json.dumps([astuple(under) for under in judged]).encode())
    return judged


def _judged(document: Document, places: Sequence[Place], **wanted: bool) -> Iterator[Underneath]:
    pdf = partial(store.get, document.shown_key)
    for first in range(0, len(places), _AT_A_TIME):
        some = places[first : first + _AT_A_TIME]
        try:
            yield from look_underneath(
                pdf, some, tenant_key=tenant_key(document), sha256=document.shown_sha256, **wanted
            )
        except PdfRefused:
            yield from [Underneath()] * len(some)


def _rounded(place: Place) -> Place:
    page_number, x, y, width, height = place
    return page_number, round(x, 2), round(y, 2), round(width, 2), round(height, 2)
