"""Real files: every PDF of the folder ``PARAPH_CORPUS``, else those that these tests make themselves.

Nothing crashes, hangs, is sealed so that others find fault with it, or looks different afterwards but for the marks.
"""

import os
from pathlib import Path

from benchmarks.corpus.renderers import Pdfium, Poppler
from benchmarks.corpus.rendering import differences, placed_mark
from benchmarks.corpus.run import judge_all
from tests import independent
from tests.pdf.papers import paper, text
from tests.pdf.sealing import pictures, sealed
from tests.pdf.test_structures import DAMAGED, STRUCTURES

_REFUSED_AT_MOST = 0.1  # of a corpus that is made of odd files, those that need a password included


def own_files(folder: Path) -> list[Path]:
    """One of each structure, and some pages that are odd to draw on."""
    files = {**{name: make() for name, make in STRUCTURES.items()}, **{name: make() for name, make in DAMAGED.items()}}
    del files["no cross-reference"]  # qpdf does not read it, so no upload gets that far
    words = text("Some words", 100, 300)
    for rotate in (90, 180, 270):
        files[f"rotated {rotate}"] = paper(words, page={"/Rotate": rotate, "/CropBox": [50, 50, 500, 700]})
    files["unbalanced"] = paper("Q Q " + words + "q 2 0 0 2 0 0 cm", "q q " + words)
    files["signed before"] = sealed(paper(words, words)).content
    files["tall"] = paper(words, size=(200, 3000))
    for name, content in files.items():
        (folder / f"{name}.pdf").write_bytes(content)
    return list(folder.glob("*.pdf"))


def test_every_file_of_the_corpus(tmp_path: Path) -> None:
    for program, package in (
        ("pdfsig", "poppler-utils"),
        ("pdftoppm", "poppler-utils"),
        ("qpdf", "qpdf"),
        ("certutil", "libnss3-tools"),
    ):
        independent.need(program, package)
    corpus = os.environ.get("PARAPH_CORPUS")
    (tmp_path / "files").mkdir()
    files = list(Path(corpus).rglob("*.pdf")) if corpus else own_files(tmp_path / "files")
    (tmp_path / "court").mkdir()
    verdicts = judge_all(files, tmp_path / "court")
    assert len(verdicts) == len(files)
    faults = [verdict for verdict in verdicts if verdict.outcome not in {"sealed", "refused"}]
    assert faults == []
    refused = [verdict for verdict in verdicts if verdict.outcome == "refused"]
    assert len(refused) <= (_REFUSED_AT_MOST * len(files) if corpus else 0), refused


def test_a_crash_and_a_rendering_fault_are_noticed(tmp_path: Path) -> None:
    """The judge itself: a worker that dies costs one file, and a page that changed is seen."""
    pdf = paper(text("Before", 100, 300))
    other = paper(text("Afterwards", 100, 300))
    sizes = [(595.0, 842.0)]
    result = sealed(other, appearances=pictures(), marks=[placed_mark(sizes[0])])
    assert all(list(differences(pdf, result.content, sizes, [renderer])) for renderer in (Pdfium(), Poppler()))
    verdicts = judge_all([tmp_path / "missing.pdf", _written(tmp_path / "fine.pdf", pdf)], _made(tmp_path / "court"))
    assert [(verdict.name, verdict.outcome) for verdict in verdicts] == [
        ("fine.pdf", "sealed"),
        ("missing.pdf", "crashed"),
    ]


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
