"""The checks of an upload, inside the sandbox (``paraph.pdf.untrusted.inspect`` says what is refused and why)."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import pikepdf
import pypdfium2

from paraph.pdf.refusal import PdfRefused, page_not_shown
from paraph.pdf.structure.geometry import PageGeometry
from paraph.pdf.structure.objects import CONFUSED, Unsafe
from paraph.pdf.structure.pages import geometries_of
from paraph.pdf.structure.pages import pages as plain_pages
from paraph.pdf.structure.reader import Reader
from paraph.pdf.untrusted.jobs.untrusted_file import Source
from paraph.pdf.untrusted.jobs.upload_checks.acroform import NO_FORMS, NO_SIGNATURES, read_forms, read_signatures
from paraph.pdf.untrusted.jobs.upload_checks.changeable import NO_BEHAVIOUR, read_behaviour
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import read_quietly
from paraph.pdf.untrusted.jobs.upload_checks.page_contents import check_contents
from paraph.pdf.untrusted.jobs.upload_checks.page_presence import require_pages
from paraph.pdf.untrusted.jobs.upload_checks.prepared_file import prepare
from paraph.pdf.untrusted.jobs.upload_checks.second_opinion import Opinion, second_opinion

_PROBE = 64  # pixels of the longer side of page 1 when it is tried
_REPAIRS_TOLD = 5
_NAME_OF_FILE = re.compile(r"^(WARNING: )?(stream )?<[^>]*>[^:]*: ")
_UNCLEAR = ("cannot_be_sealed", "shown_differently")
_VERSION = re.compile(rb"%PDF-(\d\.\d)")


class Seen(NamedTuple):
    """What one reader says of a file. ``facts``: of the preflight report, what does not follow from the pages."""

    pages: list[PageGeometry]
    facts: dict[str, Any]


def inspect(source: Source, page_limit: int) -> tuple[dict[str, Any], bytes]:
    """``{"pages": [[width, height], …], "preflight": …}``, and what stands in for the upload, empty where nothing
    does."""
    quiet = read_quietly(source)
    viewed = source.pdfium()
    _check_count(len(viewed), page_limit)
    seen = at_a_glance(quiet.reader, page_limit) if quiet and not quiet.may_draw_annotations else None
    content = b""
    if not (quiet and seen and len(seen.pages) == len(viewed) and second_opinion(quiet.reader, source) is Opinion.SAME):
        seen, content = _thoroughly_or_refused(source, page_limit, quiet=quiet is not None)
    _try_first_page(viewed)
    preflight = {
        "page_count": len(seen.pages),
        "sizes": _sizes(seen.pages),
        "rotated_pages": sum(1 for page in seen.pages if page.rotate),
        **seen.facts,
    }
    return {"pages": [[page.width, page.height] for page in seen.pages], "preflight": preflight}, content


def _thoroughly_or_refused(source: Source, page_limit: int, *, quiet: bool) -> tuple[Seen, bytes]:
    """Names the page that is not there, where that is why a file cannot be taken."""
    try:
        found = thoroughly(source, page_limit, quiet=quiet)
    except PdfRefused as refused:
        if refused.reason in _UNCLEAR:
            require_pages(source.pdfium())
        raise
    require_pages(source.pdfium())
    return found


def at_a_glance(reader: Reader, page_limit: int) -> Seen | None:
    """By our own reader, which repairs nothing; None for what it leaves to pikepdf, forms and signatures too."""
    version = _VERSION.match(reader.data)
    try:
        root = reader.dictionary(reader.trailer.get(b"/Root"))
        if version is None or b"/AcroForm" in root or b"/Perms" in root:
            return None
        found = list(islice(plain_pages(reader), page_limit + 1))
        check_contents(reader, found)
        pages = geometries_of(reader, found)
    except (Unsafe, *CONFUSED):
        return None
    facts: dict[str, Any] = {
        "version": version[1].decode(),
        "encryption": None,
        "signatures": NO_SIGNATURES,
        "forms": NO_FORMS,
        **NO_BEHAVIOUR,
        "repairs": [],
        "method": "incremental",
    }
    return Seen(pages, facts)


def thoroughly(source: Source, page_limit: int, *, quiet: bool) -> tuple[Seen, bytes]:
    """By pikepdf, which repairs what it can; and what stands in for the upload, of which the facts are then told."""
    facts = _facts(source, quiet=quiet)
    prepared = prepare(source, page_limit)
    if prepared.content is not None:
        with Source(content=prepared.content) as shown:
            facts = {**_facts(shown, quiet=False), "repairs": facts["repairs"]}
    return Seen(prepared.geometries, {**facts, "method": prepared.method}), prepared.content or b""


def _facts(source: Source, *, quiet: bool) -> dict[str, Any]:
    document = source.pikepdf()
    forms, signatures = read_forms(document), read_signatures(document)
    return {
        "version": document.pdf_version,
        "encryption": _encryption(document),
        "signatures": signatures,
        "forms": forms,
        **read_behaviour(source, quiet=quiet),
        "repairs": _repairs(document),
    }


def _check_count(count: int, limit: int) -> None:
    if count < 1:
        raise PdfRefused("no_pages", "The PDF has no pages.")
    if count > limit:
        message = f"The PDF has {count} pages; at most {limit} are allowed."
        raise PdfRefused("too_many_pages", message, {"count": count, "limit": limit})


def _try_first_page(document: pypdfium2.PdfDocument) -> None:
    """Drawn small and coarse: what is asked is whether it can be drawn, and what that takes."""
    try:
        page = document[0]
        page.render(scale=_PROBE / max(*page.get_size(), 1.0), no_smoothimage=True).close()
    except (pypdfium2.PdfiumError, ValueError) as error:
        raise page_not_shown(1) from error


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
