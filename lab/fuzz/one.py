"""``python -m lab.fuzz.one TARGET FOLDER [libFuzzer options]``: one target in one process, led by coverage.

FOLDER holds the corpus, which grows; a find is left there as ``crash-…``, ``timeout-…`` or ``oom-…``.
"""

import hashlib
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["paraph.pdf", "paraph.keys"]):
    from lab.fuzz.targets import TARGETS, more_seeds, run, seeds


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for seed in [*seeds(name), *more_seeds(name)]:
        (folder / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
    target = TARGETS[name]
    atheris.Setup([sys.argv[0], str(folder), *sys.argv[3:]], lambda data: run(target, data))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
