"""Forms and fields: what a signature or a timestamp may add to them, and what it must not."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import SIGNATURE, STAMP, add_signature, by_stranger, rubbish, trusted_token
from lab.fuzz.altered.known import Pairs, Stream
from lab.fuzz.altered.spelling import opaque
from lab.fuzz.altered.tail import Tail

Alter = Callable[[Tail, Random], None]
OVER_TEXT = b"[90 690 300 720]"


def _looks(tail: Tail, pairs: Pairs) -> None:
    pairs.set(b"/Rect", OVER_TEXT)
    pairs.set(b"/AP", b"<</N %d 0 R>>" % opaque(tail))


def new_field(tail: Tail, name: bytes, kind: bytes = b"/Tx", **more: bytes) -> int:
    """Add a visible field over the text and return its object number."""
    pairs = Pairs([(b"/FT", kind), (b"/T", name), (b"/Type", b"/Annot"), (b"/Subtype", b"/Widget"), (b"/F", b"4")])
    pairs.append((b"/P", b"%d 0 R" % tail.known.pages[0]))
    _looks(tail, pairs)
    for key, value in more.items():
        pairs.set(b"/" + key.encode(), value)
    number = tail.add(pairs.text())
    tail.add_field(number)
    tail.annotate(number)
    return number


def _new(tail: Tail, _chance: Random, name: bytes, kind: bytes = b"/Tx") -> None:
    new_field(tail, name, kind)


def _field_named(tail: Tail, _chance: Random, first: bytes, second: bytes) -> None:
    """Add a visible field, and an invisible timestamp whose name is displayed like that of the field."""
    new_field(tail, first, b"/Sig")
    add_signature(tail, name=second)


def _in_two_revisions(tail: Tail, _chance: Random, first: bytes, second: bytes) -> None:
    _field_named(tail, _chance, first, second)


def _signature_at(tail: Tail, _chance: Random, sign: Callable[[bytes], bytes], about: bytes, rect: bytes) -> None:
    """Add a signature or timestamp with an appearance."""

    def change(pairs: Pairs) -> None:
        _looks(tail, pairs)
        pairs.set(b"/Rect", rect)

    add_signature(tail, sign, about, change=change)


def _rect_by_references(tail: Tail, _chance: Random, sign: Callable[[bytes], bytes], about: bytes) -> None:
    numbers = [tail.add(b"%d" % number) for number in (90, 690, 300, 720)]
    rect = b"[" + b" ".join(b"%d 0 R" % number for number in numbers) + b"]"
    _signature_at(tail, _chance, sign, about, rect)


def _widget_entry(tail: Tail, _chance: Random, key: bytes, value: bytes, rect: bytes | None = None) -> None:
    """Add a timestamp whose field has one more entry."""

    def change(pairs: Pairs) -> None:
        pairs.set(key, value)
        if rect:
            pairs.set(b"/Rect", rect)

    add_signature(tail, change=change)


def _kids(tail: Tail, _chance: Random) -> None:
    """Make the timestamp's widget a separate, visible kid of its field."""
    kid = Pairs([(b"/Type", b"/Annot"), (b"/Subtype", b"/Widget"), (b"/F", b"4")])
    _looks(tail, kid)
    number = tail.add(kid.text())
    tail.annotate(number)
    add_signature(tail, change=lambda pairs: pairs.set(b"/Kids", b"[%d 0 R]" % number))


def _inherited(tail: Tail, _chance: Random) -> None:
    """Add a visible kid that inherits type and value from its parent."""
    value = tail.add(b"<</Type/Sig>>")
    parent = tail.size + 1
    kid = Pairs([(b"/Type", b"/Annot"), (b"/Subtype", b"/Widget"), (b"/F", b"4"), (b"/Parent", b"%d 0 R" % parent)])
    _looks(tail, kid)
    number = tail.add(kid.text())
    tail.put(parent, b"<</FT/Sig/T(Inherited)/V %d 0 R/Kids[%d 0 R]>>" % (value, number))
    tail.add_field(parent)
    tail.annotate(number)


def _below_the_seal(tail: Tail, _chance: Random) -> None:
    """Add one more widget to the seal's field."""
    seal = tail.known.seals[0]
    kid = Pairs([(b"/Type", b"/Annot"), (b"/Subtype", b"/Widget"), (b"/F", b"4"), (b"/Parent", b"%d 0 R" % seal)])
    _looks(tail, kid)
    number = tail.add(kid.text())
    tail.change(seal).set(b"/Kids", b"[%d 0 R]" % number)
    tail.annotate(number)


def _of_seal(tail: Tail, _chance: Random, key: bytes, value: bytes, which: int = 0) -> None:
    """Set an entry in the field of the first seal, or in the newest signature field (``which`` -1)."""
    tail.change(tail.known.seals[which]).set(key, value)


def _seal_looks(tail: Tail, _chance: Random, which: int = 0) -> None:
    _looks(tail, tail.change(tail.known.seals[which]))


def _entry_of_form(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.form.set(key, value)


def _resources_of_form(tail: Tail, _chance: Random) -> None:
    font = tail.add(b"<</Type/Font/Subtype/Type3/FontBBox[0 0 9 9]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 0"
                    b"/LastChar 0/Widths[0]/CharProcs<<>>/Encoding<</Differences[]>>>>")  # fmt: skip
    tail.form.set(b"/DR", b"<</Font<</Helv %d 0 R/F1 %d 0 R>>>>" % (font, font))


def _no_form(tail: Tail, _chance: Random) -> None:
    tail.root.drop(b"/AcroForm")


def _other_fields(tail: Tail, chance: Random, how: str) -> None:
    """Reorder the list of fields, shorten it, or repeat a field."""
    items = list(tail.arrays["fields"])
    if how == "reversed":
        items.reverse()
    elif how == "doubled":
        items.append(items[-1])
    elif how == "without the first":
        items = items[1:]
    elif how == "nothing":
        items = []
    tail.form.set(b"/Fields", b"[" + b" ".join(items) + b"]")


def _filled(tail: Tail, _chance: Random, entries: bytes, words: bytes) -> None:
    """Change the value of the first field of the form."""
    field = tail.change(tail.known.fields[0])
    field.set(b"/V", b"(9,000,000)")
    if entries:
        field.set(b"/Ff", entries)
    if words:
        field.set(b"/AP", b"<</N %d 0 R>>" % opaque(tail, words))


def _of_first_field(tail: Tail, _chance: Random, key: bytes, value: bytes) -> None:
    tail.change(tail.known.fields[0]).set(key, value)


def _appearance_stream(tail: Tail, _chance: Random) -> None:
    """Overwrite the appearance stream of the first field."""
    number = int(tail.known.objects[tail.known.fields[0]].get(b"/AP", b"<</N 1 0 R>>").split(b"/N")[1].split()[0])
    looks = b"/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font<</F1<</Type/Font/Subtype/Type1"
    tail.put(number, Stream(looks + b"/BaseFont/Helvetica>>>>>>", b"BT /F1 12 Tf 2 5 Td (9,000,000) Tj ET"))


def _names_that_look_alike() -> dict[str, tuple[bytes, bytes]]:
    return {
        "names told alike: U+FFFD and a bell": (b"<FEFF0041FFFD>", b"(A\x07)"),
        "names told alike: two control characters": (b"(A\x01)", b"(A\x02)"),
        "names told alike: 127 and 128 letters": (b"(" + b"x" * 127 + b")", b"(" + b"x" * 128 + b")"),
        "names told alike: cut at 127": (b"(" + b"x" * 127 + b"a)", b"(" + b"x" * 127 + b"b)"),
        "names told alike: UTF-16 and PDFDocEncoding": (b"<FEFF0041>", b"(A)"),
        "names told alike: UTF-8 and PDFDocEncoding": (b"<EFBBBF41>", b"(A)"),
        "names told alike: an empty one and none": (b"()", b"(\x00)"),
        "names told alike: a line separator": (b"<FEFF00412028>", b"<FEFF00412029>"),
        "names told alike: a lone surrogate": (b"<FEFFD8000041>", b"<FEFFFFFD0041>"),
        "names told alike: the seal's": (b"(Seal)", b"(Seal\x07)"),
        "names told alike: a dot": (b"(A.B)", b"(A)"),
    }


_SIGNED = {
    "a trusted timestamp": (trusted_token, STAMP),
    "a stranger's signature": (by_stranger, SIGNATURE),
    "rubbish": (rubbish, SIGNATURE),
}
_RECTANGLES = {
    "over the text": OVER_TEXT,
    "the wrong way round": b"[300 720 90 690]",
    "in reals": b"[90.0 690.0 300.0 720.0]",
    "narrow": b"[90 690 90.001 690.001]",
    "without area": b"[90 690 90 690]",
    "of five numbers": b"[90 690 300 720 0]",
    "with a sign": b"[+90 +690 +300 +720]",
}
_WIDGET: dict[str, tuple[bytes, bytes, bytes | None]] = {
    "a border in /MK": (b"/MK", b"<</BC[1 0 0]/BG[1 1 1]>>", OVER_TEXT),
    "a border in /MK, nowhere": (b"/MK", b"<</BC[1 0 0]>>", None),
    "/BS": (b"/BS", b"<</W 9/S/S>>", OVER_TEXT),
    "/Border": (b"/Border", b"[0 0 9]", OVER_TEXT),
    "/AA": (b"/AA", b"<</PO<</S/JavaScript/JS(app.alert\\(1\\))>>>>", None),
    "/A": (b"/A", b"<</S/URI/URI(https://example.com/)>>", None),
    "/Lock": (b"/Lock", b"<</Type/SigFieldLock/Action/All>>", None),
    "/SV": (b"/SV", b"<</Type/SV/Ff 1/SubFilter[/adbe.pkcs7.detached]>>", None),
    "/OC": (b"/OC", b"<</Type/OCG/Name(x)>>", None),
    "/H": (b"/H", b"/P", None),
    "/F of nothing": (b"/F", b"0", OVER_TEXT),
    "/F hidden": (b"/F", b"2", None),
    "/Ff read-only": (b"/Ff", b"1", None),
    "/TU": (b"/TU", b"(I owe 9,000,000)", None),
    "/TM": (b"/TM", b"(other)", None),
    "/DA": (b"/DA", b"(/Helv 0 Tf 1 0 0 rg)", OVER_TEXT),
    "/DV": (b"/DV", b"<</Type/Sig>>", None),
    "/Contents": (b"/Contents", b"(I owe 9,000,000)", OVER_TEXT),
    "/Parent": (b"/Parent", b"1 0 R", None),
    "an empty /AP": (b"/AP", b"<<>>", None),
    "/AP with a reference to nothing": (b"/AP", b"<</N 9999 0 R>>", OVER_TEXT),
    "/AP with states": (b"/AP", b"<</N<</Yes 9999 0 R>>>>", OVER_TEXT),
    "/AS": (b"/AS", b"/Yes", None),
    "/P of another page": (b"/P", b"2 0 R", None),
    "a rectangle without /AP": (b"/Rect", OVER_TEXT, None),
    "a rectangle of five zeros": (b"/Rect", b"[0 0 0 0 0]", None),
    "a rectangle of minus nothing": (b"/Rect", b"[-0 -0 -0 -0]", None),
    "a rectangle by reference": (b"/Rect", b"9 0 R", None),
    "a subtype that is none": (b"/Subtype", b"/Stamp", OVER_TEXT),
    "a popup": (b"/Popup", b"<</Type/Annot/Subtype/Popup/Rect[0 0 300 300]/Open true>>", None),
    "an unknown key": (b"/Odd", b"(value)", None),
    "/T as a name": (b"/T", b"/Attack", None),
    "no name": (b"/T", b"null", None),
    "/NM": (b"/NM", b"(x)", None),
    "/MP": (b"/MEOptions", b"1", None),
    "/StructParent": (b"/StructParent", b"1", None),
    "/AF": (b"/AF", b"[]", None),
    "/BM": (b"/BM", b"/Multiply", None),
}
_FORM: dict[str, tuple[bytes, bytes]] = {
    "/DA": (b"/DA", b"(/Helv 60 Tf 1 0 0 rg)"),
    "/DA empty": (b"/DA", b"()"),
    "/Q": (b"/Q", b"2"),
    "/NeedAppearances": (b"/NeedAppearances", b"true"),
    "/NeedAppearances false": (b"/NeedAppearances", b"false"),
    "/XFA": (b"/XFA", b"[(template) 9999 0 R]"),
    "/SigFlags 0": (b"/SigFlags", b"0"),
    "/SigFlags 1": (b"/SigFlags", b"1"),
    "/SigFlags as a real": (b"/SigFlags", b"3.0"),
    "/SigFlags 7": (b"/SigFlags", b"7"),
    "/CO": (b"/CO", b"[1 0 R]"),
    "an empty /DR": (b"/DR", b"<<>>"),
    "/DR null": (b"/DR", b"null"),
    "an unknown key": (b"/Odd", b"1"),
}

FREEDOMS: dict[str, Alter] = {
    **{
        name: partial(_field_named, first=first, second=second)
        for name, (first, second) in _names_that_look_alike().items()
    },
    **{
        f"{who} with a rectangle {where}": partial(_signature_at, sign=sign, about=about, rect=rect)
        for who, (sign, about) in _SIGNED.items()
        for where, rect in _RECTANGLES.items()
    },
    **{
        f"{who} with a rectangle of references": partial(_rect_by_references, sign=sign, about=about)
        for who, (sign, about) in _SIGNED.items()
    },
    **{
        f"a timestamp's field: {name}": partial(_widget_entry, key=key, value=value, rect=rect)
        for name, (key, value, rect) in _WIDGET.items()
    },
    **{
        f"the seal's field: {name}": partial(_of_seal, key=key, value=value)
        for name, (key, value, rect) in _WIDGET.items()
        if rect or key in (b"/AA", b"/Lock", b"/Ff", b"/TU", b"/OC", b"/F")
    },
    **{
        f"the newest field: {name}": partial(_of_seal, key=key, value=value, which=-1)
        for name, (key, value, rect) in _WIDGET.items()
    },
    **{f"the form: {name}": partial(_entry_of_form, key=key, value=value) for name, (key, value) in _FORM.items()},
    "the form: /DR with another font": _resources_of_form,
    "the form is gone": _no_form,
    "the fields: in reverse": partial(_other_fields, how="reversed"),
    "the fields: one twice": partial(_other_fields, how="doubled"),
    "the fields: without the first": partial(_other_fields, how="without the first"),
    "the fields: none": partial(_other_fields, how="nothing"),
    "the seal's field has another picture": _seal_looks,
    "the newest field has a picture": partial(_seal_looks, which=-1),
    "the seal's field is renamed": partial(_of_seal, key=b"/T", value=b"(Other)"),
    "the newest field is renamed": partial(_of_seal, key=b"/T", value=b"(Other)", which=-1),
    "a widget more of the seal's": _below_the_seal,
    "a visible field Archive\\ufffd": partial(_new, name=b"<FEFF0041007200630068006900760065FFFD>", kind=b"/Sig"),
    "a visible field of 127 x": partial(_new, name=b"(" + b"x" * 127 + b")", kind=b"/Sig"),
    "a text field": partial(_new, name=b"(New)"),
    "a signature field without a value": partial(_new, name=b"(New)", kind=b"/Sig"),
    "a button": partial(_new, name=b"(New)", kind=b"/Btn"),
    "a field without a type": partial(_new, name=b"(New)", kind=b"null"),
    "a timestamp's visible kid": _kids,
    "a signature that is inherited": _inherited,
    "the first field is filled": partial(_filled, entries=b"", words=b""),
    "the first field is filled, and shows it": partial(_filled, entries=b"", words=b"9,000,000"),
    "the first field is a password": partial(_filled, entries=b"8192", words=b""),
    "the first field is multiline": partial(_of_first_field, key=b"/Ff", value=b"4096"),
    "the first field is a comb": partial(_of_first_field, key=b"/Ff", value=b"16777216"),
    "the first field is read-only": partial(_of_first_field, key=b"/Ff", value=b"1"),
    "the first field is centred": partial(_of_first_field, key=b"/Q", value=b"2"),
    "the first field is hidden": partial(_of_first_field, key=b"/F", value=b"2"),
    "the first field is in a layer": partial(_of_first_field, key=b"/OC", value=b"<</Type/OCG/Name(x)>>"),
    "the first field has a maximum": partial(_of_first_field, key=b"/MaxLen", value=b"1"),
    "the first field moves": partial(_of_first_field, key=b"/Rect", value=b"[300 600 500 620]"),
    "the first field has another font": partial(_of_first_field, key=b"/DA", value=b"(/Helv 40 Tf 1 0 0 rg)"),
    "the first field's picture": _appearance_stream,
}
