"""What of a page's layers, annotations and form fields shows on the screen, and what prints (ISO 32000-2, 8.11, 12.5).

PDFium decides itself which layers of page contents show, but ignores the /OC of annotations, and prints form fields as
on the screen, whatever their flags. So annotations get flags with the same effect. That changes the document in memory
for good.
"""

import ctypes
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pikepdf
import pypdfium2
from pypdfium2 import raw

from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile, dictionary, name_of

LAYER_NAMES = re.compile(rb"/(?:OCProperties|OCGs?|OCMD|OC|Usage)\b")
"""Matches, in a dictionary as qpdf writes it, whatever makes a viewer leave something out."""
_DEEPEST = 32  # nesting depth of a visibility expression
INVISIBLE = 1
HIDDEN = 1 << 1
PRINT = 1 << 2
NO_VIEW = 1 << 5
_TOGGLE_NO_VIEW = 1 << 8
_MOST = (1 << 31) - 1
_STAMP = (ctypes.c_ushort * 6)(*b"Stamp\0")


def has_layers(document: pikepdf.Pdf) -> bool:
    """Return whether any object mentions optional content."""
    return any(LAYER_NAMES.search(_text(item)) for item in document.objects)


def is_layer_printed(membership: Any, document: pikepdf.Pdf) -> bool:
    """Return whether the group or membership dictionary of an /OC shows in print. A malformed one does."""
    if not isinstance(membership, pikepdf.Dictionary):
        return True
    configuration = dictionary(dictionary(document.Root.get("/OCProperties")).get("/D"))
    if membership.get("/Type") != "/OCMD":
        return _group_is_printed(membership, configuration)
    expression = membership.get("/VE")
    if isinstance(expression, pikepdf.Array):
        return _holds(expression, configuration, _DEEPEST)
    named = membership.get("/OCGs")
    groups = list(named) if isinstance(named, pikepdf.Array) else [named]
    states = [_group_is_printed(group, configuration) for group in groups if isinstance(group, pikepdf.Dictionary)]
    policy = name_of(membership.get("/P"))
    answers = {"/AllOn": all(states), "/AnyOff": not all(states), "/AllOff": not any(states)}
    return answers.get(policy, any(states)) if states else True


def _group_is_printed(group: Any, configuration: Any) -> bool:
    """Decide as PDFium does: by the usage for print, else that for the screen, else the default configuration."""
    usage = dictionary(group.get("/Usage"))
    for event in ("Print", "View"):
        state = dictionary(usage.get(f"/{event}")).get(f"/{event}State")
        if state is not None:
            return bool(state != "/OFF")
    shown = bool(configuration.get("/BaseState") != "/OFF")
    if _among(group, configuration.get("/ON")):
        shown = True
    if _among(group, configuration.get("/OFF")):
        shown = False
    return shown


def _holds(expression: Any, configuration: Any, depth: int) -> bool:
    """Evaluate a visibility expression: an operator and its operands, which are groups or expressions."""
    if isinstance(expression, pikepdf.Dictionary):
        return _group_is_printed(expression, configuration)
    if not isinstance(expression, pikepdf.Array) or not len(expression) or not depth:
        return True
    operator, *operands = expression
    states = [_holds(operand, configuration, depth - 1) for operand in operands]
    if operator == "/Not":
        return not all(states)
    return any(states) if operator == "/Or" else all(states)


def _among(group: Any, groups: Any) -> bool:
    listed = (
        [each for each in groups if isinstance(each, pikepdf.Dictionary)] if isinstance(groups, pikepdf.Array) else []
    )
    return any(each.is_indirect and each.objgen == group.objgen for each in listed)


def _text(item: Any) -> bytes:
    if isinstance(item, pikepdf.Stream):
        item = item.stream_dict
    is_composed = isinstance(item, pikepdf.Dictionary | pikepdf.Array)
    return item.unparse(resolved=True) if is_composed else b""


class Annotation(NamedTuple):
    """What decides whether an annotation shows. ``draws``: a viewer may draw something for it."""

    subtype: str
    flags: int
    draws: bool

    @property
    def on_screen(self) -> bool:
        hiding = HIDDEN | NO_VIEW | (INVISIBLE if self.subtype == "/Widget" else 0)
        return not self.flags & hiding

    @property
    def in_print(self) -> bool:
        return is_printed(self.flags)

    @property
    def differs(self) -> bool:
        return self.draws and self.on_screen != self.in_print

    @property
    def switches(self) -> bool:
        """Whether it appears or disappears under the mouse."""
        return self.draws and bool(self.flags & _TOGGLE_NO_VIEW) and not self.flags & HIDDEN


def is_printed(flags: int) -> bool:
    return bool(flags & PRINT) and not flags & HIDDEN


def page_annotations(page: pikepdf.Page) -> Iterator[Annotation]:
    """Yield the annotations of a page in the order of /Annots. Popups open on hover only, and PDFium draws no borders
    of links; flags that readers interpret differently count as 0, so that the page is compared by drawing it."""
    listed = page.obj.get("/Annots")
    for item in listed if isinstance(listed, pikepdf.Array) else []:
        if isinstance(item, pikepdf.Dictionary):
            kind, value, place = name_of(item.get("/Subtype")), item.get("/F"), item.get("/Rect")
            flags = int(value) if isinstance(value, int | Decimal) else 0
            corners = list(place) if isinstance(place, pikepdf.Array) else []
            has_area = len(corners) == 4 and corners[0] != corners[2] and corners[1] != corners[3]
            draws = has_area and kind != "/Popup" and (kind not in ("", "/Link") or "/AP" in item)
            yield Annotation(kind, flags if 0 <= flags <= _MOST else 0, draws)


def show_as_printed(file: UntrustedFile, page: pypdfium2.PdfPage, index: int, *, layered: bool) -> None:
    """Set the flags of the page's annotations. ``layered``: the file mentions optional content."""
    for position, annotation in _annotations(page):
        flags = raw.FPDFAnnot_GetFlags(annotation)
        shown = is_printed(flags) and not (layered and _is_left_out(file, index, position))
        raw.FPDFAnnot_SetFlags(annotation, (flags | PRINT) & ~(INVISIBLE | NO_VIEW) if shown else flags | HIDDEN)


def make_fields_annotations(page: pypdfium2.PdfPage) -> None:
    """Turn form fields into plain annotations, not to be drawn as fields, to which PDFium applies layers."""
    for _, annotation in _annotations(page):
        if raw.FPDFAnnot_GetSubtype(annotation) == raw.FPDF_ANNOT_WIDGET:
            raw.FPDFAnnot_SetStringValue(annotation, b"Subtype", _STAMP)


def _annotations(page: pypdfium2.PdfPage) -> Iterator[tuple[int, Any]]:
    for position in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, position)
        if annotation:
            yield position, annotation
            raw.FPDFPage_CloseAnnot(annotation)


def _is_left_out(file: UntrustedFile, index: int, position: int) -> bool:
    document = file.pikepdf()
    listed = document.pages[index].obj.get("/Annots")
    annotation = listed[position] if isinstance(listed, pikepdf.Array) and position < len(listed) else None
    if not isinstance(annotation, pikepdf.Dictionary):
        return False
    appearances = annotation.get("/AP")
    appearance = appearances.get("/N") if isinstance(appearances, pikepdf.Dictionary) else None
    layers = [annotation.get("/OC"), appearance.get("/OC") if isinstance(appearance, pikepdf.Stream) else None]
    return not all(is_layer_printed(layer, document) for layer in layers)


def show_form_fields(document: pypdfium2.PdfDocument) -> None:
    """Make PDFium draw all form fields, as browsers do: even unlisted ones, and in a document without a form. Must
    be called before the first page is opened."""
    if document.formenv is None:
        config = raw.FPDF_FORMFILLINFO(version=2)
        handle = raw.FPDFDOC_InitFormFillEnvironment(document, config)
        if not handle:
            raise pypdfium2.PdfiumError("the form fields of the document cannot be shown")
        document.formenv = pypdfium2.PdfFormEnv(handle, config)
