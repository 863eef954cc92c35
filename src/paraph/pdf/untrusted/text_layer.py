"""The text of a page as words over its picture, for selection and for screen readers."""

from dataclasses import dataclass

from paraph.pdf.untrusted.sandbox import sandbox


@dataclass(frozen=True)
class Word:
    """A word and its box in points of reader space, origin at the bottom left. Words with the same ``line`` follow
    each other on it."""

    text: str
    x: float
    y: float
    width: float
    height: float
    line: int


@dataclass(frozen=True)
class TextLayer:
    """``width`` and ``height`` of the page in points of reader space."""

    width: float
    height: float
    words: list[Word]


def text_layer(pdf: bytes, page_number: int) -> TextLayer:
    """Return the words visible on the page, in text order. Raises PdfRefused."""
    result, _ = sandbox().call("text", pdf, page_number=page_number)
    return TextLayer(result["width"], result["height"], [Word(*word) for word in result["words"]])
