"""Real files: every PDF of the folder ``PARAPH_CORPUS``, else those that these tests make themselves.

No file causes a crash, hangs, is sealed with a fault that others find, or looks different except for the marks.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.corpus import programs
from benchmarks.corpus.__main__ import table
from benchmarks.corpus.court import Court
from benchmarks.corpus.judge import judge
from benchmarks.corpus.renderers import Pdfium, Poppler, Renderer
from benchmarks.corpus.rendering import differences, placed_mark
from benchmarks.corpus.run import judge_all
from tests import independent
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import pictures, sealed
from tests.pdf.sealing.test_structures import DAMAGED, STRUCTURES

_REFUSED_AT_MOST = 0.1  # of a corpus that is made of odd files, those that need a password included


def own_files(folder: Path) -> list[Path]:
    """One of each structure, and some pages that are odd to draw on."""
    files = {**{name: make() for name, make in STRUCTURES.items()}, **{name: make() for name, make in DAMAGED.items()}}
    words = text("Some words", 100, 300)
    for rotate in (90, 180, 270):
        files[f"rotated {rotate}"] = paper(words, page={"/Rotate": rotate, "/CropBox": [50, 50, 500, 700]})
    files["unbalanced"] = paper("Q Q " + words + "q 2 0 0 2 0 0 cm", "q q " + words)
    files["signed before"] = sealed(paper(words, words)).content
    files["tall"] = paper(words, size=(200, 3000))
    for name, content in files.items():
        (folder / f"{name}.pdf").write_bytes(content)
    return list(folder.glob("*.pdf"))


@pytest.mark.thorough
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


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_files_of_one_name_are_kept_apart(tmp_path: Path) -> None:
    pdf, kept = paper(text("Words", 100, 300)), tmp_path / "kept"
    files = [_written(tmp_path / "files" / name / "same.pdf", pdf) for name in ("one", "two/three")]
    verdicts = judge_all(files, _made(tmp_path / "court"), base=tmp_path / "files", keep=kept)
    assert [verdict.name for verdict in verdicts] == ["one/same.pdf", "two/three/same.pdf"]
    assert sorted(str(path.relative_to(kept)) for path in kept.rglob("*.pdf")) == [each.name for each in verdicts]


@pytest.mark.thorough
def test_a_program_that_hangs_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hang is neither a success nor a fault, and what the other programs find is still told."""
    court = Court(_made(tmp_path / "court"))
    _written(tmp_path / "bin" / "qpdf", b"#!/bin/sh\nexec sleep 60\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setattr(programs, "SECONDS", 4)
    verdict = judge(_written(tmp_path / "a.pdf", paper(text("Words", 100, 300))), "a.pdf", court)
    assert (verdict.outcome, verdict.detail) == ("no answer", "no answer from qpdf (qpdf) within 4 s")
    assert re.search(r"no answer from another program +1\n", table([verdict], 1))
    assert re.search(r"sealed and valid +0\n", table([verdict], 1))


def test_a_program_that_is_missing_is_named_with_its_package(tmp_path: Path) -> None:
    for name in ("certutil", "qpdf"):
        path = shutil.which(name)
        assert path
        (tmp_path / name).symlink_to(path)
    command = [sys.executable, "-m", "benchmarks.corpus", str(tmp_path)]
    done = subprocess.run(
        command, env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "To judge PDFs, pdfsig, pdftoppm must be installed (Debian and Ubuntu: apt-get install poppler-utils).\n"
    )


@pytest.mark.parametrize("renderer", [Pdfium(), Poppler()], ids=lambda renderer: renderer.name)
def test_each_renderer_looks_at_the_middle_and_the_last_page(renderer: Renderer) -> None:
    sheets = [text(f"Page {number}", 100, 300) for number in range(20)]
    sizes = [(595.0, 842.0)] * 20
    for changed in (10, 19):
        others = [text("Another", 100, 300) if number == changed else sheet for number, sheet in enumerate(sheets)]
        result = sealed(paper(*others), appearances=pictures(), marks=[placed_mark(sizes[0])])
        found = list(differences(paper(*sheets), result.content, sizes, [renderer], overlay="none"))
        assert [line.partition(": changed")[0] for line in found] == [f"{renderer.name}, page {changed + 1}"]


def _written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
