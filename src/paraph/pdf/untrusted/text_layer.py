"""The text of a page as spans over its picture, for selecting it and for screen readers."""

from dataclasses import dataclass

from paraph.pdf.untrusted.sandbox import sandbox


@dataclass(frozen=True)
class Word:
    """Its cell in points of reader space, origin bottom left. Words with the same ``line`` follow each other on it."""

    text: str
    x: float
    y: float
    width: float
    height: float
    line: int


@dataclass(frozen=True)
class TextLayer:
    """``width`` and ``height`` of the page in points as a reader sees it."""

    width: float
    height: float
    words: list[Word]


def text_layer(pdf: bytes, page_number: int) -> TextLayer:
    """The words that a reader sees on the page, in the order of the text. Raises PdfRefused."""
    result, _ = sandbox().call("text", pdf, page_number=page_number)
    return TextLayer(result["width"], result["height"], [Word(*word) for word in result["words"]])
