"""Reading an upload: milliseconds to inspect it, to find tags, to draw a page and to get its words.

    python -m benchmarks.reading [--runs 7]

Dense A4 pages, the tag on the last one. In a sandboxed process, as the service does it; ``overhead`` is what
handing a job over costs, by the largest file and by the smallest. Medians, with the best run in brackets.
"""

import argparse
import io
import os
import statistics
import time
from collections.abc import Callable

import pikepdf
from pikepdf import Dictionary, Name

from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.page_reading import find_tags, render_page, text_layer
from paraph.pdf.untrusted.sandbox import configure

TAG = "{{signature}}"
_LINE = "The parties agree that this contract is made in two originals, one for each of them"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    pool = configure(1)
    print(f"{'ms':<34}" + "".join(f"{pages:>20}" for pages in ("1 page", "20 pages", "300 pages")))
    papers = [dense(pages) for pages in (1, 20, 300)]
    ten = [TAG, *(f"{{{{absent{number}}}}}" for number in range(9))]
    jobs: dict[str, Callable[[bytes], object]] = {
        "inspect": lambda pdf: inspect(pdf, page_limit=2000),
        "find a tag": lambda pdf: find_tags(pdf, [TAG]),
        "find ten tags, nine absent": lambda pdf: find_tags(pdf, ten),
        "draw page 1 at 1.5 pixels a point": lambda pdf: render_page(pdf, 1, 1.5),
        "words of page 1": lambda pdf: text_layer(pdf, 1),
    }
    for name, job in jobs.items():
        print(f"{name:<34}" + "".join(f"{measured(job, pdf, runs):>20}" for pdf in papers))
    print()
    for name, pdf in (("overhead, 1 KB", dense(0)), ("overhead, 50 MB", heavy(50))):
        print(f"{name:<34}{measured(lambda pdf: pool.call('find', pdf, tags=[]), pdf, runs * 3):>20}")


def measured(job: Callable[[bytes], object], pdf: bytes, runs: int) -> str:
    seconds = []
    job(pdf)
    for _ in range(runs):
        started = time.perf_counter()
        job(pdf)
        seconds.append(time.perf_counter() - started)
    return f"{statistics.median(seconds) * 1000:.2f} ({min(seconds) * 1000:.2f})"


def dense(pages: int) -> bytes:
    """Sixty lines a page, the tag at the foot of the last."""
    document = pikepdf.new()
    font = document.make_indirect(Dictionary(Type=Name.Font, Subtype=Name.Type1, BaseFont=Name.Helvetica))
    for number in range(pages):
        lines = [f"BT /F1 10 Tf 50 {800 - 12 * line} Td ({_LINE} {number}.{line}) Tj ET" for line in range(60)]
        if number == pages - 1:
            lines.append(f"BT /F1 10 Tf 50 60 Td ({TAG}) Tj ET")
        page = document.add_blank_page(page_size=(595, 842))
        page.obj.Resources = Dictionary(Font=Dictionary(F1=font))
        page.obj.Contents = document.make_stream("\n".join(lines).encode())
    return saved(document)


def heavy(mebibytes: int) -> bytes:
    document = pikepdf.new()
    document.add_blank_page()
    document.Root.Ballast = document.make_stream(os.urandom(mebibytes << 20))
    return saved(document)


def saved(document: pikepdf.Pdf) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


if __name__ == "__main__":
    main()
