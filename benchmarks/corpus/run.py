"""All files of a folder, in worker processes that may crash and hang."""

import multiprocessing
import resource
import threading
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue

from benchmarks.corpus.court import Court
from benchmarks.corpus.judge import Verdict, judge

_SECONDS = 240.0  # for one file; the slowest honest one takes a few, and programs of others have limits of their own
_MEMORY = 6 << 30  # bytes of address space of a worker
_File = tuple[Path, str]  # and its name


def judge_all(
    paths: Sequence[Path], folder: Path, *, base: Path | None = None, processes: int = 2, keep: Path | None = None
) -> list[Verdict]:
    """One verdict for each file, in the order of their names, which are paths within ``base`` where there is one.
    ``folder`` takes keys and temporary files."""
    Court(folder)  # made once, before several processes look for it
    waiting: SimpleQueue[_File] = SimpleQueue()
    for path in sorted(paths):
        waiting.put((path, str(path.relative_to(base)) if base else path.name))
    verdicts: list[Verdict] = []
    threads = [threading.Thread(target=_drive, args=(waiting, verdicts, folder, keep)) for _ in range(processes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(verdicts, key=lambda verdict: verdict.name)


def _drive(waiting: "SimpleQueue[_File]", verdicts: list[Verdict], folder: Path, keep: Path | None) -> None:
    """Feeds one worker process, and replaces it when it dies or hangs."""
    worker = _Worker(folder, keep)
    try:
        while True:
            try:
                file = waiting.get_nowait()
            except Empty:
                return
            verdict = worker.judge(file)
            verdicts.append(verdict)
            if verdict.outcome in {"crashed", "hung"}:
                worker.end()
                worker = _Worker(folder, keep)
    finally:
        worker.end()


class _Worker:
    def __init__(self, folder: Path, keep: Path | None) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, theirs = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(theirs, folder, keep), daemon=False)
        self._process.start()
        theirs.close()
        self._pipe.recv()  # ready

    def judge(self, file: "_File") -> Verdict:
        self._pipe.send(file)
        try:
            if not self._pipe.poll(_SECONDS):
                return Verdict(file[1], "hung", f"no result after {_SECONDS:.0f} s")
            verdict: Verdict = self._pipe.recv()
            return verdict
        except (EOFError, ConnectionError):
            self._process.join()
            return Verdict(file[1], "crashed", f"the process ended with {self._process.exitcode}")

    def end(self) -> None:
        self._pipe.close()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _serve(pipe: Connection, folder: Path, keep: Path | None) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    court = Court(folder)
    pipe.send("ready")
    while True:
        try:
            path, name = pipe.recv()
        except EOFError:
            return
        try:
            verdict = judge(path, name, court, keep)
        except Exception as error:  # noqa: BLE001 (what escapes the boundary is the finding)
            verdict = Verdict(name, "crashed", repr(error))
        pipe.send(verdict)
