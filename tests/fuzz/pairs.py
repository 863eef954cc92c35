"""``python -m tests.fuzz.pairs [--seconds 60] [--seed N]``: what the signer saw against what was sealed.

Odd files of every class and mutants of them, each judged as :mod:`tests.pdf.pairs` says, in one process per core.
Prints the seed and what became of the files, and fails with the files of its finds, which stay. The same seed makes
the same files in the same order. Put a find into ``tests/fuzz/seeds/pairs/`` with the repair.
"""

import argparse
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from benchmarks.corpus.programs import missing
from tests.fuzz.mutation import mutated
from tests.pdf.odd_files import CLASSES, odd_file
from tests.pdf.pairs import PairDiffersError, check_pair

_PATIENCE_SECONDS = 90  # for one file, beyond the time of the run
_MOST_FINDS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--processes", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--finds", type=Path, help="folder that takes the finds; a temporary one unless it is given")
    given = parser.parse_args()
    if absent := missing():
        sys.exit(absent)
    folder = given.finds or Path(tempfile.mkdtemp(prefix="paraph-pairs-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {given.seed}")
    outcomes, finds = run(given.seed, given.seconds, given.processes, folder)
    print(f"{outcomes.total()} files: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    for find in finds:
        print(f"find: {find}")
    if not finds and not given.finds:
        folder.rmdir()
    sys.exit(1 if finds else 0)


def run(seed: int, seconds: float, processes: int, folder: Path) -> tuple[Counter[str], list[str]]:
    """Outcomes, and a line for each find. A process that dies or hangs leaves the file it was reading as its find."""
    spawn = multiprocessing.get_context("spawn")
    deadline = time.time() + seconds
    workers = [
        spawn.Process(target=_work, args=(seed, number, processes, deadline, folder)) for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    outcomes, finds = Counter[str](), list[str]()
    for number, worker in enumerate(workers):
        worker.join(max(0.0, deadline - time.time()) + _PATIENCE_SECONDS)
        if worker.exitcode != 0:
            how = "hung" if worker.is_alive() else f"ended with {worker.exitcode}"
            worker.kill()
            worker.join()
            finds.append(f"{_current(folder, number).rename(folder / f'lost-{seed}-{number}.pdf')}: the process {how}")
            continue
        report = _report(folder, number)
        told = json.loads(report.read_text())
        report.unlink()
        outcomes += Counter(told["outcomes"])
        finds += told["finds"]
    return outcomes, finds


def candidate(seed: int, number: int) -> tuple[str, bytes]:
    """File ``number`` of a seed, with the name of its class: every third as the class makes it, the others mutated."""
    chance = Random(f"{seed} {number}")
    names = list(CLASSES)
    name, other = names[number % len(names)], chance.choice(names)
    pdf = odd_file(name, seed, number)
    return name, pdf if chance.random() < 1 / 3 else mutated(chance, pdf, odd_file(other, seed, number))


def _work(seed: int, first: int, step: int, deadline: float, folder: Path) -> None:
    outcomes, finds, number = Counter[str](), list[str](), first
    current = _current(folder, first)
    while time.time() < deadline and len(finds) < _MOST_FINDS:
        name, pdf = candidate(seed, number)
        current.write_bytes(pdf)
        try:
            outcomes[check_pair(pdf, sandbox=number % 4 < 2)] += 1
        except Exception as error:  # noqa: BLE001 (whatever is raised is the find)
            kept = folder / f"{seed}-{number}.pdf"
            kept.write_bytes(pdf)
            told = str(error) if isinstance(error, PairDiffersError) else repr(error)
            finds.append(f"{kept} ({name}): {told[:300]}")
            outcomes["found"] += 1
        number += step
    current.unlink(missing_ok=True)
    _report(folder, first).write_text(json.dumps({"outcomes": outcomes, "finds": finds}))


def _current(folder: Path, worker: int) -> Path:
    return folder / f"current-{worker}.pdf"


def _report(folder: Path, worker: int) -> Path:
    return folder / f"report-{worker}.json"


if __name__ == "__main__":
    main()
