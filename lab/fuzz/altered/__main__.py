"""``python -m lab.fuzz.altered [--seconds 60] [--seed N]``: sealed files altered without a key, against verification.

One or two freedoms at once, most of them with bytes changed on top, in one process per core. Prints the seed and what
became of the files, and fails with the recipes of its finds, which stay, each with its PDF. The same seed makes the
same files in the same order. Put the recipe of a find into ``lab/fuzz/seeds/altered/`` with the repair.
"""

from lab.fuzz import workers
from lab.fuzz.altered.trial import trial

if __name__ == "__main__":
    workers.main("altered", str(__doc__), trial, ".json")
