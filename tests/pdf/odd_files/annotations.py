"""Forms, annotations and layers: what is drawn depends on the reader, and on whether it shows or prints."""

from random import Random

from tests.pdf.odd_files.papers import COLOURS, Raw, filled, page, page_number, promise, some

_NOTE, _LOOK, _OTHER_LOOK, _LAYER = 50, 51, 52, 53
_LAYERED = b"/OCProperties<</OCGs[%d 0 R]/D<<%b>>>>"


def free_text(chance: Random) -> bytes:
    style = chance.choice([b"/DA(/Helv 24 Tf 0 0 1 rg)", b"/DA(0 g /F1 24 Tf)/C[1 1 0]", b""])
    return _annotated(chance, b"/Subtype/FreeText/Contents(And 1,000 EUR more)%b" % style)


def shape(chance: Random) -> bytes:
    shapes = [b"/Square/IC[0 0 1]", b"/Circle/C[0 0 1]", b"/Line/L[60 500 300 560]", b"/Highlight", b"/Ink"]
    kind = chance.choice(shapes)
    quads = b"/QuadPoints[60 560 300 560 60 500 300 500]/InkList[[60 500 200 560 300 500]]"
    return _annotated(chance, b"/Subtype%b%b/C[1 0.5 0]" % (kind, quads))


def text_field(chance: Random) -> bytes:
    flag = chance.choice([b"/NeedAppearances true", b"", b"/NeedAppearances false"])
    form = b"/AcroForm<</Fields[%d 0 R]%b/DA(/Helv 24 Tf 0 g)/DR<</Font<</Helv 3 0 R>>>>>>" % (_NOTE, flag)
    field = b"/Subtype/Widget/FT/Tx/T(amount)/V(I pay 300 EUR)/DA(/Helv 24 Tf 0 0 1 rg)"
    return _annotated(chance, field, catalog=form)


def check_box(chance: Random) -> bytes:
    """A button whose state differs from its value, or has no appearance."""
    state = chance.choice([b"/AS/Yes/V/Off", b"/AS/Off/V/Yes", b"/V/Yes", b"/AS/Gone/V/Yes"])
    form = b"/AcroForm<</Fields[%d 0 R]>>" % _NOTE
    looks = b"/AP<</N<</Yes %d 0 R/Off %d 0 R>>>>" % (_LOOK, _OTHER_LOOK)
    return _annotated(chance, b"/Subtype/Widget/FT/Btn/T(agreed)%b%b" % (state, looks), catalog=form)


def printed_alone(chance: Random) -> bytes:
    """An annotation with flags for print, for the screen, or for neither."""
    flags = chance.choice([4 | 32, 32, 2, 4 | 2, 0, 4, 1, 4 | 64])
    kind = chance.choice([b"/Stamp", b"/Square", b"/FreeText"])
    return _annotated(chance, b"/Subtype%b/F %d/AP<</N %d 0 R>>" % (kind, flags, _LOOK))


def on_top(chance: Random) -> bytes:
    """An annotation as large as the page, above everything."""
    kind = chance.choice([b"/Stamp", b"/Square", b"/Widget/FT/Tx/T(all)", b"/Watermark", b"/Link", b"/Popup"])
    return _annotated(chance, b"/Subtype%b/F 4/AP<</N %d 0 R>>" % (kind, _LOOK), rect=b"[0 0 595 842]")


def for_print_or_view(chance: Random) -> bytes:
    """Contents in a layer that the viewer switches on or off to show or to print (/AS)."""
    kinds = [b"/Print<</PrintState/ON>>/View<</ViewState/OFF>>", b"/View<</ViewState/ON>>/Print<</PrintState/OFF>>"]
    usage = chance.choice(kinds)
    automatic = b"/AS[<</Event/View/Category[/View]/OCGs[%d 0 R]>><</Event/Print/Category[/Print]/OCGs[%d 0 R]>>]"
    state = automatic % (_LAYER, _LAYER) + chance.choice([b"", b"/BaseState/OFF", b"/OFF[%d 0 R]" % _LAYER])
    return _in_layer(chance, state, b"/Usage<<%b>>" % usage)


def switched_off(chance: Random) -> bytes:
    """Contents or an annotation in a layer that is off."""
    state = chance.choice([b"/OFF[%d 0 R]", b"/BaseState/OFF/ON[]", b"/BaseState/OFF/ON[%d 0 R]", b"/Order[%d 0 R]"])
    return _in_layer(chance, state % _LAYER if b"%d" in state else state, b"")


def form_without_fields(chance: Random) -> bytes:
    """An odd /AcroForm: empty, null, or without proper fields."""
    kinds = [b"<<>>", b"<</Fields null>>", b"<</Fields 3>>", b"null", b"99 0 R", b"<</Fields[99 0 R null]>>"]
    form = chance.choice(kinds)
    return bytes(filled(Raw(), [promise(some(chance, 1)[0])], catalog=b"/AcroForm " + form).close())


def _in_layer(chance: Random, state: bytes, usage: bytes) -> bytes:
    one, other = some(chance, 2)
    inside = b"/OC /Layer BDC\n" + promise(other, 650) + b"\nEMC\n"
    entries = b"/Properties<</Layer %d 0 R>>|" % _LAYER
    raw = filled(Raw(), [inside + promise(one)], entries=entries, catalog=_LAYERED % (_LAYER, state))
    raw.put(_LAYER, b"<</Type/OCG/Name(layer)%b>>" % usage)
    if chance.random() < 0.4:
        look = b"/Subtype/Stamp/F 4/OC %d 0 R/AP<</N %d 0 R>>" % (_LAYER, _LOOK)
        raw.put(page_number(0), page(0, entries + b"/Annots[<</Type/Annot/Rect[60 200 300 260]%b>>]" % look))
        _looks(raw, chance)
    return bytes(raw.close())


def _annotated(chance: Random, entries: bytes, *, catalog: bytes = b"", rect: bytes = b"[60 500 300 560]") -> bytes:
    raw = filled(Raw(), [promise(some(chance, 1)[0], 300)], catalog=catalog)
    raw.put(page_number(0), page(0, b"/Annots[%d 0 R]" % _NOTE))
    raw.put(_NOTE, b"<</Type/Annot/Rect%b/P %d 0 R%b>>" % (rect, page_number(0), entries))
    return bytes(_looks(raw, chance).close())


def _looks(raw: Raw, chance: Random) -> Raw:
    for number, which in zip((_LOOK, _OTHER_LOOK), some(chance, 2), strict=True):
        red, green, blue = (value / 255 for value in COLOURS[which])
        look = b"%.4f %.4f %.4f rg 0 0 240 60 re f" % (red, green, blue)
        raw.stream(number, look, b"/Type/XObject/Subtype/Form/BBox[0 0 240 60]")
    return raw


CLASSES = {
    "annotations: FreeText without an appearance": free_text,
    "annotations: shape without an appearance": shape,
    "annotations: field without an appearance": text_field,
    "annotations: check box": check_box,
    "annotations: for print or view": printed_alone,
    "annotations: above the whole page": on_top,
    "layers: for print or view": for_print_or_view,
    "layers: switched off": switched_off,
    "forms: odd /AcroForm": form_without_fields,
}
