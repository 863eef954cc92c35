"""Files to be sealed are read in separate processes: the seals are the same, and the caller outlives such a process."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from io import BytesIO
from random import Random
from typing import Any

import pikepdf
import pytest

from paraph.pdf.refusal import ReadersUnavailable, SealError
from paraph.pdf.sealing.seal import Mark, Overlay, SealedPdf
from paraph.pdf.untrusted import sandboxed_draft
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits
from paraph.pdf.untrusted.sandboxed_draft import sandboxed_drafts
from tests.pdf import hostile
from tests.pdf.levels import long_term
from tests.pdf.odd_files import structure
from tests.pdf.pdf_factory import paper, saved, text
from tests.pdf.sealed_files import GREEN, RED, WATERMARK, authority, pictures, sealed, timestamping

LETTER = paper(*[text(f"To whom it may concern {number}", 72, 700) for number in range(4)])
MARKS = [Mark(1, 100, 100, 100, 50, RED), Mark(3, 10, 20, 100.5, 50, GREEN)]


@pytest.fixture(scope="module")
def pool() -> Iterator[Sandbox]:
    with closing(Sandbox(1)) as pool:
        yield pool


@pytest.fixture(autouse=True)
def _apart(pool: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandboxed_draft, "sandbox", lambda: pool)


def apart(pdf: bytes, **arguments: Any) -> SealedPdf:
    return sealed(pdf, drafts=sandboxed_drafts, **arguments)


def locked() -> bytes:
    with pikepdf.open(BytesIO(LETTER)) as document:
        return saved(document, encryption=pikepdf.Encryption(owner="o", user=""))


def in_object_streams() -> bytes:
    with pikepdf.open(BytesIO(LETTER)) as document:
        return saved(document, object_stream_mode=pikepdf.ObjectStreamMode.generate)


FILES: dict[str, Callable[[], bytes]] = {
    "plain": lambda: LETTER,
    "in object streams": in_object_streams,
    "encrypted": locked,
    "signed before": lambda: sealed(LETTER).content,
    "wrong offsets": lambda: structure.wrong_offsets(Random(1)),
    "before the header": lambda: b"noise\n" + LETTER,
}


@pytest.mark.parametrize("name", FILES)
def test_the_seal_is_the_same_byte_by_byte(name: str) -> None:
    """The key makes the same signature every time."""
    pdf, key = FILES[name](), authority("rsa-3072").sealing_key
    drawn = {"appearances": pictures(), "marks": MARKS[:1], "page_overlay": Overlay(RED, (WATERMARK,))}
    for _ in range(3):  # the /ID that qpdf writes depends on the second of writing
        here, there = (seal(pdf, key=key, reason="Tést (1)", **drawn) for seal in (sealed, apart))
        if there.content == here.content:
            break
    assert there.content == here.content
    assert (there.method, there.sha256) == (here.method, here.sha256)


def test_marks_of_each_kind_and_the_highest_level() -> None:
    result = apart(
        LETTER, appearances=pictures(), marks=MARKS, timestamping=timestamping(), long_term=long_term(), name="Acme"
    )
    assert result.level == "B-LTA"
    assert result.content.startswith(LETTER)


def test_what_cannot_be_sealed_is_told_in_the_same_words() -> None:
    for pdf, marks in ((hostile.noise(), []), (LETTER, [Mark(9, 0, 0, 10, 10, RED)])):
        told = []
        for seal in (sealed, apart):
            with pytest.raises(SealError) as caught:
                seal(pdf, appearances=pictures(), marks=marks)
            told.append(str(caught.value))
        assert told[0] == told[1]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded as Linux does")
def test_a_file_that_takes_too_much_costs_its_own_seal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than fifty million numbers are in one array of a few KB: each reader in Python takes a gigabyte for it."""
    bomb = hostile.long_array()
    small = Sandbox(1, SandboxLimits(memory=512 << 20, processor_seconds=5, wall_seconds=60))
    monkeypatch.setattr(sandboxed_draft, "sandbox", lambda: small)
    with pytest.raises(SealError, match="takes too much memory or time"):
        apart(bomb)
    assert apart(LETTER).content.startswith(LETTER)
    small.close()


def test_a_hijacked_process_gets_nothing_signed_outside_of_its_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process may say where the hole is; nothing else that it says is believed."""

    class Hijacked:
        def __init__(self, hole: list[int]) -> None:
            self.hole = hole

        def call(self, *_: Any, **__: Any) -> tuple[dict[str, Any], bytes]:
            return {"hole": self.hole, "variant": 0, "known": {}}, b"<" + b"0" * 100 + b">"

    for hole in ([-5, 90], [50, 50], [60, 20], [0, 103]):
        monkeypatch.setattr(sandboxed_draft, "sandbox", lambda hole=hole: Hijacked(hole))
        with pytest.raises(SealError, match="no room"):
            apart(LETTER)


def test_a_busy_machine_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    class Busy:
        def call(self, *_: Any, **__: Any) -> Any:
            raise ReadersUnavailable

    monkeypatch.setattr(sandboxed_draft, "sandbox", Busy)
    with pytest.raises(ReadersUnavailable):
        apart(LETTER)
