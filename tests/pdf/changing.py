"""Files that print differently from what they show, or that can change what they show: one of every kind."""

from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Dictionary, Name, String

from tests.pdf.pdf_factory import HELVETICA, Stream, made, paper, text

PRINT, NO_VIEW, TOGGLE_NO_VIEW = 4, 32, 256
PRINT_OFF = Dictionary(Print=Dictionary(PrintState=Name.OFF))
PRINT_ON = Dictionary(Print=Dictionary(PrintState=Name.ON), View=Dictionary(ViewState=Name.OFF))
SCRIPT = Dictionary(S=Name.JavaScript, JS=String("app.alert(1)"))

Prepare = Callable[[pikepdf.Pdf], None]


def contract(prepare: Prepare | None = None, *, pages: int = 1, **others: Any) -> bytes:
    """Return pages that say "I pay", with room for a sum beside it, and "1 EUR" below."""
    return paper(*[text("I pay", 20, 605) + text("1 EUR", 300, 300)] * pages, prepare=prepare, **others)


def annotated(
    flags: int, subtype: str = "Stamp", *, appearance: bool = True, layer: Any = None, off: bool = False, **save: Any
) -> bytes:
    """Return a contract with one annotation on page 1; a widget is a field of the form. ``layer``: the usage of the
    annotation's own layer; ``off``: whether that layer is off."""
    entries: dict[str, Any] = {"Subtype": Name(f"/{subtype}"), "Rect": [60, 600, 260, 620], "F": flags}
    if appearance:
        entries["AP"] = {"N": drawing()}
    if subtype == "Widget":
        entries |= _FIELD

    def prepare(document: pikepdf.Pdf) -> None:
        if layer is not None:
            document.pages[0].obj.Annots[0].OC = group(document, layer)
            if off:
                document.Root.OCProperties.D.OFF = document.Root.OCProperties.OCGs

    return contract(prepare, annotations=[entries], form=_FORM, **save)


_FIELD = {"FT": Name.Tx, "T": "sum", "V": "1,000,000 EUR"}
_FORM = {"DA": "/Helv 9 Tf 0 g", "DR": {"Font": {"Helv": HELVETICA}}}


def drawing(content: str = "", **resources: Any) -> Stream:
    """Return a form XObject that draws ``content``, by default the sum that is really paid."""
    known = {"Font": {"F1": HELVETICA}, **resources}
    drawn = content or text("1,000,000 EUR", 2, 5)
    return Stream(drawn, Type=Name.XObject, Subtype=Name.Form, BBox=[0, 0, 200, 20], Resources=known)


def group(document: pikepdf.Pdf, usage: Any = None, **configuration: Any) -> Any:
    """Add a layer whose usage is applied when the file is shown and when it is printed."""
    made = document.make_indirect(Dictionary(Type=Name.OCG, Name=String("Sum")))
    if usage is not None:
        made.Usage = usage
    applied = [
        Dictionary(Event=Name(f"/{event}"), Category=[Name(f"/{event}")], OCGs=[made]) for event in ("View", "Print")
    ]
    document.Root.OCProperties = Dictionary(OCGs=[made], D=Dictionary(Order=[made], AS=applied, **configuration))
    return made


def layered(usage: Any = None, *, membership: Any = None, on_page: int = 1, pages: int = 2) -> bytes:
    """Marked content in a layer. ``membership``: entries of a membership dictionary around it."""

    def prepare(document: pikepdf.Pdf) -> None:
        layer = group(document, usage)
        if membership is not None:
            layer = document.make_indirect(Dictionary(Type=Name.OCMD, OCGs=[layer], **membership))
        page = document.pages[on_page - 1].obj
        page.Resources.Properties = Dictionary(P=layer)
        marked = b"/OC /P BDC " + text("1,000,000 EUR", 60, 605).encode() + b" EMC"
        page.Contents = document.make_stream(page.Contents.read_bytes() + marked)

    return contract(prepare, pages=pages)


def layer_in_field() -> bytes:
    """Return a contract with a layer inside the appearance of a form field, where PDFium takes no notice of it."""
    content = "/OC /P BDC " + text("1,000,000 EUR", 2, 5) + " EMC"

    def prepare(document: pikepdf.Pdf) -> None:
        drawn = drawing(content, Properties={"P": group(document, PRINT_OFF)})
        document.pages[0].obj.Annots[0].AP = made(document, {"N": drawn})

    entries = {"Subtype": Name.Widget, "Rect": [60, 600, 260, 620], "F": PRINT, **_FIELD}
    return contract(prepare, annotations=[entries], form=_FORM)


def acting(action: Any, where: str) -> bytes:
    """An action of the document (``open``, ``names``), a page (``page``, ``AA``), a link or a field."""
    link = {"Subtype": Name.Link, "Rect": [0, 0, 9, 9], "A": action}
    field = {"Subtype": Name.Widget, "Rect": [9, 9, 99, 29], "F": PRINT, "AA": {"K": action}, **_FIELD}
    places: dict[str, dict[str, Any]] = {
        "open": {"catalog": {"OpenAction": action}},
        "names": {"catalog": {"Names": {"JavaScript": {"Names": ["a", action]}}}},
        "page": {"page": {"AA": {"O": action}}},
        "link": {"annotations": [link]},
        "field": {"annotations": [field], "form": _FORM},
    }
    return contract(**places[where])
