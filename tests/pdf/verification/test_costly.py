"""What is taken and sealed can be verified, however expensive it is to read or to draw."""

import time

import pytest

from paraph.kernel import clock
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.verify import verify
from tests.pdf.costly import KINDS
from tests.pdf.levels import long_term
from tests.pdf.sealed_files import authority, sealed, timestamping

ROOT = authority("p-256").root
REFUSED = ("too_complex", "damaged")  # with a sentence


def is_taken(upload: bytes) -> bool:
    """Whether the file is taken; if so, it is sealed at B-LTA and verifies."""
    try:
        shown = inspect(upload, page_limit=500).prepared or upload
    except PdfRefused as refused:
        assert refused.reason in REFUSED
        return False
    content = sealed(shown, at=clock.now(), timestamping=timestamping(), long_term=long_term()).content
    found = verify(content, [ROOT])
    assert found.ok, found.findings
    return True


@pytest.mark.parametrize("kind", KINDS)
def test_a_little_of_each_is_taken(kind: str) -> None:
    assert is_taken(KINDS[kind](1))


def test_a_page_that_needs_more_memory_than_verifying_has_is_not_taken() -> None:
    """Forms in forms, 1.4 KB long: PDFium keeps each of a million drawings."""
    assert not is_taken(KINDS["forms"](1200))


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_taken_verifies(kind: str) -> None:
    began = time.monotonic()
    for doublings in range(1, 10):
        if not is_taken(KINDS[kind](2**doublings)) or time.monotonic() - began > 15:
            break
