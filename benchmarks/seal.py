"""Milliseconds per seal, beside the least that any program could need and beside pyHanko as its guide shows it.

    python -m benchmarks.seal [--quick]

Files as users send them, made here: a has 1 page and 30 KB; b 20 pages and 1.1 MB; c 300 pages, 21 MB and 46,000
objects. As in the service, the upload found their contents clean. The floor is SHA-256 of the file, one operation of
the key, and one copy of the file. "drawn" adds a stamp on page 1 and a watermark on every page, one overlay as in the
service (paraph/flow/sealing/stamp_marks.py); B-LTA has the statuses of all certificates and an archive timestamp.
Medians on one core, warm; the timestamp comes from the built-in authority and is verified like anybody's. The
self-check is part of every figure and stated alone as well.
What 50 filled fields on page 1 add to a drawn seal is stated with the setting of their values.
"""

import argparse
import gc
import hashlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from typing import Any

from benchmarks.seal_files import FILES, make
from benchmarks.seal_keys import KINDS, PURPOSE, authority_for, long_term_for, pyhanko_signer, sealing_key
from paraph.kernel import clock
from paraph.pdf.sealing import draft, self_check
from paraph.pdf.sealing.seal import Mark, Overlay
from paraph.pdf.sealing.seal import seal as seal_any
from paraph.pdf.typesetting.appearances import StampContent, appearances
from paraph.pdf.typesetting.field_values import FieldContent, FieldPlace, FieldsContent

AT = datetime(2026, 11, 21, 14, 5, 9, tzinfo=UTC)
seal = partial(seal_any, clean_contents=True)
_ROUNDS = {"a": 60, "b": 30, "c": 7}


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.seal")
    parser.add_argument("--quick", action="store_true", help="RSA-2048 only, without pyHanko and memory")
    parser.add_argument("--memory-of", choices=list(FILES), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.memory_of:
        _print_memory(arguments.memory_of)
        return
    files = {name: make(name) for name in FILES}
    heads = ["floor", "B-B", "B-T", "B-LTA", "drawn B-B", "drawn B-T", "drawn LTA", "check"] + (
        [] if arguments.quick else ["pyHanko"]
    )
    print(f"{'ms':11}" + "".join(f"{head:>10}" for head in heads) + "   above the floor (times the floor)")
    for kind in KINDS[:1] if arguments.quick else KINDS:
        for name, pdf in files.items():
            _print_row(name, kind, pdf, with_pyhanko=not arguments.quick)
    if not arguments.quick:
        print()
        for name, pdf in files.items():
            _print_peak(name, len(pdf))
    print()
    _print_fields(files["a"])
    _print_throughput(files["b"])


def _print_row(name: str, kind: str, pdf: bytes, *, with_pyhanko: bool) -> None:
    rounds, key, timestamping, lasting = _ROUNDS[name], sealing_key(kind), authority_for(), long_term_for()
    drawn = _drawn()
    floor = median(lambda: (hashlib.sha256(pdf), key.sign(b"x"), pdf + b"x"), rounds)
    plain = median(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=None, at=AT), rounds)
    stamped = median(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=timestamping, at=AT), rounds)
    archived = median(
        lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=timestamping, long_term=lasting, at=clock.now()),
        rounds,
    )
    marked = median(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=None, at=AT, **drawn), rounds)
    both = median(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=timestamping, at=AT, **drawn), rounds)
    everything = median(
        lambda: seal(
            pdf, key=key, purpose=PURPOSE, timestamping=timestamping, long_term=lasting, at=clock.now(), **drawn
        ),
        rounds,
    )
    check = _check_alone(lambda: seal(pdf, key=key, purpose=PURPOSE, timestamping=None, at=AT), rounds)
    cells = [floor, plain, stamped, archived, marked, both, everything, check]
    if with_pyhanko:
        sign = pyhanko_signer(kind)
        cells.append(median(lambda: sign(BytesIO(pdf)), max(3, rounds // 10)))
    above = f"B-B {plain - floor:+.1f} ({plain / floor:.1f}), drawn {marked - floor:+.1f} ({marked / floor:.1f})"
    print(f"{name} {kind:9}" + "".join(f"{cell:10.2f}" for cell in cells) + "   " + above)


def _drawn() -> dict[str, Any]:
    stamp = StampContent(width=200, height=80, name="Ada Lovelace", signed_at=AT, request_id=1)
    pictures = appearances([stamp], watermarks=[(595, 842)])
    return {
        "appearances": pictures.pdf,
        "marks": [Mark(1, 100, 100, 200, 80, pictures.stamp_pages[0])],
        "page_overlay": Overlay(pictures.watermark_pages[0]),
    }


def _print_fields(pdf: bytes) -> None:
    """Each round has names and values of its own, so that no picture comes out of a cache."""
    key, turns = sealing_key("RSA-2048"), iter(range(10_000))

    def drawn(*, fields: bool) -> None:
        turn = next(turns)
        stamp = StampContent(width=200, height=80, name=f"Ada Lovelace {turn}", signed_at=AT, request_id=turn)
        values = [FieldsContent(500, 500, _values(turn))] if fields else []
        pictures = appearances([stamp], watermarks=[(595, 842)], fields=values)
        marks = [Mark(1, 50, 200, 500, 500, page) for page in pictures.fields_pages]
        marks += [Mark(1, 100, 100, 200, 80, pictures.stamp_pages[0])]
        overlay = Overlay(pictures.watermark_pages[0])
        seal(
            pdf, key=key, purpose=PURPOSE, timestamping=None, at=AT, appearances=pictures.pdf, marks=marks,
            page_overlay=overlay,
        )  # fmt: skip

    without, with_values = median(partial(drawn, fields=False), 40), median(partial(drawn, fields=True), 40)
    print(f"50 filled fields on page 1 of a: {with_values - without:+.1f} ms (from {without:.1f})")


def _values(turn: int) -> list[FieldPlace]:
    """Texts, numbers, dates and ticked boxes, and a few of several lines, in two columns."""
    texts = (f"Street {turn} No. {{}}", f"{turn},{{}}.50", f"November {{}}, {1900 + turn}", "")
    places = []
    for number in range(50):
        text, height = texts[number % 4].format(number), 18
        place = FieldContent(160, height, text, ticked=not text, multiline=number % 10 == 0)
        places.append(FieldPlace(250 * (number % 2), 20 * (number // 2), place))
    return places


def median(action: Callable[[], object], rounds: int) -> float:
    """Milliseconds of processor time, so that other work on the machine counts less."""
    action()
    times = []
    for _ in range(rounds):
        gc.collect()
        started = time.process_time()
        action()
        times.append(time.process_time() - started)
    return statistics.median(times) * 1000


def _check_alone(action: Callable[[], object], rounds: int) -> float:
    """What the self-check takes of it."""
    original, times = self_check.check, list[float]()

    def timed(*arguments: Any, **named: Any) -> None:
        started = time.process_time()
        original(*arguments, **named)
        times.append(time.process_time() - started)

    vars(draft)["check"] = timed
    try:
        for _ in range(rounds):
            action()
    finally:
        vars(draft)["check"] = original
    return statistics.median(times) * 1000


def _print_peak(name: str, size: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.seal", "--memory-of", name], capture_output=True, text=True, check=True
    )
    peak = int(done.stdout)
    print(f"{name}: peak memory above an idle process {peak / 2**20:.1f} MiB, {peak / size:.1f} of the file")


def _print_memory(name: str) -> None:
    pdf, drawn, key = make(name), _drawn(), sealing_key("RSA-2048")
    seal(make("a"), key=key, purpose=PURPOSE, timestamping=authority_for(), at=AT, **drawn)
    gc.collect()
    before = _resident("VmRSS") - len(pdf)
    with open("/proc/self/clear_refs", "w") as file:  # noqa: PTH123 (a switch of the kernel, no file)
        file.write("5")  # forgets the highest mark so far
    seal(pdf, key=key, purpose=PURPOSE, timestamping=authority_for(), at=AT, **drawn)
    print(_resident("VmHWM") - before)


def _resident(what: str) -> int:
    with open("/proc/self/status") as file:  # noqa: PTH123 (see above)
        return next(int(line.split()[1]) for line in file if line.startswith(what)) * 1024


def _print_throughput(pdf: bytes) -> None:
    for processes in (1, os.cpu_count() or 1):
        with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            list(pool.map(_seal_for, [pdf] * processes, [0.2] * processes))
            done = sum(pool.map(_seal_for, [pdf] * processes, [3.0] * processes))
        print(f"b, drawn, B-T, RSA-2048, processes: {processes}: {done / 3:.0f} seals a second")


def _seal_for(pdf: bytes, seconds: float) -> int:
    drawn, key, timestamping = _drawn(), sealing_key("RSA-2048"), authority_for()
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        seal(pdf, key=key, purpose=PURPOSE, timestamping=timestamping, at=AT, **drawn)
        count += 1
    return count


if __name__ == "__main__":
    main()
