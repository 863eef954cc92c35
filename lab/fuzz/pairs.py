"""``python -m lab.fuzz.pairs [--seconds 60] [--seed N]``: compare what the signer saw with what was sealed.

Odd files of every class and mutants of them, each judged as :mod:`tests.pdf.pairs` says, in one process per core. The
run prints the seed and counts the outcomes. If there are finds, it fails and keeps their files. The same seed makes
the same files in the same order. Put a find into ``lab/fuzz/seeds/pairs/`` with the repair.
"""

from pathlib import Path
from random import Random

from lab.fuzz import workers
from lab.fuzz.mutation import mutated
from tests.pdf.odd_files import CLASSES, odd_file
from tests.pdf.pairs import PairDiffersError, check_pair


def candidate(seed: int, number: int) -> tuple[str, bytes, bool]:
    """Return the class of file ``number`` of a seed, the file, and whether it is mutated; about one in three is as the
    class makes it."""
    chance = Random(f"{seed} {number}")
    names = list(CLASSES)
    name, other = names[number % len(names)], chance.choice(names)
    pdf = odd_file(name, seed, number)
    if chance.random() < 1 / 3:
        return name, pdf, False
    return name, mutated(chance, pdf, odd_file(other, seed, number)), True


def trial(seed: int, number: int, current: Path) -> tuple[str, str]:
    """Judge one file, as :data:`lab.fuzz.workers.Trial` says. For contents that are not mutated, preflight must report
    what readers draw differently."""
    name, pdf, is_mutated = candidate(seed, number)
    current.write_bytes(pdf)
    try:
        return check_pair(pdf, sandbox=number % 4 < 2, told=name.startswith("contents: ") and not is_mutated), ""
    except PairDiffersError as error:
        return "", f"({name}) {error}"


if __name__ == "__main__":
    workers.main("pairs", str(__doc__), trial, ".pdf")
