"""The lines of a page's text as PDFium orders them, each character with its place."""

from collections.abc import Iterator
from dataclasses import dataclass

from paraph.pdf.structure.geometry import Box, PageGeometry, transform_box
from paraph.pdf.untrusted.jobs.page_text.characters import Characters

_APART = 3.0  # relative to the height of the character before: a wider gap begins another run


@dataclass(frozen=True)
class TextRun:
    """Words that stand beside each other. ``boxes``: of each character of ``text``, in reader space."""

    text: str
    boxes: list[Box]


def text_runs(characters: Characters, geometry: PageGeometry) -> Iterator[TextRun]:
    """Yield the runs in text order. Line ends and wide gaps end a run."""
    text: list[str] = []
    boxes: list[Box] = []
    for index, character in enumerate([*characters.exact(), "\n"]):
        cell = characters.cell(index) if character.strip() else None
        box = transform_box(geometry.to_reader, cell) if cell else None
        if text and (character in "\r\n" or (box and _apart(boxes[-1], box))):
            yield TextRun("".join(text), boxes)
            text, boxes = [], []
        if box:
            text.append(character)
            boxes.append(box)
        elif character.isspace() and text:
            text.append(" ")
            boxes.append(boxes[-1])


def _apart(last: Box, box: Box) -> bool:
    height = max(last[3] - last[1], 1.0)
    beside = min(last[3], box[3]) - max(last[1], box[1]) > 0
    return not beside or box[0] - last[2] > _APART * height or last[0] - box[2] > _APART * height
