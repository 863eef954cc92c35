"""The checks of an upload, inside the sandbox (``paraph.pdf.inspect`` says what is refused and why)."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pikepdf
import pypdfium2

from paraph.pdf.geometry import PageGeometry, read_geometry
from paraph.pdf.isolated.actions import count_actions
from paraph.pdf.isolated.forms import read_forms, read_signatures
from paraph.pdf.isolated.source import Source
from paraph.pdf.refusal import PdfRefused

_PROBE = 256  # pixels of the longer side of page 1 when it is tried
_REPAIRS_TOLD = 5
_NAME_OF_FILE = re.compile(r"^(WARNING: )?(stream )?<[^>]*>[^:]*: ")


def inspect(source: Source, page_limit: int) -> tuple[dict[str, Any], bytes]:
    """``{"pages": [[width, height], …], "preflight": …}``."""
    document = source.pikepdf()
    viewed = source.pdfium()
    _check_count(len(viewed), page_limit)
    _check_count(len(document.pages), page_limit)
    if len(viewed) != len(document.pages):
        raise PdfRefused("unreadable", "The page tree of the PDF is damaged: readers disagree on its number of pages.")
    forms, signatures = read_forms(document), read_signatures(document)
    actions = count_actions(source)
    _try_first_page(viewed)
    pages = [read_geometry(page) for page in document.pages]
    preflight = {
        "page_count": len(pages),
        "sizes": _sizes(pages),
        "rotated_pages": sum(1 for page in pages if page.rotate),
        "version": document.pdf_version,
        "encryption": _encryption(document),
        "signatures": signatures,
        "forms": forms,
        **actions,
        "repairs": _repairs(document),
    }
    return {"pages": [[page.width, page.height] for page in pages], "preflight": preflight}, b""


def _check_count(count: int, limit: int) -> None:
    if count < 1:
        raise PdfRefused("no_pages", "The PDF has no pages.")
    if count > limit:
        raise PdfRefused("too_many_pages", f"The PDF has {count} pages; at most {limit} are allowed.")


def _try_first_page(document: pypdfium2.PdfDocument) -> None:
    try:
        page = document[0]
        page.render(scale=_PROBE / max(*page.get_size(), 1.0)).close()
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise PdfRefused("unreadable", "The first page of the PDF cannot be shown.") from error


def _sizes(pages: Sequence[PageGeometry]) -> list[dict[str, float]]:
    counted = Counter((round(page.width, 2), round(page.height, 2)) for page in pages)
    return [{"width": width, "height": height, "pages": count} for (width, height), count in counted.most_common()]


def _encryption(document: pikepdf.Pdf) -> dict[str, Any] | None:
    """Opened without a password, so an owner password at most."""
    if not document.is_encrypted:
        return None
    method = str(document.encryption.stream_method).rpartition(".")[2]
    return {"method": method, "bits": document.encryption.bits, "permissions": document.allow._asdict()}


def _repairs(document: pikepdf.Pdf) -> list[str]:
    """What the reader had to put right, in its own words, without the name it gives the file."""
    told = (_NAME_OF_FILE.sub("", str(warning)) for warning in document.get_warnings())
    return list(dict.fromkeys(told))[:_REPAIRS_TOLD]
