"""Files that print differently than they are shown, or that can change what they show: one of every way."""

from collections.abc import Callable
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from tests.pdf.pdf_factory import paper, text

PRINT, NO_VIEW, TOGGLE_NO_VIEW = 4, 32, 256
PRINT_OFF = Dictionary(Print=Dictionary(PrintState=Name.OFF))
PRINT_ON = Dictionary(Print=Dictionary(PrintState=Name.ON), View=Dictionary(ViewState=Name.OFF))
SCRIPT = Dictionary(S=Name.JavaScript, JS=String("app.alert(1)"))

Prepare = Callable[[pikepdf.Pdf], None]


def contract(prepare: Prepare | None = None, *, pages: int = 1, **save: Any) -> bytes:
    """Pages that say what is paid."""
    return paper(*[text("I pay", 20, 605) + text("1 EUR", 300, 300)] * pages, prepare=prepare, **save)


def annotated(flags: int, subtype: str = "Stamp", *, appearance: bool = True, layer: Any = None, **save: Any) -> bytes:
    """One annotation on page 1; a widget is the field of a form. ``layer``: the usage of its own layer."""

    def prepare(document: pikepdf.Pdf) -> None:
        annotation = document.make_indirect(
            Dictionary(Type=Name.Annot, Subtype=Name(f"/{subtype}"), Rect=[60, 600, 260, 620], F=flags)
        )
        if appearance:
            annotation.AP = Dictionary(N=drawing(document))
        if layer is not None:
            annotation.OC = group(document, layer)
        if subtype == "Widget":
            make_field(document, annotation)
        document.pages[0].obj.Annots = Array([annotation])

    return contract(prepare, **save)


def make_field(document: pikepdf.Pdf, widget: Any) -> None:
    widget.FT, widget.T, widget.V = Name.Tx, String("sum"), String("1,000,000 EUR")
    fonts = Dictionary(Helv=document.pages[0].obj.Resources.Font.F1)
    document.Root.AcroForm = Dictionary(Fields=[widget], DA=String("/Helv 9 Tf 0 g"), DR=Dictionary(Font=fonts))


def drawing(document: pikepdf.Pdf, content: str = "", **resources: Any) -> Any:
    """A form XObject that says what is paid in truth."""
    fonts = Dictionary(F1=document.pages[0].obj.Resources.Font.F1)
    form = document.make_stream((content or text("1,000,000 EUR", 2, 5)).encode())
    form.Type, form.Subtype, form.BBox = Name.XObject, Name.Form, Array([0, 0, 200, 20])
    form.Resources = Dictionary(Font=fonts, **resources)
    return form


def group(document: pikepdf.Pdf, usage: Any = None, **configuration: Any) -> Any:
    """A layer, with its usage applied when the file is shown and when it is printed."""
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
    """The layer is within what a form field draws, where PDFium takes no notice of it."""

    def prepare(document: pikepdf.Pdf) -> None:
        content = "/OC /P BDC " + text("1,000,000 EUR", 2, 5) + " EMC"
        widget = document.make_indirect(
            Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=[60, 600, 260, 620], F=PRINT)
        )
        widget.AP = Dictionary(N=drawing(document, content, Properties=Dictionary(P=group(document, PRINT_OFF))))
        make_field(document, widget)
        document.pages[0].obj.Annots = Array([widget])

    return contract(prepare)


def acting(action: Any, where: str) -> bytes:
    """An action of the document (``open``, ``names``), a page (``page``, ``AA``), a link or a field."""

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        link = Dictionary(Type=Name.Annot, Subtype=Name.Link, Rect=[0, 0, 9, 9])
        if where == "open":
            document.Root.OpenAction = action
        elif where == "names":
            document.Root.Names = Dictionary(JavaScript=Dictionary(Names=[String("a"), action]))
        elif where == "page":
            page.AA = Dictionary(O=action)
        elif where == "link":
            page.Annots = Array([document.make_indirect(Dictionary({**link, "/A": action}))])
        else:
            widget = document.make_indirect(
                Dictionary(Type=Name.Annot, Subtype=Name.Widget, Rect=[9, 9, 99, 29], F=PRINT, AA=Dictionary(K=action))
            )
            make_field(document, widget)
            page.Annots = Array([widget])

    return contract(prepare)
