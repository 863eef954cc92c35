"""The processes that read untrusted files: limits, replacement, many threads, no orphans."""

import contextlib
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from paraph.pdf.refusal import PdfRefused, ReadersUnavailable
from paraph.pdf.untrusted.sandbox import Sandbox, SandboxLimits, Workers
from tests.pdf import hostile
from tests.pdf.pdf_factory import paper, text
from tests.pdf.processes import alive, children, eventually, processor_time, stopped, worker_of

PDF = paper(text("{{sign1}}", 100, 300))
SLOW = hostile.nested_forms()
PICTURE: dict[str, Any] = {"page_number": 1, "scale": 1, "form": "png"}
SHORT = SandboxLimits(memory=512 << 20, processor_seconds=2, wall_seconds=8)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """Yield a pool that works again after each test that ends its process."""
    with contextlib.closing(Sandbox(1, SHORT)) as pool:
        yield pool


Pools = Callable[..., Sandbox]


@pytest.fixture
def pools() -> Iterator[Pools]:
    """Yield a function that makes pools, which end with the test."""
    with contextlib.ExitStack() as made:
        yield lambda *arguments: made.enter_context(contextlib.closing(Sandbox(*arguments)))


def works(pool: Sandbox) -> bool:
    return "{{sign1}}" in pool.call("find", PDF, tags=["{{sign1}}"])[0]["found"]


def test_a_process_is_replaced_after_its_jobs(pools: Pools) -> None:
    pool = pools(1, SandboxLimits(jobs=3))
    worker = worker_of(pool)
    assert works(pool)
    assert works(pool)
    assert not alive(worker)
    assert works(pool)


def test_who_spoils_a_process_waits_for_the_start_of_the_next_and_nobody_else_does() -> None:
    workers = Workers(2, SandboxLimits(), "worker")

    def spoil(tenant_key: str) -> None:
        with workers.one(tenant_key) as worker:
            worker.end()

    with workers.one("other"), workers.one("other") as kept:
        pass
    for _ in range(2):  # as many as there are processes
        spoil("hog")
        with workers.one("other") as warm:
            assert warm is kept
    with workers.one("hog") as cold, workers.one("other") as warm:
        assert warm is kept and cold is not kept
    workers.close()


def send(process: int, sign: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):  # the signal before it has ended the process
        os.kill(process, sign)


def lost(pool: Sandbox, end: signal.Signals) -> None:
    """Send the worker the signal ``end`` in the middle of a job."""
    worker = stopped(pool)

    def send_both() -> None:
        for sign in (end, signal.SIGCONT):  # in this order, however busy the machine is
            send(worker, sign)

    timer = threading.Timer(0.2, send_both)
    timer.start()
    try:
        works(pool)
    finally:
        timer.join()


_BY_ITSELF = (signal.SIGSEGV, signal.SIGXCPU, signal.SIGABRT)
_MORE = [pytest.param(end, marks=pytest.mark.thorough) for end in (signal.SIGTERM, *_BY_ITSELF[1:])]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV, *_MORE])
def test_a_process_that_is_killed_is_no_fault_of_the_file_and_one_that_crashes_is(
    sandbox: Sandbox, end: signal.Signals
) -> None:
    with pytest.raises(PdfRefused if end in _BY_ITSELF else ReadersUnavailable) as caught:
        lost(sandbox, end)
    told = caught.value.reason if isinstance(caught.value, PdfRefused) else caught.value.code
    assert told == ("too_complex" if end in _BY_ITSELF else "unavailable")
    assert works(sandbox)


def test_a_process_that_died_between_jobs_costs_nothing(sandbox: Sandbox) -> None:
    worker = worker_of(sandbox)
    os.kill(worker, signal.SIGKILL)
    assert eventually(lambda: not alive(worker))
    assert works(sandbox)


def test_a_process_that_hangs_is_given_up(pools: Pools) -> None:
    pool = pools(1, SandboxLimits(wall_seconds=0.5))
    worker = stopped(pool)
    started = time.monotonic()
    with pytest.raises(ReadersUnavailable):  # it stood still, so the file is not at fault
        works(pool)
    assert time.monotonic() - started < 20
    assert not alive(worker)
    assert works(pool)


@pytest.mark.thorough
def test_a_file_that_is_busy_until_the_end_of_its_time_is_at_fault(pools: Pools) -> None:
    """The process has used most of its processor time when the machine stops giving it any."""
    pool = pools(1, SandboxLimits(memory=8 << 30, processor_seconds=2, wall_seconds=6))
    worker = worker_of(pool)
    enough = processor_time(worker) + 1.2

    def stop() -> None:
        assert eventually(lambda: processor_time(worker) >= enough)
        os.kill(worker, signal.SIGSTOP)

    stopping = threading.Thread(target=stop)
    stopping.start()
    with pytest.raises(PdfRefused) as caught:
        pool.call("render", hostile.nested_forms(6), page_number=1, scale=1, form="png")
    stopping.join()
    assert caught.value.reason == "too_complex"
    assert works(pool)


def test_what_earlier_jobs_used_is_not_held_against_the_next(pools: Pools) -> None:
    pool = pools(1, SandboxLimits(processor_seconds=1, wall_seconds=1.0, jobs=1_000_000))
    worker = worker_of(pool)
    while processor_time(worker) < 1:
        works(pool)
    os.kill(worker, signal.SIGSTOP)
    with pytest.raises(ReadersUnavailable):
        works(pool)


def test_a_process_that_cannot_be_started_is_no_fault_of_the_file(
    monkeypatch: pytest.MonkeyPatch, pools: Pools
) -> None:
    pool, before = pools(1), children()
    for python in ("/nowhere/python", "/bin/false"):
        with monkeypatch.context() as patched:
            patched.setattr(sys, "executable", python)
            with pytest.raises(ReadersUnavailable):
                works(pool)
    assert eventually(lambda: not any(map(alive, children() - before)))
    assert works(pool)


@pytest.mark.thorough
def test_processor_time_is_limited_per_job(pools: Pools) -> None:
    pool = pools(1, SandboxLimits(memory=8 << 30, processor_seconds=1, wall_seconds=120))
    started = time.monotonic()
    with pytest.raises(PdfRefused):
        pool.call("render", hostile.nested_forms(6), page_number=1, scale=1, form="png")
    assert time.monotonic() - started < 100  # it was not the limit of ``wall_seconds``
    assert works(pool)


def test_a_worker_outlives_the_thread_that_needed_it_first(pools: Pools) -> None:
    pool, found = pools(1), list[int]()
    thread = threading.Thread(target=lambda: found.append(worker_of(pool)))
    thread.start()
    thread.join()
    time.sleep(0.1)
    assert alive(found[0])
    assert works(pool)


def test_many_threads_share_few_processes(pools: Pools) -> None:
    pool = pools(2)
    pdfs = [paper(text(f"{{{{mine{number}}}}}", 100, 300)) for number in range(8)]

    def search(number: int) -> list[str]:
        tags = [f"{{{{mine{other}}}}}" for other in range(8)]
        return list(pool.call("find", pdfs[number % 8], tags=tags)[0]["found"])

    before = len(children())
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(search, range(32)))
    assert results == [[f"{{{{mine{number % 8}}}}}"] for number in range(32)]
    assert len(children()) <= before + 2


def test_one_party_never_has_all_processes(monkeypatch: pytest.MonkeyPatch, pools: Pools) -> None:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 60)  # a process may take long to start
    pool, asked, go_on = pools(2), list[int](), threading.Event()
    with ThreadPoolExecutor(4) as threads:
        slow = [threads.submit(pool.call, "find", once(go_on, asked), tenant_key="a", tags=[]) for _ in range(4)]
        assert eventually(lambda: bool(asked))
        assert "{{sign1}}" in pool.call("find", PDF, tenant_key="b", tags=["{{sign1}}"])[0]["found"]
        assert len(asked) == 1
        go_on.set()
        assert [each.result()[0] for each in slow] == [{"found": {}}] * 4


def test_nobody_waits_long_for_a_process(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> None:
    monkeypatch.setattr("paraph.kernel.places.PATIENCE_SECONDS", 0.2)
    asked, go_on = list[int](), threading.Event()
    with ThreadPoolExecutor(1) as threads:
        slow = threads.submit(sandbox.call, "find", once(go_on, asked), tags=[])
        assert eventually(lambda: bool(asked))
        with pytest.raises(ReadersUnavailable):
            works(sandbox)
        go_on.set()
        assert slow.result()
    assert works(sandbox)


def once(go_on: threading.Event, asked: list[int]) -> Callable[[], bytes]:
    """Return a function that awaits ``go_on`` and returns the file. Each call, counted in ``asked``, has a process."""

    def content() -> bytes:
        asked.append(1)
        go_on.wait(60)
        return PDF

    return content


@pytest.mark.thorough
def test_what_was_too_complex_is_refused_at_once(sandbox: Sandbox) -> None:
    asked: list[bytes] = []

    def content() -> bytes:
        asked.append(SLOW)
        return SLOW

    def draw(tenant_key: str = "a", page: int = 1) -> str:
        with pytest.raises(PdfRefused) as caught:
            sandbox.call("render", content, tenant_key=tenant_key, sha256=b"slow", **{**PICTURE, "page_number": page})
        return caught.value.reason

    assert [draw() for _ in range(5)] == ["too_complex"] * 5
    assert len(asked) == 1
    assert draw(tenant_key="b") == "too_complex"
    assert len(asked) == 2  # nobody learns what others have
    assert [draw(page=2) for _ in range(2)] == ["no_such_page"] * 2
    assert len(asked) == 4  # what is refused for another reason is looked at again


def test_a_kept_answer_is_found_again_by_the_same_tenant_and_question(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox
) -> None:
    asked, go_on = list[int](), threading.Event()
    go_on.set()

    def search(tag: str = "{{sign1}}", tenant_key: str = "a", sha256: bytes = b"sound") -> list[str]:
        call = partial(sandbox.call, "find", once(go_on, asked), keep=True)
        return list(call(tenant_key=tenant_key, sha256=sha256, tags=[tag])[0]["found"])

    assert [search() for _ in range(5)] == [["{{sign1}}"]] * 5
    assert len(asked) == 1
    assert search("nowhere") == []
    assert search(tenant_key="b") == search(sha256=b"other") == ["{{sign1}}"]
    assert len(asked) == 4
    monkeypatch.setattr("paraph.pdf.untrusted.sandbox_answers._KEPT_SECONDS", 0)
    assert search() == ["{{sign1}}"]
    assert len(asked) == 5


def test_several_who_ask_the_same_are_answered_at_once(sandbox: Sandbox) -> None:
    asked, go_on = list[int](), threading.Event()

    def search(_: int) -> list[str]:
        content = once(go_on, asked)
        return list(sandbox.call("find", content, sha256=b"shared", tags=["{{sign1}}"])[0]["found"])

    with ThreadPoolExecutor(8) as threads:
        found = threads.map(search, range(8))
        assert eventually(lambda: bool(asked))
        time.sleep(0.3)
        go_on.set()
        assert list(found) == [["{{sign1}}"]] * 8
    assert len(asked) < 8


def test_the_parent_keeps_nothing_of_what_it_passes_on(sandbox: Sandbox) -> None:
    large = PDF + b"\n%" + b"x" * (8 << 20)
    works(sandbox)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(20):
        sandbox.call("find", large, tags=[])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10  # KiB


def test_closing_ends_the_processes() -> None:
    pool = Sandbox(2)
    worker = worker_of(pool)
    pool.close()
    assert not alive(worker)


def test_the_processes_know_no_secret_of_the_service(monkeypatch: pytest.MonkeyPatch, pools: Pools) -> None:
    monkeypatch.setenv("PARAPH_SECRET_KEY", "not for readers")
    pool = pools(1)
    before = children()
    pool.warm()
    (worker,) = children() - before
    environment = Path(f"/proc/{worker}/environ").read_bytes()  # not yet confined: afterwards only root may read this
    assert b"PARAPH" not in environment
    assert b"not for readers" not in environment


_SERVICE = """
import sys, time
from pathlib import Path
from paraph.pdf.untrusted.page_reading import find_tags
find_tags(Path(sys.argv[1]).read_bytes(), ["a"])
print(*(path.read_text() for path in Path("/proc/self/task").glob("*/children")), flush=True)
if sys.argv[2] == "wait":
    time.sleep(60)
"""


@pytest.mark.parametrize("end", ["kill", "leave"])
def test_no_process_is_left_when_the_service_ends(end: str, tmp_path: Path) -> None:
    file = tmp_path / "a.pdf"
    file.write_bytes(PDF)
    command = [sys.executable, "-c", _SERVICE, str(file), "wait" if end == "kill" else "go"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as service:
        assert service.stdout
        assert service.stderr
        workers = [int(process) for process in service.stdout.readline().split()]
        assert workers
        if end == "kill":
            service.kill()
        assert service.wait(20) == (-signal.SIGKILL if end == "kill" else 0)
        assert service.stderr.read() == ""
    assert eventually(lambda: not any(alive(worker) for worker in workers))


def test_a_forked_process_has_a_pool_of_its_own(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from paraph.pdf.untrusted.page_reading import find_tags
pdf = Path(sys.argv[1]).read_bytes()
assert find_tags(pdf, ["{{sign1}}"])
child = os.fork()
assert find_tags(pdf, ["{{sign1}}"])
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert find_tags(pdf, ["{{sign1}}"])
"""
    file = tmp_path / "a.pdf"
    file.write_bytes(PDF)
    command = [sys.executable, "-W", "error", "-c", script, str(file)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (0, "")
