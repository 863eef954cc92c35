"""The text of pages, read once by a sandboxed process and kept in storage beside their pictures."""

import json
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from paraph.documents.models import Document
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import TextLayer, Word, text_layer
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_FORM = 3  # of the kept text: another number where lines come about in another way, so that old ones are not found


@dataclass(frozen=True)
class PageText:
    """``lines`` are ``{"text", "x", "y", "width", "height"}``, in points from the top left."""

    width: float
    height: float
    lines: list[dict[str, Any]]


def page_text(document: Document, number: int) -> PageText:
    """Return the text of a page that the document has; without lines where the page cannot be read."""
    key = f"pages/{document.shown_sha256.hex()}/{number}-text-{_FORM}.json"
    try:
        return PageText(**json.loads(store.get(key)))
    except FileNotFoundError:
        pass
    try:
        layer = text_layer(
            lambda: store.get(document.shown_key), number, tenant_key=tenant_key(document), sha256=document.shown_sha256
        )
    except PdfRefused:  # perhaps for want of time: it is tried again
        width, height = document.pages[number - 1]
        return PageText(width, height, [])
    text = PageText(layer.width, layer.height, _lines(layer))
    with suppress(OSError):  # without room to keep it, it is read again
        store.put(key, json.dumps(asdict(text)).encode())
    return text


def _lines(layer: TextLayer) -> list[dict[str, Any]]:
    return [_line(layer, list(words)) for _, words in groupby(layer.words, key=lambda word: word.line)]


def _line(layer: TextLayer, words: list[Word]) -> dict[str, Any]:
    left, bottom = min(word.x for word in words), min(word.y for word in words)
    right, top = max(word.x + word.width for word in words), max(word.y + word.height for word in words)
    return {
        "text": " ".join(word.text for word in words),
        "x": round(left, 1),
        "y": round(layer.height - top, 1),
        "width": round(right - left, 1),
        "height": round(top - bottom, 1),
    }
