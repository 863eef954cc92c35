"""Words of a page that stand beside each other, with the place of each character."""

from collections.abc import Iterator
from dataclasses import dataclass

from paraph.pdf.structure.pages import Box, transform_box
from paraph.pdf.untrusted.jobs.characters import PageText

_APART = 3.0  # relative to the height of the character before: a wider gap begins another run


@dataclass(frozen=True)
class TextRun:
    """``boxes``: of each character of ``text``, in reader space; ``indexes``: what PDFium counts them by."""

    text: str
    boxes: list[Box]
    indexes: list[int]


def text_runs(page: PageText) -> Iterator[TextRun]:
    """Yield the runs in text order. Line ends and wide gaps end a run."""
    text: list[str] = []
    boxes: list[Box] = []
    indexes: list[int] = []
    for index, character in enumerate([*page.exact(), "\n"]):
        cell = page.cell(index) if character.strip() else None
        box = transform_box(page.geometry.to_reader, cell) if cell else None
        if text and (character in "\r\n" or (box and _apart(boxes[-1], box))):
            yield TextRun("".join(text), boxes, indexes)
            text, boxes, indexes = [], [], []
        if box or (character.isspace() and text):
            text.append(character if box else " ")
            boxes.append(box or boxes[-1])
            indexes.append(index)


def _apart(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], 1.0)
    beside = min(last[3], box[3]) - max(last[1], box[1]) > 0
    return not beside or box[0] - last[2] > _APART * height or last[0] - box[2] > _APART * height
