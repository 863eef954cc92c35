"""``python -m lab.fuzz.pairs [--seconds 60] [--seed N]``: what the signer saw against what was sealed.

Odd files of every class and mutants of them, each judged as :mod:`tests.pdf.pairs` says, in one process per core.
Prints the seed and what became of the files, and fails with the files of its finds, which stay. The same seed makes
the same files in the same order. Put a find into ``lab/fuzz/seeds/pairs/`` with the repair.
"""

from pathlib import Path
from random import Random

from lab.fuzz import workers
from lab.fuzz.mutation import mutated
from tests.pdf.odd_files import CLASSES, odd_file
from tests.pdf.pairs import PairDiffersError, check_pair


def candidate(seed: int, number: int) -> tuple[str, bytes, bool]:
    """File ``number`` of a seed, with the name of its class, and whether it is mutated: every third is as the class
    makes it."""
    chance = Random(f"{seed} {number}")
    names = list(CLASSES)
    name, other = names[number % len(names)], chance.choice(names)
    pdf = odd_file(name, seed, number)
    if chance.random() < 1 / 3:
        return name, pdf, False
    return name, mutated(chance, pdf, odd_file(other, seed, number)), True


def trial(seed: int, number: int, current: Path) -> tuple[str, str]:
    """See :data:`lab.fuzz.workers.Trial`. Of contents as their class makes them, preflight must tell what readers
    draw differently."""
    name, pdf, is_mutated = candidate(seed, number)
    current.write_bytes(pdf)
    try:
        return check_pair(pdf, sandbox=number % 4 < 2, told=name.startswith("contents: ") and not is_mutated), ""
    except PairDiffersError as error:
        return "", f"({name}) {error}"


if __name__ == "__main__":
    workers.main("pairs", str(__doc__), trial, ".pdf")
