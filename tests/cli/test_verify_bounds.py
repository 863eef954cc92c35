"""`paraph verify` on files made to exhaust it: 512 MB and 10 seconds in all, a sentence, and status 1."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from paraph.kernel import clock
from tests.cli.measured import measured
from tests.pdf import hostile, hostile_proofs
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import root_file, sealed

pytestmark = pytest.mark.thorough

MEMORY, SECONDS = 512 << 20, 10.0
TOO_MUCH = "needs more than 512 MB or 10 seconds to be read"
UNREADABLE = "The evidence of {} cannot be read: "

HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "evidence deflated twice": (lambda: hostile_proofs.deflated(2), UNREADABLE + "it is packed otherwise"),
    "evidence deflated three times": (lambda: hostile_proofs.deflated(3), UNREADABLE + "it is packed otherwise"),
    "evidence of gigabytes": (lambda: hostile_proofs.deflated(1), UNREADABLE + "it is longer than 16 MB"),
    "evidence of millions of values": (hostile_proofs.many_values, UNREADABLE + "it is longer than 16 MB"),
    "evidence of many values": (lambda: hostile_proofs.many_values(2_000_000), UNREADABLE + "it has too many values"),
    "evidence nested deeply": (hostile_proofs.nested, UNREADABLE + "its values are nested too deeply"),
    "a costly journal": (hostile_proofs.costly_journal, "NOT OK: "),
    "pages of one text": (hostile_proofs.pages_of_one_text, TOO_MUCH),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_proofs_are_refused_within_the_bounds(kind: str, tmp_path: Path) -> None:
    make, sentence = HOSTILE[kind]
    proof, other = tmp_path / "proof.pdf", tmp_path / "signed.pdf"
    proof.write_bytes(make())
    other.write_bytes(paper(text("A contract", 100, 700)))
    found = measured("verify", proof, other, "--root", root_file(tmp_path))
    assert found.status == 1 and not found.errors, found
    assert sentence.format(proof) in found.output, found
    assert found.peak < MEMORY and found.processor < SECONDS, found


@pytest.mark.parametrize("make", [hostile.packed_objects, hostile.long_array, hostile.deep_arrays])
def test_hostile_files_are_not_valid_within_the_bounds(make: Callable[[], bytes], tmp_path: Path) -> None:
    file = tmp_path / "signed.pdf"
    file.write_bytes(make())
    found = measured("verify", file, "--root", root_file(tmp_path))
    assert found.status == 1 and ": cannot be told: " in found.output and not found.errors, found
    assert found.peak < MEMORY and found.processor < SECONDS, found


def test_a_file_of_gigabytes_is_not_valid_within_the_bounds(tmp_path: Path) -> None:
    file = tmp_path / "signed.pdf"
    with file.open("wb") as sparse:
        sparse.truncate(3 << 30)
    found = measured("verify", file, "--root", root_file(tmp_path))
    assert found.status == 1 and TOO_MUCH in found.output and not found.errors, found
    assert found.peak < MEMORY and found.processor < SECONDS, found


def test_a_pipe_is_read_once_and_judged_as_a_file(tmp_path: Path) -> None:
    content, pipe = sealed(paper(text("A contract", 100, 700)), at=clock.now()).content, tmp_path / "pipe"
    for extra, status in ((b"", 0), (b"x", 1)):
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(pipe.write_bytes, content + extra)
            assert measured("verify", pipe, "--root", root_file(tmp_path)).status == status
            writing.result()
        pipe.unlink()
