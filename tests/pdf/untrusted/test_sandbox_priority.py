"""What is read for a party that has had its share is read when the processors have nothing else to do."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from paraph.pdf.refusal import PdfRefused, ReadersUnavailable
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits
from paraph.pdf.untrusted.sandbox_process import SandboxPriority, SandboxProcess, processor_seconds
from tests.pdf import hostile
from tests.pdf.pdf_factory import paper, text
from tests.pdf.processes import alive, children, eventually, processor_time

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(sys.platform != "linux", reason="priorities are looked at as Linux tells them"),
]

PDF = paper(text("a", 100, 300))
SLOW = hostile.nested_forms()


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setattr("paraph.kernel.fair_semaphore.MUCH", 0.2)
    made = Sandbox(2, SandboxLimits(memory=8 << 30, processor_seconds=2, wall_seconds=60), yielding=True)
    yield made
    made.close()


def reads(pool: Sandbox, tenant_key: str) -> None:
    pool.call("find", PDF, tenant_key=tenant_key, tags=[])


def reads_slowly(pool: Sandbox, tenant_key: str) -> None:
    with pytest.raises((PdfRefused, ReadersUnavailable)):
        pool.call("render", SLOW, tenant_key=tenant_key, page_number=1, scale=1, form="png")


def last(processes: set[int]) -> set[int]:
    """Those of them that run when there is nothing else to do."""
    found = set()
    for process in processes:
        if alive(process) and os.sched_getscheduler(process) == os.SCHED_IDLE:
            found.add(process)
    return found


def test_a_slow_file_comes_after_those_of_others_while_it_is_read(pool: Sandbox) -> None:
    before = children()
    reads(pool, "other")
    slow = threading.Thread(target=reads_slowly, args=(pool, "hog"))
    slow.start()
    assert eventually(lambda: bool(last(children() - before)), seconds=60)
    reads(pool, "other")
    assert eventually(lambda: len(children() - before - last(children() - before)) >= 1, seconds=60)
    assert slow.is_alive()  # another process is there before this one has ended
    slow.join()


def test_the_next_one_of_the_same_party_comes_last_from_its_beginning(pool: Sandbox, little: None) -> None:
    before = children()
    reads(pool, "other")
    reads_slowly(pool, "hog")
    reads(pool, "other")
    reads(pool, "hog")
    behind = last(children() - before)
    assert len(behind) == 1
    [process] = behind
    for _ in range(3):
        used = processor_time(process), processor_seconds(process)
        reads(pool, "hog")
        reads(pool, "other")
        assert last(children() - before) == {process}
        assert processor_seconds(process) >= used[1]
    assert len(children() - before) == 2


def test_alone_a_slow_file_is_read_as_any_other(pool: Sandbox, little: None) -> None:
    before = children()
    reads_slowly(pool, "hog")
    reads(pool, "hog")
    assert not last(children() - before)


def test_commands_and_workers_read_for_everybody_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.0)
    pool, before = Sandbox(2), children()
    reads(pool, "other")
    reads(pool, "hog")
    assert not last(children() - before)
    pool.close()


def test_a_process_that_has_gone_has_no_priority_and_used_nothing() -> None:
    nobody = 2**22 + 1  # more than any process has
    SandboxPriority(nobody).come_last()
    assert processor_seconds(nobody) == 0


def test_where_a_process_comes_last_its_session_does() -> None:
    before, mine = children(), part_of(os.getpid())
    reader = SandboxProcess(SandboxLimits())
    [process] = children() - before
    assert os.getsid(process) == process
    theirs = part_of(process)
    reader.confinement()  # from then on its files in /proc are out of reach for accounts other than root
    reader.come_last()
    assert os.sched_getscheduler(process) == os.SCHED_IDLE
    if mine and theirs:
        assert theirs[0] != mine[0]
        assert (theirs[1], part_of(process)) == (0, (theirs[0], 19))
    reader.end()
    assert part_of(os.getpid()) == mine


def part_of(process: int) -> tuple[str, int] | None:
    """The session's name and its niceness; ``None`` where the kernel deals processors out by control group or by
    priority alone, as in many containers."""
    told = Path(f"/proc/{process}/autogroup")
    if not told.exists() or not (words := told.read_text().split()):
        return None
    name, _, niceness = words
    return name, int(niceness)


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has read one slow file has used more than that."""
    monkeypatch.setattr("paraph.kernel.fair_semaphore.LITTLE", 0.5)
