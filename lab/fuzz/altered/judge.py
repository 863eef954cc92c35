"""Decide whether ``paraph verify`` was fooled: by another picture, by bytes after the newest signature, or at all."""

import re
import subprocess
from functools import lru_cache

import pypdfium2
from PIL import Image, ImageChops

from lab.fuzz.altered.authorities import authority
from lab.fuzz.altered.recipes import Altered
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.verification.pictures import DrawingTime
from paraph.pdf.verification.verify import verify
from tests.independent import need

WHITE_SPACE = b"\0\t\n\x0c\r "
_RANGE = re.compile(rb"/ByteRange\s*\[\s*\d{1,12}\s+\d{1,12}\s+(\d{1,12})\s+(\d{1,12})")
_DOTS = 40  # per inch
_FAINT = 24  # out of 255
_PAGES = 6
_SECONDS = 30


def complaint(made: Altered) -> str:
    """Return why it is wrong to call the file valid, or an empty string."""
    if seen := picture_changed(made.genuine, made.content):
        return f"valid, and {seen}"
    accepted = made.accepted if made.accepted is not None else _newest_range(made.content)
    if rest := made.content[accepted:].strip(WHITE_SPACE):
        return f"valid with {len(rest)} bytes after the newest signature that is trusted"
    return "valid, and must be refused" if made.must_be_refused else ""


def _newest_range(content: bytes) -> int:
    """Return where the last byte range within the file ends: no trusted signature ends later."""
    ends = [int(start) + int(size) for start, size in _RANGE.findall(content)]
    return max(end for end in ends if end <= len(content))


def accepts(content: bytes) -> bool:
    """Verify the file by its objects alone, as if there were no time to draw its pages. Check that a refusal has a
    reason."""
    found = verify(content, [authority().root], drawing=DrawingTime(0.0))
    assert found.ok == (found.verdict.indication == "TOTAL-PASSED") and bool(found.faults) != found.ok
    return found.ok


def picture_changed(before: bytes, after: bytes) -> str:
    """Return which reader shows another picture of which page, or an empty string."""
    for (name, draw), old in zip(_READERS.items(), _pictures(before), strict=True):
        new = draw(after)
        if len(old) != len(new):
            return f"{name} shows {len(new)} pages for {len(old)}"
        for number, (first, second) in enumerate(zip(old, new, strict=True), start=1):
            if _differ(first, second):
                return f"{name} shows another page {number}"
    return ""


@lru_cache(maxsize=32)
def _pictures(pdf: bytes) -> list[list[Image.Image | None]]:
    return [draw(pdf) for draw in _READERS.values()]


def _differ(first: Image.Image | None, second: Image.Image | None) -> bool:
    if first is None or second is None:
        return first is not second
    if first.size != second.size:
        return True
    return ImageChops.difference(first, second).convert("L").getextrema()[1] > _FAINT  # type: ignore[operator]


def _by_pdfium(pdf: bytes) -> list[Image.Image | None]:
    try:
        document = pypdfium2.PdfDocument(pdf)
    except pypdfium2.PdfiumError:
        return []
    try:
        show_form_fields(document)
        return [_page(document, index) for index in range(min(len(document), _PAGES))]
    finally:
        document.close()


def _page(document: pypdfium2.PdfDocument, index: int) -> Image.Image | None:
    try:
        page = document[index]
    except pypdfium2.PdfiumError:
        return None
    made: Image.Image = page.render(scale=_DOTS / 72, draw_annots=True).to_pil().convert("RGB")
    page.close()
    return made


def _by_poppler(pdf: bytes) -> list[Image.Image | None]:
    command = [need("pdftoppm", "poppler-utils"), "-q", "-cropbox", "-r", str(_DOTS), "-l", str(_PAGES), "-"]
    done = subprocess.run(command, input=pdf, capture_output=True, timeout=_SECONDS, check=False)
    return list(_ppm(done.stdout))


def _ppm(data: bytes) -> list[Image.Image | None]:
    """Read concatenated PPM files, each "P6", width and height, 255, pixels."""
    found: list[Image.Image | None] = []
    at = 0
    while data[at : at + 3] == b"P6\n":
        line = data.index(b"\n", at + 3)
        width, height = (int(number) for number in data[at + 3 : line].split())
        start = data.index(b"\n", line + 1) + 1
        at = start + 3 * width * height
        found.append(Image.frombytes("RGB", (width, height), data[start:at]))
    return found


_READERS = {"PDFium": _by_pdfium, "poppler": _by_poppler}
