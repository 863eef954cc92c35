"""``python -m lab.fuzz.altered [--seconds 60] [--seed N]``: verify sealed files that were altered without a key.

Each file takes one or two freedoms, and most have bytes changed on top; one process runs per core. The run prints the
seed and counts the outcomes. If there are finds, it fails and keeps the recipe and PDF of each. The same seed makes
the same files in the same order. Put the recipe of a find into ``lab/fuzz/seeds/altered/`` with the repair.
"""

from lab.fuzz import workers
from lab.fuzz.altered.trial import trial

if __name__ == "__main__":
    workers.main("altered", str(__doc__), trial, ".json")
