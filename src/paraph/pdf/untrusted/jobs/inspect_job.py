"""The checks of an upload, and the choice of what is shown and sealed: the upload itself, or a variant of it that a
revision can extend. :mod:`paraph.pdf.untrusted.inspect` defines what is refused and why.

A file that readers might interpret differently undergoes a dry run before anybody signs it: sealed with a throw-away
key, it must look as the upload does, show its marks, and take an archive timestamp that alters nothing.
"""

import ctypes
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from itertools import islice
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from PIL import Image, ImageChops, ImageDraw
from pypdfium2 import raw

from paraph.pdf.refusal import PdfRefused, SealError, page_not_shown
from paraph.pdf.structure.contents_references import referred_in_contents
from paraph.pdf.structure.crossreference import misstates_length
from paraph.pdf.structure.normalise import Method, UnreadablePdf, extendable_variants, is_signed
from paraph.pdf.structure.objects import CONFUSED, PdfStream, Unsafe
from paraph.pdf.structure.pages import Box, PageGeometry, PageNode, geometry_of, pages
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.revision import Revision
from paraph.pdf.untrusted.jobs.page_pictures import show_form_fields
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, damaged, drawing
from paraph.pdf.untrusted.jobs.upload_checks.disputes import find_disputes
from paraph.pdf.untrusted.jobs.upload_checks.dry_run import (
    COLOUR,
    SLOW,
    check_archivable,
    check_drawing,
    check_reading,
    marked_boxes,
    sealed_on_trial,
)
from paraph.pdf.untrusted.jobs.upload_checks.expansion import check_contents
from paraph.pdf.untrusted.jobs.upload_checks.fast_scan import ScannedFile, fast_scan
from paraph.pdf.untrusted.jobs.upload_checks.plain_form import Opinion, PlainForm, check_plain_form, second_opinion
from paraph.pdf.untrusted.jobs.upload_checks.preflight import read_facts
from paraph.pdf.untrusted.jobs.upload_checks.rewritten import rewritten
from paraph.pdf.untrusted.jobs.upload_checks.values import NotPlain
from paraph.pdf.untrusted.passive import PASSIVE, page_facts
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

_PROBE = 64  # pixels of the longer side of page 1 in the trial
_UNCLEAR = ("cannot_be_sealed", "shown_differently")
_VERSION = re.compile(rb"%PDF-(\d\.\d)")
_WITHOUT_PICTURE = frozenset({b"/Link", b"/Popup"})
_PIXELS = 800  # of the longer side: enough to show a changed digit of small print
_FAINT = 16  # of 255: rounding differences where a page is drawn inside q and Q
_EDGE = 2  # pixels around a mark, for its anti-aliased edges
_MORE_ATTEMPTS = 4


class PreparedFile(NamedTuple):
    """The file that is shown and sealed. ``facts``: what a reader finds, the parts of the preflight report that do not
    follow from the pages; ``content``: the file in place of the upload, empty if the upload itself is used."""

    facts: dict[str, Any]
    content: bytes
    pages: list[PageGeometry]
    reader: PdfReader
    nodes: list[PageNode]
    plain: PlainForm


def inspect(file: UntrustedFile, page_limit: int) -> JobAnswer:
    """Return ``{"pages": [[width, height], …], "preflight": …, "clean_contents": …, "doubtful": [page, …]}`` and the
    file that replaces the upload, empty if none does. ``doubtful``: the numbers of the pages of which no rule says
    that all readers draw them alike."""
    scanned = fast_scan(file)
    document = file.pdfium()
    if len(document) > page_limit:
        message = f"The PDF has {len(document)} pages; at most {page_limit} are allowed."
        raise PdfRefused("too_many_pages", message, {"count": len(document), "limit": page_limit})
    try:
        return _inspected(file, document, scanned, page_limit)
    except PdfRefused as refused:  # by another reader than PDFium
        raise (damaged() if refused.reason == "unreadable" else refused) from refused
    except (pikepdf.PikepdfError, pypdfium2.PdfiumError, RuntimeError) as error:
        raise damaged() from error


def _inspected(
    file: UntrustedFile, document: pypdfium2.PdfDocument, scanned: ScannedFile | None, page_limit: int
) -> JobAnswer:
    began = time.process_time()
    sound = None
    if scanned and scanned.passive and not scanned.may_draw_annotations:
        sound = read_by_own_reader(scanned.reader, page_limit)
        if sound and len(sound.pages) != len(document):
            sound = None
    check_drawing(document, sound.reader if sound else None, sound.nodes if sound else [])
    if sound and second_opinion(sound.reader, file) is not Opinion.SAME:
        sound = None
    found = sound or read_by_pikepdf(file, page_limit, scanned)
    with drawing(1):  # small and coarse, to learn whether it can be drawn within the limits
        page = document[0]
        page.render(scale=_PROBE / max(*page.get_size(), 1.0), no_smoothimage=True).close()
    with UntrustedFile(content=found.content) if found.content else nullcontext(file) as shown:
        try:
            if referred_in_contents(found.reader, found.nodes):
                raise shown_differently()
            disputes = find_disputes(found.reader, shown, found.nodes, found.pages, found.plain)
        except (Unsafe, *CONFUSED) as error:
            raise damaged() from error
        if not sound or time.process_time() - began > SLOW:
            try:
                check_reading(shown.whole, found.pages)
            except (Unsafe, SealError, *CONFUSED) as error:
                raise cannot_be_sealed() from error
    sizes = [(page.width, page.height) for page in found.pages]
    rotated = sum(1 for page in found.pages if page.rotate)
    preflight = {**page_facts(sizes), "rotated_pages": rotated, **found.facts, "drawn_differently": disputes}
    doubtful = [index + 1 for index in found.plain.remarks]
    answer = {"pages": sizes, "preflight": preflight, "clean_contents": found.plain.clean_contents}
    return {**answer, "doubtful": doubtful}, found.content


def read_by_own_reader(reader: PdfReader, page_limit: int) -> PreparedFile | None:
    """Read a scanned file with our own reader, which repairs nothing; ``None`` for a file that has forms or signatures,
    is not plain, misstates its length or has no room for a revision."""
    version = _VERSION.match(reader.data)
    if misstates_length(reader.data):
        return None
    try:
        root = reader.dictionary(reader.trailer.get(b"/Root"))
        if version is None or b"/AcroForm" in root or b"/Perms" in root:
            return None
        nodes, pages = read_pages(reader, page_limit)
        plain = check_plain_form(reader, scanned=True)
    except (NotPlain, Unsafe, *CONFUSED):
        return None
    facts = {"version": version[1].decode(), **PASSIVE, "method": "incremental"}
    return PreparedFile(facts, b"", pages, reader, nodes, plain)


def read_by_pikepdf(file: UntrustedFile, page_limit: int, scanned: ScannedFile | None) -> PreparedFile:
    """Read the file with pikepdf, which repairs what it can, and choose what replaces the upload. The facts are those
    of the replacement, except for ``repairs``. A file that lacks a page is refused for that, whatever other fault it
    has."""
    try:
        facts = read_facts(file, passive=scanned is not None and scanned.passive)
        prepared = prepare_file(file, page_limit, scanned=scanned is not None)
        if prepared.content:
            with UntrustedFile(content=prepared.content) as shown:
                facts = {**read_facts(shown, passive=False), "repairs": facts["repairs"]}
    except PdfRefused as refused:
        if refused.reason in _UNCLEAR:
            _require_pages(file.pdfium())
        raise
    _require_pages(file.pdfium())
    return prepared._replace(facts=facts | prepared.facts)


def _require_pages(document: pypdfium2.PdfDocument) -> None:
    """Raise PdfRefused ``page_not_shown`` for the first page that PDFium cannot load, or that has no area. Only page
    dictionaries are read, no contents."""
    size = raw.FS_SIZEF()
    for index in range(len(document)):
        there = raw.FPDF_GetPageSizeByIndexF(document, index, ctypes.byref(size))
        if not there or not (size.width > 0 and size.height > 0):
            raise page_not_shown(index + 1)


def prepare_file(file: UntrustedFile, page_limit: int, *, scanned: bool) -> PreparedFile:
    """Return the first variant in plain form that passes its dry run. Raise PdfRefused ``cannot_be_sealed``,
    ``shown_differently`` where readers disagree on what the pages show, or ``unclear_page_count`` where they
    disagree on their number. ``scanned``: see
    :func:`paraph.pdf.untrusted.jobs.upload_checks.plain_form.check_plain_form`."""
    refusal = cannot_be_sealed()
    try:
        for method, content in _variants(file):
            try:
                with nullcontext(file) if method == "incremental" else UntrustedFile(content=content) as variant:
                    return _try_variant(method, file, variant, page_limit, scanned=scanned and variant is file)
            except (LooksDifferent, NotPlain):
                refusal = shown_differently()
            except PdfRefused as refused:
                refusal = refused
            except (Unsafe, SealError, *CONFUSED):
                continue
    except UnreadablePdf:
        pass
    raise refusal


def _variants(file: UntrustedFile) -> Iterator[tuple[Method, bytes]]:
    """Yield the variants that a revision can extend, last the one whose contents are written anew, too. PDFium writes
    anew a file that qpdf cannot read because of its cross-reference."""
    method: Method = "incremental"
    try:
        for method, content in extendable_variants(file.whole):
            yield method, content
    except UnreadablePdf:
        if is_signed(file.whole) or (anew := file.written_anew()) == file.whole:
            raise
        yield "normalised", anew
    if method == "normalised":
        yield method, rewritten(file.whole)


def _try_variant(
    method: Method, file: UntrustedFile, variant: UntrustedFile, page_limit: int, *, scanned: bool
) -> PreparedFile:
    """Return ``variant`` after its dry run; raise LooksDifferent, PdfRefused or what reading raises."""
    reader = PdfReader(variant.whole)
    found, geometries = read_pages(reader, page_limit)
    if len(geometries) != len(file.pdfium()):
        message = "The page tree of the PDF is damaged: readers disagree on its number of pages."
        raise PdfRefused("unclear_page_count", message)
    for number, page in enumerate(found, start=1):
        contents = reader.resolve(page.dictionary.get(b"/Contents"))
        if not isinstance(contents, PdfStream | list | None):  # poppler drops such a page, others show it empty
            raise page_not_shown(number)
    plain = check_plain_form(reader, scanned=scanned)
    opinion = second_opinion(reader, variant)
    if opinion is Opinion.OTHER:
        raise LooksDifferent("qpdf finds other objects")
    everywhere = variant is not file or opinion is not Opinion.SAME
    indices = range(len(geometries)) if everywhere else _annotated_pages(reader, found)
    sealed = sealed_on_trial(variant.whole, geometries, indices)
    check_archivable(sealed)
    check_looks(file.whole, sealed, marked_boxes(geometries, indices))
    return PreparedFile({"method": method}, b"" if variant is file else variant.whole, geometries, reader, found, plain)


def read_pages(reader: PdfReader, page_limit: int) -> tuple[list[PageNode], list[PageGeometry]]:
    """Return the pages, one more than ``page_limit`` at most, of a file in which there is room for a revision. Raise
    PdfRefused ``too_complex``, and what reading raises."""
    Revision(reader)
    nodes = list(islice(pages(reader), page_limit + 1))
    check_contents(reader, nodes)
    return nodes, [geometry_of(reader, node) for node in nodes]


def cannot_be_sealed() -> PdfRefused:
    return PdfRefused("cannot_be_sealed", "The PDF cannot be sealed: its structure is damaged beyond repair.")


def shown_differently() -> PdfRefused:
    return PdfRefused(
        "shown_differently",
        "The PDF is damaged in a way that makes readers show different pages, so it cannot be signed. "
        "Save it again with the program that made it.",
    )


def _annotated_pages(reader: PdfReader, nodes: Sequence[PageNode]) -> list[int]:
    """Return the pages of a plain file with visible annotations, unless it has a form. A seal adds a form, and with
    one, viewers may draw annotations differently."""
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    if isinstance(reader.resolve(root.get(b"/AcroForm")), dict):
        return []
    listed = [reader.resolve(node.dictionary.get(b"/Annots")) for node in nodes]
    found = [list(map(reader.resolve, each)) if isinstance(each, list) else [] for each in listed]
    return [
        index
        for index, annotations in enumerate(found)
        if any(isinstance(each, dict) and each.get(b"/Subtype") not in _WITHOUT_PICTURE for each in annotations)
    ]


class LooksDifferent(Exception):
    """A page looks different, or its mark cannot be seen; the message says which."""


def check_looks(before: Any, after: Any, marks: Mapping[int, Box]) -> None:
    """Compare each page that has a mark, outside of the mark, and check that the mark is visible.

    ``before`` and ``after``: files as PDFium takes them. ``marks``: boxes by page index, in fractions of the page's
    width and height from the bottom left. Raise :class:`LooksDifferent`, and PdfRefused ``page_not_shown`` for a page
    that could not be drawn before.
    """
    with closing(_opened(before)) as old, closing(_opened(after)) as new:
        if len(old) != len(new):
            raise LooksDifferent(f"{len(old)} pages became {len(new)}")
        try:
            for index, box in marks.items():
                try:
                    _check_page(_drawn_before(old, index), _drawn(new, index), index, box)
                except LooksDifferent:
                    _check_again(before, after, index, box)
        except pypdfium2.PdfiumError as error:
            raise LooksDifferent("a page cannot be drawn any more") from error


def _check_again(before: Any, after: Any, index: int, box: Box) -> None:
    """Compare the page by itself, several times over. PDFium fits the substitute of a missing font to what it drew
    before, in whatever file, and settles only when it draws the same page repeatedly."""
    for left in reversed(range(_MORE_ATTEMPTS)):
        try:
            old, new = _settled(before, index, _drawn_before), _settled(after, index, _drawn)
            _check_page(old, new, index, box)
        except LooksDifferent:
            if not left:
                raise
        else:
            return


def _settled(file: Any, index: int, draw: Callable[[pypdfium2.PdfDocument, int], Image.Image]) -> Image.Image:
    """Draw the page until two pictures in a row are the same, and return the last one."""
    with closing(_opened(file)) as document:
        image = draw(document, index)
        for _ in range(_MORE_ATTEMPTS):
            earlier, image = image, draw(document, index)
            if earlier.tobytes() == image.tobytes():
                break
        return image


def _opened(file: Any) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument(file)
    show_form_fields(document)
    return document


def _drawn_before(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    with drawing(index + 1):
        return _drawn(document, index)


def _drawn(document: pypdfium2.PdfDocument, index: int) -> Image.Image:
    with closing(document[index]) as page:
        bitmap = page.render(scale=_PIXELS / max(*page.get_size(), 1.0), rev_byteorder=True)
        image: Image.Image = bitmap.to_pil().convert("RGB")
        bitmap.close()
        return image


def _check_page(old: Image.Image, new: Image.Image, index: int, box: Box) -> None:
    if old.size != new.size:
        raise LooksDifferent(f"page {index + 1} has another size")
    width, height = new.size
    left, bottom, right, top = box
    if new.getpixel((int((left + right) / 2 * width), int((1 - (bottom + top) / 2) * height))) != COLOUR:
        raise LooksDifferent(f"the mark on page {index + 1} cannot be seen")
    hidden = (left * width - _EDGE, (1 - top) * height - _EDGE, right * width + _EDGE, (1 - bottom) * height + _EDGE)
    for image in (old, new):
        ImageDraw.Draw(image).rectangle(hidden, "white")
    if ImageChops.difference(old, new).convert("L").point(lambda value: value > _FAINT).getbbox():
        raise LooksDifferent(f"page {index + 1} looks different")
