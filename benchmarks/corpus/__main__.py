"""Prints the table; ends with 1 for any crash, hang, change or invalid file, with 2 where a program is missing."""

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.corpus.judge import Verdict
from benchmarks.corpus.programs import missing
from benchmarks.corpus.run import judge_all

_FAULTS = ("invalid", "rendering", "crashed", "hung")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus", description="Seals every PDF of a folder.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="folder that takes the sealed files, by their paths")
    arguments = parser.parse_args()
    if absent := missing():
        print(absent, file=sys.stderr)
        return 2
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        paths = list(arguments.folder.rglob("*.pdf"))
        where = {"base": arguments.folder, "keep": arguments.keep}
        verdicts = judge_all(paths, Path(folder), processes=arguments.processes, **where)
    for verdict in verdicts:
        if verdict.outcome != "sealed":
            print(f"{verdict.outcome:10} {verdict.name}: {verdict.detail}")
    print(table(verdicts, time.monotonic() - started))
    return int(any(verdict.outcome in _FAULTS for verdict in verdicts))


def table(verdicts: list[Verdict], seconds: float) -> str:
    """The figures that the README quotes."""
    count = Counter(verdict.outcome for verdict in verdicts)
    methods = Counter(verdict.method for verdict in verdicts if verdict.outcome == "sealed")
    reasons = Counter(verdict.detail for verdict in verdicts if verdict.outcome == "refused")
    kept = sum(verdict.prefix_kept for verdict in verdicts if verdict.outcome == "sealed")
    rows = [("files", len(verdicts)), ("sealed and valid", count["sealed"]), ("  uploaded bytes kept", kept)]
    rows += [(f"  {method}", number) for method, number in methods.most_common()]
    rows += [("refused", count["refused"])]
    rows += [(f"  {reason}", number) for reason, number in reasons.most_common()]
    names = {"invalid": "not valid to others", "rendering": "rendering changed", "crashed": "crashed", "hung": "hung"}
    rows += [(names[fault], count[fault]) for fault in _FAULTS]
    rows += [("no answer from another program", count["no answer"])]
    lines = [f"{name:52}{number:6}" for name, number in rows]
    return "\n".join([*lines, f"{'seconds':52}{seconds:6.0f}"])


if __name__ == "__main__":
    sys.exit(main())
