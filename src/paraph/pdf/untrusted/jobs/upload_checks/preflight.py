"""What the preflight report says of a file besides its pages: forms, signatures, what can change it, how it prints.

Scripts and actions are counted in one walk over all objects. Pages that may print differently are drawn both ways.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Any

import pikepdf
import pypdfium2
from pypdfium2 import raw
from pypdfium2.internal import set_callback

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.jobs.page_pictures import (
    LAYER_NAMES,
    Annotation,
    make_fields_annotations,
    page_annotations,
    show_as_printed,
    show_form_fields,
)
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, dictionary, name_of
from paraph.pdf.untrusted.jobs.upload_checks.expansion import Expansion
from paraph.pdf.untrusted.passive import NO_ACTIONS, SAME_IN_PRINT

_MOST_FIELDS = 100_000
_REPAIRS_TOLD = 5
_NAME_OF_FILE = re.compile(r"^(WARNING: )?(stream )?<[^>]*>[^:]*: ")
# qpdf writes names without escapes, so /J#61vaScript matches too, and sorts the keys of dictionaries
_TURNING_PAGES = rb"/N /(?:NextPage|PrevPage|FirstPage|LastPage) (?:/Next \d+ \d+ R )?/S /Named\b"
_COUNTED = {
    "scripts": re.compile(rb"/S /JavaScript\b|/JS\b(?:(?!>>|/S ).)*/S /Rendition\b", re.DOTALL),
    "launch_actions": re.compile(rb"/S /Launch\b"),
    "submit_actions": re.compile(rb"/S /(?:SubmitForm|ImportData)\b"),
    "attachments": re.compile(rb"/EF <<"),
    "named": re.compile(rb"/S /Named\b"),
    "turning_pages": re.compile(_TURNING_PAGES),
    "changing": re.compile(rb"/S /(?:ResetForm|Hide|SetOCGState)\b|/AA (?:<< /|\d)"),
    "layers": re.compile(rb"/Type /OCG\b|/OCGs (?:\[ \d|\d)"),
    "layer_names": LAYER_NAMES,
    "media": re.compile(
        rb"/Subtype /(?:Movie|Screen|Sound|3D|RichMedia)\b|/S /(?:Rendition|Movie|Sound|GoTo3DView|RichMediaExecute)\b"
    ),
    "for_printers": re.compile(rb"/DefaultForPrinting true|/Subtype2? /PS\b"),
}
_SECONDS = 3.0  # of processor time for all pages of a file; a job has 10 seconds
_LONGEST, _SHORTEST = 2000.0, 800.0  # bounds of the longer side in pixels; between them, one pixel per point
_BLANK = 0xFFFFFFFF


def read_facts(file: UntrustedFile, *, passive: bool) -> dict[str, Any]:
    """Return what the preflight report says, as qpdf reads the file. ``passive`` as for :func:`read_behaviour`. Raise
    PdfRefused ``dynamic_xfa``, ``changes_forbidden``, ``integrity_code`` and ``too_complex``."""
    document = file.pikepdf()
    return {
        "version": document.pdf_version,
        "encryption": _encryption(document),
        **_forms_and_signatures(document),
        **read_behaviour(file, passive=passive),
        "repairs": list(dict.fromkeys(_NAME_OF_FILE.sub("", each) for each in file.warnings()))[:_REPAIRS_TOLD],
    }


def _encryption(document: pikepdf.Pdf) -> dict[str, Any] | None:
    """Describe the encryption; the file opened without a password, so it has an owner password at most. Refuse a
    file with an integrity code over the whole file (ISO/TS 32004), which its readers check and a seal would break."""
    if not document.is_encrypted:
        return None
    if "/AuthCode" in document.trailer or "/KDFSalt" in document.trailer.Encrypt:
        raise PdfRefused(
            "integrity_code",
            "The PDF is encrypted with an integrity code (ISO/TS 32004), which a seal would break. Save it without "
            "encryption and try again.",
        )
    method = str(document.encryption.stream_method).rpartition(".")[2]
    return {"method": method, "bits": document.encryption.bits, "permissions": document.allow._asdict()}


def _forms_and_signatures(document: pikepdf.Pdf) -> dict[str, Any]:
    """Describe form and signatures. Refuse an earlier signature that says which changes it permits (DocMDP,
    ISO 32000-2, table 257): at most filling in forms, signing existing fields, and comments. A seal with stamps is
    none of these."""
    form, permissions = dictionary(document.Root.get("/AcroForm")), dictionary(document.Root.get("/Perms"))
    xfa = "/XFA" in form
    if xfa and bool(document.Root.get("/NeedsRendering", False)):
        message = "The PDF is a dynamic XFA form, which has no fixed pages to sign; print it to a PDF first."
        raise PdfRefused("dynamic_xfa", message)
    fields = list(_fields(form))
    signed = [(field, value) for field, kind in fields if kind == "/Sig" and (value := dictionary(field.get("/V")))]
    # the catalog may not name the certifying signature
    certifying = [dictionary(permissions.get("/DocMDP")), *(value for _, value in signed)]
    if any(map(_certifies, certifying)) or any("/P" in dictionary(field.get("/Lock")) for field, _ in signed):
        message = "The PDF has a signature that forbids any change, so it cannot be signed again."
        raise PdfRefused("changes_forbidden", message)
    signatures = {"count": len(signed), "certification": None, "usage_rights": "/UR3" in permissions}
    return {"signatures": signatures, "forms": {"fields": len(fields), "xfa": xfa}}


def _certifies(signature: Any) -> bool:
    references = signature.get("/Reference")
    listed: Any = references if isinstance(references, pikepdf.Array) else []
    return any(dictionary(reference).get("/TransformMethod") == "/DocMDP" for reference in listed)


def _fields(form: Any) -> Iterator[tuple[Any, str]]:
    """Yield terminal fields with their inherited type. A malformed tree ends the walk without an error."""
    top = form.get("/Fields")
    left = [(field, "") for field in top] if isinstance(top, pikepdf.Array) else []
    seen: set[tuple[int, int]] = set()
    while left and len(seen) < _MOST_FIELDS:
        field, kind = left.pop()
        if not isinstance(field, pikepdf.Dictionary) or field.objgen in seen:
            continue
        if field.is_indirect:
            seen.add(field.objgen)
        kind = name_of(field.get("/FT"), kind)
        kids = field.get("/Kids")
        children = [kid for kid in kids if "/T" in dictionary(kid)] if isinstance(kids, pikepdf.Array) else []
        left += [(kid, kind) for kid in children]
        if not children:
            yield field, kind


def read_behaviour(file: UntrustedFile, *, passive: bool) -> dict[str, Any]:
    """Return the counts of actions, ``prints_differently``, ``print_unknown`` and ``can_change`` of the preflight
    report. ``passive``: the file as it is written contains no name of interest, so only its annotations are examined,
    unless qpdf has to repair it. Raise PdfRefused ``too_complex`` for a decompression bomb."""
    document, none_counted = file.pikepdf(), passive and file.is_read_as_written()
    counts = dict.fromkeys(_COUNTED, 0) if none_counted else count_actions(document)
    by_page = [list(page_annotations(page)) for page in document.pages]
    return {
        **{name: counts[name] for name in NO_ACTIONS},
        **compare_print(file, by_page, layered=counts["layer_names"] > 0),
        "can_change": _changing(document, counts, chain.from_iterable(by_page)),
    }


def _changing(document: pikepdf.Pdf, counts: Mapping[str, int], shown: Iterable[Annotation]) -> list[str]:
    """Return ``can_change`` of the preflight report: the words for what can change what is shown."""
    drawn = [annotation for annotation in shown if annotation.draws]
    acts = counts["launch_actions"] + counts["submit_actions"] + counts["changing"]
    opening = dictionary(document.Root.get("/OpenAction"))
    # A script is counted elsewhere, and turning to a page is no act.
    opens = bool(opening) and (opening.get("/S") not in ("/GoTo", "/JavaScript") or "/Next" in opening)
    found = {
        "scripts": counts["scripts"] > 0,
        "actions": acts > 0 or counts["named"] > counts["turning_pages"] or opens,
        "layers": counts["layers"] > 0,
        "media": counts["media"] > 0,
        "xfa_form": "/XFA" in dictionary(document.Root.get("/AcroForm")),
        "hover_annotations": any(annotation.switches for annotation in drawn),
        "screen_only_annotations": any(each.on_screen and not each.in_print for each in drawn),
        "print_only_annotations": any(each.in_print and not each.on_screen for each in drawn),
        "print_only_contents": counts["for_printers"] > 0,
    }
    return [word for word, is_there in found.items() if is_there]


def count_actions(document: pikepdf.Pdf) -> dict[str, int]:
    """Return the number of ``scripts``, ``launch_actions``, ``submit_actions``, ``attachments``, and of what else can
    change what is shown. Raise PdfRefused ``too_complex`` for a decompression bomb."""
    counts = dict.fromkeys(_COUNTED, 0)
    expansion = Expansion()
    for item in document.objects:
        if isinstance(item, pikepdf.Stream):
            expansion.check(item, item.get_raw_stream_buffer())
            text = item.stream_dict.unparse(resolved=True)
        elif isinstance(item, pikepdf.Dictionary | pikepdf.Array):
            text = item.unparse(resolved=True)
        else:
            continue
        for name, pattern in _COUNTED.items():
            counts[name] += len(pattern.findall(text))
    return counts


class _OutOfTimeError(Exception):
    """The time for all pages is over."""


def compare_print(file: UntrustedFile, annotations: Sequence[Sequence[Annotation]], *, layered: bool) -> dict[str, Any]:
    """Return ``{"prints_differently": [page number, …], "print_unknown": number of pages}``.

    ``annotations``: those of each page. ``layered``: the file mentions optional content, so that any page may differ;
    otherwise only pages with a screen-only or print-only annotation do. ``print_unknown`` counts pages that could not
    be drawn or were not reached in time.
    """
    compared = [index for index, shown in enumerate(annotations) if layered or any(each.differs for each in shown)]
    if not compared:
        return SAME_IN_PRINT
    deadline = time.process_time() + _SECONDS
    different, unknown = [], 0
    document = file.pdfium_again()
    show_form_fields(document)
    for done, index in enumerate(compared):
        try:
            if _differs(file, document, index, deadline, layered=layered):
                different.append(index + 1)
        except _OutOfTimeError:
            unknown += len(compared) - done
            break
        except pypdfium2.PdfiumError:
            unknown += 1
    return {"prints_differently": different, "print_unknown": unknown}


def _differs(
    file: UntrustedFile, document: pypdfium2.PdfDocument, index: int, deadline: float, *, layered: bool
) -> bool:
    """Compare one page, the screen first, since the changes for print cannot be undone."""
    with closing(document[index]) as page:
        if layered:
            make_fields_annotations(page)
        form = None if layered else document.formenv
        on_screen = _drawn(form, page, 0, deadline)
        show_as_printed(file, page, index, layered=layered)
        return on_screen != _drawn(form, page, raw.FPDF_PRINTING, deadline)


def _drawn(form: Any, page: pypdfium2.PdfPage, purpose: int, deadline: float) -> bytes:
    """Return the pixels of a page. Raise :class:`_OutOfTimeError` after ``deadline``."""
    width, height = page.get_size()
    longer = max(width, height, 1.0)
    scale = min(max(longer, _SHORTEST), _LONGEST) / longer
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    with closing(pypdfium2.PdfBitmap.new_native(*size, raw.FPDFBitmap_BGRx)) as bitmap:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, bitmap.width, bitmap.height, _BLANK)
        drawing = (bitmap, page, 0, 0, bitmap.width, bitmap.height, 0, raw.FPDF_ANNOT | purpose)
        pause = raw.IFSDK_PAUSE(version=1)
        set_callback(pause, "NeedToPauseNow", lambda _: time.process_time() > deadline)
        status = raw.FPDF_RenderPageBitmap_Start(*drawing, pause)
        raw.FPDF_RenderPage_Close(page)
        if status == raw.FPDF_RENDER_TOBECONTINUED:
            raise _OutOfTimeError
        if status != raw.FPDF_RENDER_DONE:
            raise pypdfium2.PdfiumError("a page cannot be drawn")
        if form:
            raw.FPDF_FFLDraw(form, *drawing)
        return bytes(bitmap.buffer)
