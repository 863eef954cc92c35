"""A run of trials in several processes: if one dies or hangs, the file that it was trying is a find."""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus.programs import missing

_PATIENCE_SECONDS = 90  # for one file, beyond the time of the run
_MOST_FINDS = 20

Trial = Callable[[int, int, Path], tuple[str, str]]
"""Takes a seed and a number, writes what it tries to the path, and returns the outcome and why it is a find, or ""."""


def main(name: str, description: str, trial: Trial, suffix: str) -> None:
    """Run trials until the time is up, print the seed, the outcomes and the finds, and exit with 1 if there are finds.
    ``trial``: importable by its name in another process; ``suffix``: of the files that are kept."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--finds", type=Path, help="folder that takes the finds; a temporary one unless it is given")
    given = parser.parse_args()
    if absent := missing():
        sys.exit(absent)
    folder = given.finds or Path(tempfile.mkdtemp(prefix=f"paraph-{name}-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {given.seed}")
    outcomes, finds = Run(trial, suffix, given.seed, given.seconds, given.processes, folder).finish()
    print(f"{outcomes.total()} files: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    for find in finds:
        print(f"find: {find}")
    if not finds and not given.finds:
        folder.rmdir()
    sys.exit(1 if finds else 0)


@dataclass(frozen=True)
class Run:
    """One run of trials. ``suffix``: of the files that are kept in ``folder``."""

    trial: Trial
    suffix: str
    seed: int
    seconds: float
    processes: int
    folder: Path

    def finish(self) -> tuple[Counter[str], list[str]]:
        """Run all workers to their end; return the outcomes, and a line for each find."""
        spawn = multiprocessing.get_context("spawn")
        deadline = time.time() + self.seconds
        workers = [spawn.Process(target=self.work, args=(number, deadline)) for number in range(self.processes)]
        for worker in workers:
            worker.start()
        outcomes, finds = Counter[str](), list[str]()
        for number, worker in enumerate(workers):
            worker.join(max(0.0, deadline - time.time()) + _PATIENCE_SECONDS)
            if worker.exitcode != 0:
                how = "hung" if worker.is_alive() else f"ended with {worker.exitcode}"
                worker.kill()
                worker.join()
                lost = self.folder / f"lost-{self.seed}-{number}{self.suffix}"
                finds.append(f"{self._current(number).rename(lost)}: the process {how}")
                continue
            report = self._report(number)
            told = json.loads(report.read_text())
            report.unlink()
            outcomes += Counter(told["outcomes"])
            finds += told["finds"]
        return outcomes, finds

    def work(self, first: int, deadline: float) -> None:
        """Run the trials of one worker: from number ``first``, in steps of the number of processes."""
        outcomes, finds, number = Counter[str](), list[str](), first
        current = self._current(first)
        while time.time() < deadline and len(finds) < _MOST_FINDS:
            try:
                outcome, complaint = self.trial(self.seed, number, current)
            except Exception as error:  # noqa: BLE001 (whatever is raised is the find)
                outcome, complaint = "", repr(error)
            if complaint:
                kept = current.replace(self.folder / f"{self.seed}-{number}{self.suffix}")
                finds.append(f"{kept}: {complaint[:300]}")
            outcomes["found" if complaint else outcome] += 1
            number += self.processes
        current.unlink(missing_ok=True)
        self._report(first).write_text(json.dumps({"outcomes": outcomes, "finds": finds}))

    def _current(self, worker: int) -> Path:
        return self.folder / f"current-{worker}{self.suffix}"

    def _report(self, worker: int) -> Path:
        return self.folder / f"report-{worker}.json"
