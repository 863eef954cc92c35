"""``python -m lab.fuzz.run [--seconds 60] [--target NAME] [--corpus FOLDER] [--seed N]``: give every target its share.

The run prints a line for each target, and fails with the file of each find. Put that file into
``lab/fuzz/seeds/<target>/`` with the repair: ``tests/fuzz/test_seeds.py`` runs it from then on. ``--corpus`` keeps what
was learned for the next run. The same seed tries the same inputs in the same order until the time is up.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab.fuzz.targets import TARGETS

_SECONDS_EACH_INPUT = 10
_MEGABYTES = 2048


def fuzz(name: str, corpus: Path, seconds: int, seed: int) -> tuple[str, list[Path]]:
    """Fuzz one target; return a line about the run, and the files of its finds."""
    finds = corpus / "finds" / name
    finds.mkdir(parents=True, exist_ok=True)
    limits = [
        f"-seed={seed}",
        f"-max_total_time={seconds}",
        f"-timeout={_SECONDS_EACH_INPUT}",
        f"-rss_limit_mb={_MEGABYTES}",
    ]
    options = [*limits, "-print_final_stats=1", "-max_len=65536", f"-artifact_prefix={finds}/"]
    command = [sys.executable, "-m", "lab.fuzz.one", name, str(corpus / name), *options]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    count = re.search(r"number_of_executed_units:\s*(\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+)", done.stderr)
    found = sorted(finds.iterdir())
    line = f"{name:12}{count[1] if count else '?':>9} inputs, {covered[-1] if covered else '?':>6} edges covered"
    if found or done.returncode:
        line += "\n" + "\n".join([*done.stdout.splitlines()[-15:], *done.stderr.splitlines()[-8:]])
    return line, found or ([Path("no file: the run itself failed")] if done.returncode else [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="for all targets together, two at a time")
    parser.add_argument("--target", choices=list(TARGETS))
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    given = parser.parse_args()
    names = [given.target] if given.target else list(TARGETS)
    at_once = min(2, len(names))
    each = max(1, given.seconds * at_once // len(names))
    with tempfile.TemporaryDirectory(prefix="paraph-fuzz-") as folder, ThreadPoolExecutor(at_once) as pool:
        corpus = given.corpus or Path(folder)
        results = list(pool.map(lambda name: fuzz(name, corpus, each, given.seed), names))
        for line, _ in results:
            print(line)
        finds = [path for _, found in results for path in found]
        for path in finds:
            print(f"find: {path}" + (f" = {path.read_bytes().hex()}" if path.exists() else ""))
    sys.exit(1 if finds else 0)


if __name__ == "__main__":
    main()
