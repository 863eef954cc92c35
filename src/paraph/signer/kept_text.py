"""The text of pages, read once by a sandboxed process and kept in storage beside their pictures."""

import json
from contextlib import suppress
from itertools import groupby

from pydantic import Field

from paraph.documents.models import Document
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.page_reading import TextLayer, Word, text_layer
from paraph.signer.described import Answer
from paraph.storage import store
from paraph.tenants.scope import tenant_key

_FORM = 3  # of the kept text: another number where lines come about in another way, so that old ones are not found


class Line(Answer):
    text: str = Field(description="The words of the line.")
    x: float = Field(description="From the left edge of the page.")
    y: float = Field(description="From the top edge of the page.")
    width: float = Field(description="Of the line.")
    height: float = Field(description="Of the line.")


class PageText(Answer):
    width: float = Field(description="Of the page.")
    height: float = Field(description="Of the page.")
    lines: list[Line] = Field(description="From top to bottom.")
    example = (
        "A page",
        {
            "width": 595.3,
            "height": 841.9,
            "lines": [{"text": "Lease agreement", "x": 72, "y": 64.2, "width": 138.5, "height": 16.1}],
        },
    )


def page_text(document: Document, number: int) -> PageText:
    """Return the text of a page that the document has; without lines where the page cannot be read."""
    key = f"pages/{document.shown_sha256.hex()}/{number}-text-{_FORM}.json"
    try:
        kept = json.loads(store.get(key))  # pydantic would refuse lone surrogates
        return PageText.model_construct(**kept | {"lines": [Line.model_construct(**each) for each in kept["lines"]]})
    except FileNotFoundError:
        pass
    try:
        layer = text_layer(
            lambda: store.get(document.shown_key), number, tenant_key=tenant_key(document), sha256=document.shown_sha256
        )
    except PdfRefused:  # perhaps for want of time: it is tried again
        width, height = document.pages[number - 1]
        return PageText.model_construct(width=width, height=height, lines=[])
    text = PageText.model_construct(width=layer.width, height=layer.height, lines=_lines(layer))
    with suppress(OSError):  # without room to keep it, it is read again
        store.put(key, json.dumps(text.model_dump()).encode())
    return text


def _lines(layer: TextLayer) -> list[Line]:
    return [_line(layer, list(words)) for _, words in groupby(layer.words, key=lambda word: word.line)]


def _line(layer: TextLayer, words: list[Word]) -> Line:
    left, bottom = min(word.x for word in words), min(word.y for word in words)
    right, top = max(word.x + word.width for word in words), max(word.y + word.height for word in words)
    return Line.model_construct(
        text=" ".join(word.text for word in words),
        x=round(left, 1),
        y=round(layer.height - top, 1),
        width=round(right - left, 1),
        height=round(top - bottom, 1),
    )
