"""Choosing what is shown and sealed: the upload itself, or a variant of it that a revision can extend.

A file that readers might interpret differently undergoes a dry run before anybody signs it: sealed with a throw-away
key, it must look as the upload does and show its marks.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

from paraph.pdf.errors import SealError
from paraph.pdf.refusal import PdfRefused, page_not_shown
from paraph.pdf.structure.geometry import PageGeometry
from paraph.pdf.structure.normalise import Method, UnreadablePdf, extendable_variants
from paraph.pdf.structure.objects import CONFUSED, PdfStream, Unsafe
from paraph.pdf.structure.pages import PageNode, geometries_of, pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks import dry_run
from paraph.pdf.untrusted.jobs.upload_checks.page_comparison import LooksDifferent, check_looks
from paraph.pdf.untrusted.jobs.upload_checks.page_contents import check_contents
from paraph.pdf.untrusted.jobs.upload_checks.second_opinion import Opinion, second_opinion

_WITHOUT_PICTURE = frozenset({b"/Link", b"/Popup"})


class PreparedFile(NamedTuple):
    """``content``: the file that stands in for the upload; ``None`` if the upload itself is used."""

    method: Method
    content: bytes | None
    geometries: list[PageGeometry]
    reader: PdfReader
    nodes: list[PageNode]


def prepare_file(file: UntrustedFile, page_limit: int) -> PreparedFile:
    """Return the first variant that passes its dry run. Raises PdfRefused ``cannot_be_sealed``,
    ``shown_differently`` where readers disagree on what the pages show, or ``unclear_page_count`` where they
    disagree on their number."""
    refusal = cannot_be_sealed()
    try:
        for method, content in extendable_variants(file.whole):
            try:
                if method == "incremental":
                    return PreparedFile(method, None, *_try_variant(file, file, page_limit))
                with UntrustedFile(content=content) as variant:
                    return PreparedFile(method, content, *_try_variant(file, variant, page_limit))
            except LooksDifferent:
                refusal = shown_differently()
            except PdfRefused as refused:
                refusal = refused
            except (Unsafe, SealError, *CONFUSED):
                continue
    except UnreadablePdf:
        pass
    raise refusal


def _try_variant(
    file: UntrustedFile, variant: UntrustedFile, page_limit: int
) -> tuple[list[PageGeometry], PdfReader, list[PageNode]]:
    """Return the pages of ``variant`` after its dry run. Raises LooksDifferent, PdfRefused, and
    the errors of reading and sealing."""
    reader = PdfReader(variant.whole)
    found = list(islice(pages(reader), page_limit + 1))
    check_contents(reader, found)
    geometries = geometries_of(reader, found)
    if len(geometries) != len(file.pdfium()):
        raise unclear_page_count()
    for number, page in enumerate(found, start=1):
        contents = reader.resolve(page.dictionary.get(b"/Contents"))
        if not isinstance(contents, PdfStream | list | None):  # poppler drops such a page, others show it empty
            raise page_not_shown(number)
    opinion = second_opinion(reader, variant)
    if opinion is Opinion.OTHER:
        raise LooksDifferent("qpdf finds other objects")
    everywhere = variant is not file or opinion is not Opinion.SAME
    _dry_run(file.whole, variant.whole, geometries, range(len(geometries)) if everywhere else _annotated_pages(reader))
    return geometries, reader, found


def cannot_be_sealed() -> PdfRefused:
    return PdfRefused("cannot_be_sealed", "The PDF cannot be sealed: its structure is damaged beyond repair.")


def shown_differently() -> PdfRefused:
    return PdfRefused(
        "shown_differently",
        "The PDF is damaged in a way that makes readers show different pages, so it cannot be signed. "
        "Save it again with the program that made it.",
    )


def unclear_page_count() -> PdfRefused:
    return PdfRefused(
        "unclear_page_count", "The page tree of the PDF is damaged: readers disagree on its number of pages."
    )


def _dry_run(upload: bytes, content: bytes, geometries: Sequence[PageGeometry], indices: Sequence[int]) -> None:
    sealed = dry_run.sealed_on_trial(content, geometries, indices)
    check_looks(upload, sealed, dry_run.marked_boxes(geometries, indices), dry_run.COLOUR)


def _annotated_pages(reader: PdfReader) -> list[int]:
    """Return the pages with visible annotations, unless the file has a form. A seal adds a form, and with one,
    viewers may draw annotations differently."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    if isinstance(reader.resolve(root.get(b"/AcroForm")), dict):
        return []
    return [index for index, page in enumerate(pages(reader)) if _is_annotated(reader, page.dictionary)]


def _is_annotated(reader: PdfReader, page: dict[bytes, Any]) -> bool:
    annotations = reader.resolve(page.get(b"/Annots"))
    found = [reader.resolve(item) for item in annotations] if isinstance(annotations, list) else []
    return any(isinstance(item, dict) and item.get(b"/Subtype") not in _WITHOUT_PICTURE for item in found)
