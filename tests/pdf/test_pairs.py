"""Odd files of every class: refused with a sentence, or sealed so that every viewer shows what the signer saw
with the stamp on it, and verification finds nothing wrong."""

from random import Random

import pytest

from benchmarks.corpus.court import pictures
from benchmarks.corpus.rendering import placed_mark
from paraph.pdf.untrusted.inspect import inspect
from tests import independent
from tests.pdf.odd_files import CLASSES, odd_file, odd_files
from tests.pdf.odd_files.papers import paper
from tests.pdf.pairs import Looks, PairDiffersError, check_looks, check_pair, check_promises
from tests.pdf.sealed_files import sealed

_TURNS = {
    "copies: contents in two generations": (3, 4),
    "copies: page in two generations": (3, 7),
    "encrypted: RC4 of 40 bits": (4, 7),
    "encrypted: RC4 of 128 bits": (0, 3),
    "encrypted: AES of 256 bits, R6": (0, 3),
    "encrypted: metadata in the clear, R6": (4, 5),
    "encrypted: no owner password": (2, 3),
    "contents: undecodable": (2, 7),
    "structure: page listed twice": (1, 0),
    "structure: wrong /Count": (2, 7),
    "structure: odd page tree": (2, 3),
    "signed: field without a signature": (2, 3),
}
"""Of each class, one file is tried with a watermark and one without; these turns show the class at its worst."""

_WITH_WATERMARK = {name.partition(":")[0]: name for name in reversed(CLASSES)}.values()
"""The first class of each kind; with a watermark, the others are marked thorough."""

_REFUSED = {
    "encrypted: password needed": "refused: password",
    "encrypted: password needed, R6": "refused: password",
    "signed: no attributes": "refused: signature_does_not_hold",
    **{f"signed: certified, P={level}": "refused: changes_forbidden" for level in (1, 2, 3)},
}
_MAY_BE_REFUSED = {
    name for name in CLASSES if name.startswith(("tail: ", "copies: ", "structure: ", "contents: ", "spelling: "))
} | {
    "contents: missing",
    "contents: undecodable",
    "signed: broken",
    "encrypted: for certificates",
    "encrypted: nothing at all",
    "encrypted: streams alone",
    "encrypted: strings alone",
    *(f"signed: certified, P={level}, no /Perms" for level in (1, 2, 3)),
}
_WRONG_SENTENCE = {"encrypted: for certificates": "refused: unreadable"}


@pytest.mark.parametrize("name", CLASSES)
def test_what_was_shown_is_what_is_sealed(name: str) -> None:
    _look_at(name, sandbox=False)


@pytest.mark.parametrize(
    "name", [name if name in _WITH_WATERMARK else pytest.param(name, marks=pytest.mark.thorough) for name in CLASSES]
)
def test_what_was_shown_is_what_is_sealed_below_a_watermark(name: str) -> None:
    _look_at(name, sandbox=True)


def _look_at(name: str, *, sandbox: bool) -> None:
    independent.need("pdftoppm", "poppler-utils")
    turn = _TURNS.get(name, (0, 1))[0 if sandbox else 1]
    try:
        outcome = check_pair(odd_file(name, 1, turn), sandbox=sandbox, told=True)
    except PairDiffersError as error:
        pytest.fail(f"file {turn} of the class “{name}”: {error}")
    if name in _REFUSED:
        assert outcome == _REFUSED[name]
    elif name not in _MAY_BE_REFUSED:
        assert outcome.startswith("sealed: "), outcome
    assert outcome != _WRONG_SENTENCE.get(name)


def test_another_copy_is_noticed() -> None:
    """The check itself notices it: by the pixels of each renderer, and by the colours of the promises."""
    shown, other = (bytes(paper(Random(1), [which]).close()) for which in (0, 1))
    looks = Looks(inspect(shown, page_limit=1).pages)
    result = sealed(other, appearances=pictures(), marks=[placed_mark(looks.sizes[0])])
    with pytest.raises(PairDiffersError, match=r"PDFium, page 1: changed .*poppler, page 1: changed "):
        check_looks(shown, result.content, looks, "none")
    with pytest.raises(PairDiffersError, match=r"the signer saw promises \[0\], a reader sees \[1\]"):
        check_promises(shown, result.content, looks)


def test_a_mark_that_is_not_there_is_noticed() -> None:
    shown = bytes(paper(Random(1), [0]).close())
    looks = Looks(inspect(shown, page_limit=1).pages)
    with pytest.raises(PairDiffersError, match=r"PDFium, page 1: .* belongs; poppler, page 1: .* belongs"):
        check_looks(shown, sealed(shown).content, looks, "none")


def test_a_seed_always_makes_the_same_files_of_every_class() -> None:
    count = 2 * len(CLASSES)
    made = list(odd_files(count, 7))
    assert made == list(odd_files(count, 7)) != list(odd_files(count, 8))
    assert {[name for name, _ in made].count(each) for each in CLASSES} == {2}
    for name in CLASSES:
        assert len({odd_file(name, 1, turn) for turn in range(12)}) > 5, name
