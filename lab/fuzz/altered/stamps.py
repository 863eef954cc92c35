"""The value of an added timestamp: a dictionary that anybody may fill."""

from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import STAMP, add_signature, trusted_token
from lab.fuzz.altered.known import Stream
from lab.fuzz.altered.tail import Tail

Alter = Callable[[Tail, Random], None]
_ENTRIES = {
    "/Reason": b"/Reason(I owe 9,000,000)",
    "/Name": b"/Name(Jonas Brandt)",
    "/Location": b"/Location(Ulm)",
    "/ContactInfo": b"/ContactInfo(x)",
    "/M": b"/M(D:20990101000000Z)",
    "/Prop_Build": b"/Prop_Build<</App<</Name/x>>>>",
    "/Prop_AuthTime": b"/Prop_AuthTime 5",
    "/Reference": b"/Reference[<</Type/SigRef/TransformMethod/DocMDP/TransformParams<</P 3>>>>]",
    "/Reference to fields": b"/Reference[<</Type/SigRef/TransformMethod/FieldMDP/TransformParams<</Action/All>>>>]",
    "/Cert": b"/Cert(x)",
    "/Changes": b"/Changes[1 2 3]",
    "/R": b"/R 1",
    "/V": b"/V 1",
    "an unknown key": b"/Odd 1",
    "an action": b"/AA<<>>",
    "/Type twice": b"/Type/Sig",
    "/SubFilter twice": b"/SubFilter/ETSI.CAdES.detached",
    "/Filter twice": b"/Filter/Nobody",
    "/Type twice, escaped": b"/T#79pe/Sig",
}
_INSTEAD = {
    "of no type": STAMP.replace(b"/Type/DocTimeStamp", b""),
    "of the type of a signature": STAMP.replace(b"/DocTimeStamp", b"/Sig"),
    "of an escaped type": STAMP.replace(b"/DocTimeStamp", b"/DocTime#53tamp"),
    "of another filter": STAMP.replace(b"/Adobe.PPKLite", b"/Nobody"),
    "of no filter": STAMP.replace(b"/Filter/Adobe.PPKLite", b""),
    "of another subfilter": STAMP.replace(b"/ETSI.RFC3161", b"/adbe.pkcs7.detached"),
    "whose type is a string": STAMP.replace(b"/DocTimeStamp", b"(DocTimeStamp)"),
}


def _stamp(tail: Tail, _chance: Random, about: bytes) -> None:
    add_signature(tail, trusted_token, about)


def _direct(tail: Tail, _chance: Random) -> None:
    """Put the value into the field itself, without a reference."""
    number = add_signature(tail)
    value = tail.objects.pop(number - 1)
    body = tail.objects[number]
    assert isinstance(body, bytes) and isinstance(value, bytes)
    tail.objects[number] = body.replace(b"/V %d 0 R" % (number - 1), b"/V " + value)


def _range(tail: Tail, _chance: Random, old: bytes, new: bytes) -> None:
    """Respell the byte range before it is signed."""
    add_signature(tail)
    tail.all_texts.append(lambda text: text.replace(old, new, 1))


def _padded(tail: Tail, _chance: Random, padding: bytes) -> None:
    """Put more than the signature's value into the gap of the byte range."""
    add_signature(tail)
    tail.padding = padding


def _values(tail: Tail, _chance: Random) -> None:
    """Use one value for two fields, the second of which is visible."""
    number = add_signature(tail)
    looks = tail.add(Stream(b"/Type/XObject/Subtype/Form/BBox[0 0 99 99]", b"1 0 0 rg 0 0 99 99 re f"))
    more = b"<</FT/Sig/T(Second)/V %d 0 R/Type/Annot/Subtype/Widget/F 4/Rect[90 690 300 720]/AP<</N %d 0 R>>>>"
    second = tail.add(more % (number - 1, looks))
    tail.add_field(second)
    tail.annotate(second)


def _two_pages(tail: Tail, _chance: Random) -> None:
    """List the widget on every page."""
    number = add_signature(tail)
    for page in range(1, len(tail.known.pages)):
        tail.annotate(number, page)


def _unlisted(tail: Tail, _chance: Random) -> None:
    """Leave the timestamp's field out of the form's list of fields."""
    items = list(tail.arrays["fields"])
    add_signature(tail)
    tail.form.set(b"/Fields", b"[" + b" ".join(items) + b"]")


def _twice(tail: Tail, _chance: Random) -> None:
    """List the widget twice on its page."""
    tail.annotate(add_signature(tail))


def _with_page(tail: Tail, _chance: Random) -> None:
    """Forge the content of the page that lists the widget."""
    add_signature(tail)
    tail.page.set(b"/Contents", b"%d 0 R" % tail.add(tail.known.forged))


def _with_everything(tail: Tail, chance: Random) -> None:
    """Change content and form in the revision of the timestamp itself."""
    _with_page(tail, chance)
    tail.form.set(b"/NeedAppearances", b"true")


FREEDOMS: dict[str, Alter] = {
    **{f"a timestamp with {name}": partial(_stamp, about=STAMP + entries) for name, entries in _ENTRIES.items()},
    **{f"a timestamp {name}": partial(_stamp, about=about) for name, about in _INSTEAD.items()},
    **{
        f"a byte range {name}": partial(_range, old=old, new=new)
        for name, old, new in (
            ("with a sign", b"/ByteRange [0 ", b"/ByteRange [+0 "),
            ("in other letters", b"/ByteRange ", b"/Byte#52ange "),
            ("twice", b"/ByteRange [", b"/ByteRange [0 1 2 3]/ByteRange ["),
            ("with a point", b"/ByteRange [0 ", b"/ByteRange [0. "),
        )
    },
    **{
        f"a value {name}": partial(_padded, padding=padding)
        for name, padding in (
            ("with a comment behind it", b"%/Contents"),
            ("with capital letters behind it", b"0A"),
            ("with spaces in it", b"   "),
            ("with another string behind it", b">/X<00"),
        )
    },
    "a timestamp that is direct": _direct,
    "a timestamp for two fields": _values,
    "a timestamp on every page": _two_pages,
    "a timestamp that the form does not list": _unlisted,
    "a timestamp listed twice": _twice,
    "a timestamp beside a forged page": _with_page,
    "a timestamp beside a forged page and form": _with_everything,
}
