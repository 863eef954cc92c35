"""The odd files are what they say: the same for a seed, many of each class, and odd in one way alone."""

from io import BytesIO

import pikepdf
import pytest

from tests.pdf.looks import ShownByService, promises
from tests.pdf.odd_files import CLASSES, odd_file, odd_files

_OPEN = [name for name in CLASSES if name.startswith("encrypted: ") and "password" not in name]
_UNLIKE_OTHERS = {"encrypted: for certificates", "encrypted: attachments alone"}
_NOT_FOR_PDFIUM = {"encrypted: strings alone", "encrypted: streams alone", "encrypted: nothing at all"}


def test_a_seed_always_makes_the_same_files() -> None:
    count = 2 * len(CLASSES)
    assert list(odd_files(count, 7)) == list(odd_files(count, 7))
    assert list(odd_files(count, 7)) != list(odd_files(count, 8))


def test_a_class_has_many_files() -> None:
    for name in CLASSES:
        assert len({odd_file(name, 1, turn) for turn in range(12)}) > 5, name


def test_files_are_spread_evenly_over_the_classes() -> None:
    names = [name for name, _ in odd_files(3 * len(CLASSES))]
    assert {names.count(name) for name in CLASSES} == {3}


@pytest.mark.parametrize("name", [name for name in _OPEN if name not in _UNLIKE_OTHERS])
def test_what_is_encrypted_opens_without_a_password(name: str) -> None:
    """To qpdf, and to PDFium where it knows such files at all."""
    for turn in range(4):
        pdf = odd_file(name, 3, turn)
        with pikepdf.open(BytesIO(pdf), suppress_warnings=True) as document:
            assert document.is_encrypted
            assert b"EUR) Tj" in document.pages[0].Contents.read_bytes()
        if name not in _NOT_FOR_PDFIUM:
            assert promises(ShownByService([(595, 842)]), pdf, [0])[0], name
