"""The text of a page as words over its picture, for selection and for screen readers."""

from dataclasses import dataclass

from paraph.pdf.untrusted.sandbox import Pdf, sandbox


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


def text_layer(pdf: Pdf, page_number: int, *, party: str = "", sha256: bytes = b"") -> TextLayer:
    """The words that a reader sees on the page, in the order of the text. Raises PdfRefused.

    ``pdf``, ``party`` and ``sha256`` of the file: see :meth:`paraph.pdf.untrusted.sandbox.Sandbox.call`."""
    result, _ = sandbox().call("text", pdf, party=party, sha256=sha256, page_number=page_number)
    return TextLayer(result["width"], result["height"], [Word(*word) for word in result["words"]])
