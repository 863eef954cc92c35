"""A sealed file stays valid, and looks as before, after every addition that is allowed."""

import os
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

import pikepdf
import pytest

from benchmarks.corpus.rendering import placed_mark
from lab.fuzz.altered.authorities import authority
from lab.fuzz.altered.genuine import GENUINE, genuine, resealed
from lab.fuzz.altered.judge import picture_changed
from lab.fuzz.altered.legitimate import ADDITIONS, FILES, additions, stamped_by_pyhanko
from paraph.kernel.errors import DomainError
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.verification.verify import verify
from tests import independent
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import pictures
from tests.pdf.test_corpus import own_files

_SHOWS = "visible"
_BY_PYHANKO = ("has another /NeedAppearances", "has another /PieceInfo", "cannot be read strictly as an update")
"""Findings on what pyHanko changes in a few files besides adding its timestamp: how viewers draw fields, an
application's private data, the kind of the cross-reference."""


def _assert_valid(content: bytes) -> None:
    found = verify(content, [authority().root])
    assert found.ok, [*found.findings, *found.changes]


@pytest.mark.parametrize("name", GENUINE)
def test_a_genuine_file(name: str) -> None:
    _assert_valid(genuine(name))


def test_a_file_within_the_file_refers_to_objects_of_its_own() -> None:
    """The inner file is not compressed, so that its references stand in the bytes of the outer one."""

    def attach(document: pikepdf.Pdf) -> None:
        document.Root.Attached = document.make_stream(genuine("form B-LTA") + b"\n[1 0 R 2 0 R 3 0 R]\n")

    sealed = resealed(paper(text("A letter", 100, 700), prepare=attach, compress_streams=False), "B-LTA")
    assert b"/Root 1 0 R" in genuine("form B-LTA") and genuine("form B-LTA") in sealed
    _assert_valid(sealed)
    _assert_valid(stamped_by_pyhanko(sealed))


@pytest.mark.parametrize(("how", "name"), list(zip(ADDITIONS, cycle(FILES))))
def test_an_addition(how: str, name: str) -> None:
    _assert_valid(ADDITIONS[how](genuine(name)))


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "make"), list(additions()), ids=lambda given: given if isinstance(given, str) else "")
def test_every_addition(name: str, make: Callable[[], bytes]) -> None:
    independent.need("pdftoppm", "poppler-utils")
    content = make()
    _assert_valid(content)
    if _SHOWS not in name:
        base = next(each for each in sorted(GENUINE, key=len, reverse=True) if each in name)
        assert not picture_changed(genuine(base), content)


@pytest.mark.thorough
def test_every_file_of_the_corpus_with_every_addition_of_a_timestamp(tmp_path: Path) -> None:
    corpus = os.environ.get("PARAPH_CORPUS")
    files = sorted(Path(corpus).rglob("*.pdf")) if corpus else own_files(tmp_path)
    faults, sealed, changed = list[str](), 0, 0
    for path in files:
        found = _of_corpus(path.read_bytes())
        sealed += found is not None
        told = [f"{path.name}: {each}" for each in found or []]
        more = [each for each in told if ": stamped: " in each and any(reason in each for reason in _BY_PYHANKO)]
        changed += bool(more)
        faults += [each for each in told if each not in more]
    assert faults == []
    assert changed <= 0.04 * len(files)
    assert sealed >= 0.9 * len(files)


def _of_corpus(pdf: bytes) -> list[str] | None:
    """Return the findings on the sealed file and on each allowed addition, or ``None`` where it cannot be sealed."""
    first = {level: content for level in ("B-T", "B-LTA") if (content := sealed_of_corpus(pdf, level))}
    if not first:
        return None
    made = {f"sealed, {level}": content for level, content in first.items()}
    made["white space"] = first["B-LTA"] + b"\r\n"
    made["sealed again"] = resealed(first["B-LTA"], "B-LTA")
    if b"/Encrypt" not in first["B-LTA"]:
        made["stamped"] = _stamped(first["B-LTA"])
    return [
        f"{name}: {' '.join(found.findings)}"
        for name, content in made.items()
        if content and not (found := verify(content, [authority().root])).ok
    ]


def sealed_of_corpus(pdf: bytes, level: str = "B-LTA") -> bytes | None:
    """Return the sealed file, or ``None`` where the service refuses it."""
    try:
        inspection = inspect(pdf, page_limit=5000)
        shown = getattr(inspection, "prepared", None) or pdf
        return resealed(shown, level, appearances=pictures(), marks=[placed_mark(inspection.pages[0])])
    except (PdfRefused, DomainError):
        return None


def _stamped(content: bytes) -> bytes:
    """Return the file with a timestamp by pyHanko, or nothing where pyHanko cannot read it."""
    try:
        return stamped_by_pyhanko(content)
    except Exception:  # noqa: BLE001 (whatever pyHanko raises)
        return b""
