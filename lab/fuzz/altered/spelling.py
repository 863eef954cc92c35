"""Numbers, names, strings and references spelt so that readers take them differently."""

import re
from collections.abc import Callable
from functools import partial
from random import Random

from lab.fuzz.altered.covers import add_signature
from lab.fuzz.altered.known import NotHere, Pairs, Stream, number_of
from lab.fuzz.altered.tail import Tail
from lab.fuzz.altered.trailers import forged_page

Alter = Callable[[Tail, Random], None]
_NUMBERS: dict[str, Callable[[bytes], bytes]] = {
    "a sign": lambda text: b"+" + text,
    "a point": lambda text: text + b".",
    "a zero before": lambda text: b"0" + text,
    "a fraction": lambda text: text + b".0",
    "two signs": lambda text: b"--" + text,
    "a minus within": lambda text: text + b"-5",
    "an exponent": lambda text: text + b"e0",
    "a length beyond 32 bits": lambda text: b"%d" % (int(text) + 2**32),
    "a length beyond 64 bits": lambda text: b"%d" % (int(text) + 2**64),
    "many zeros": lambda text: b"0" * 300 + text,
    "a base": lambda text: b"16#" + text,
    "minus nothing": lambda text: b"-0" if text == b"0" else text + b".000",
}
_KEYS: dict[str, tuple[bytes, bytes]] = {
    "Contents": (b"/Contents", b"/Con#74ents"),
    "Annots": (b"/Annots", b"/Ann#6fts"),
    "Resources": (b"/Resources", b"/Resource#73"),
    "MediaBox": (b"/MediaBox", b"/M#65diaBox"),
    "Rotate": (b"/Rotate", b"/Rotat#65"),
    "Type": (b"/Type", b"/T#79pe"),
    "Parent": (b"/Parent", b"/P#61rent"),
}
_CATALOG: dict[str, tuple[bytes, bytes]] = {
    "Pages": (b"/Pages", b"/P#61ges"),
    "AcroForm": (b"/AcroForm", b"/Acro#46orm"),
    "DSS": (b"/DSS", b"/#44SS"),
    "Type": (b"/Type", b"/#54ype"),
    "OCProperties": (b"/OCProperties", b"/OCPropertie#73"),
}
_WHOLE = re.compile(rb"(?<![^\s\[])\d+(?=[\s\]>/]|$)(?!\s+\d+\s+R)(?!\s+R)")


def _number(tail: Tail, chance: Random, spell: Callable[[bytes], bytes]) -> None:
    """Respell one number in the page's dictionary or in the catalog."""
    tail.page.set(b"/StructParents", b"3")
    for owner in (tail.page, tail.root):
        numbers = [position for position, (_, value) in enumerate(owner) if value.isdigit()]
        if numbers:
            key, value = owner[position := chance.choice(numbers)]
            owner[position] = (key, spell(value))
            return


def _reference(tail: Tail, chance: Random, form: Callable[[bytes], bytes]) -> None:
    """Respell one reference of the page."""
    page = tail.page
    plain = [at for at, (_, value) in enumerate(page) if re.fullmatch(rb"\d+ 0 R", value)]
    if not plain:
        raise NotHere("a reference that is spelt plainly")
    position = chance.choice(plain)
    key, value = page[position]
    page[position] = (key, form(value))


def _forged(tail: Tail, name: str) -> bytes:
    """Return a value for the key that changes what readers show."""
    if name == "Contents":
        return b"%d 0 R" % tail.add(tail.known.forged)
    if name == "Annots":
        return b"[%d 0 R]" % tail.add(_stamp(tail))
    if name == "Pages":
        return b"%d 0 R" % tail.add(b"<</Type/Pages/Count 1/Kids[%b]>>" % forged_page(tail))
    others = {
        "Resources": b"<<>>",
        "MediaBox": b"[0 700 595 842]",
        "Rotate": b"90",
        "Type": b"/Pages",
        "Parent": b"%d 0 R" % tail.known.root,
        "AcroForm": b"<<>>",
        "DSS": b"<<>>",
        "OCProperties": b"<<>>",
    }
    return others[name]


def _stamp(tail: Tail) -> bytes:
    return b"<</Type/Annot/Subtype/Stamp/F 4/Rect[90 690 300 720]/AP<</N %d 0 R>>>>" % opaque(tail)


def opaque(tail: Tail, words: bytes = b"9,000,000 EUR") -> int:
    """Add an appearance that covers what is below it, and return its object number."""
    font = b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"
    drawn = b"1 1 0.9 rg 0 0 210 30 re f 0 g BT /F1 12 Tf 10 10 Td (I owe %b) Tj ET" % words
    return tail.add(Stream(b"/Type/XObject/Subtype/Form/BBox[0 0 210 30]" + font, drawn))


def _twice(tail: Tail, _chance: Random, where: str, name: str, order: str) -> None:
    """Add a second, forged entry for a key, escaped or plain."""
    owner = tail.page if where == "page" else tail.root
    key, escaped = (_KEYS if where == "page" else _CATALOG)[name]
    if name == "Rotate":
        owner.set(key, b"0")
    if not owner.get(key):
        raise NotHere(key)
    value = _forged(tail, name)
    _put_twice(owner, key, escaped, value, order)


def _put_twice(owner: Pairs, key: bytes, escaped: bytes, value: bytes, order: str) -> None:
    spelt = key if "plain" in order else escaped
    if order.endswith("first"):
        owner.insert(0, (spelt, value))
    elif order.endswith("alone"):
        owner.drop(key)
        owner.append((escaped, value))
    else:
        owner.append((spelt, value))


def _tree_twice(tail: Tail, _chance: Random, order: str) -> None:
    """Put /K#69ds beside /Kids in the page tree."""
    parent = number_of(tail.page.get(b"/Parent"))
    _put_twice(tail.change(parent), b"/Kids", b"/K#69ds", b"[%b]" % forged_page(tail), order)


def _count_twice(tail: Tail, _chance: Random, order: str) -> None:
    parent = number_of(tail.page.get(b"/Parent"))
    _put_twice(tail.change(parent), b"/Count", b"/Coun#74", b"1", order)


def _fields_twice(tail: Tail, _chance: Random, order: str) -> None:
    _put_twice(tail.form, b"/Fields", b"/F#69elds", b"[]", order)


def _value_twice(tail: Tail, _chance: Random, order: str) -> None:
    """Add a second /V to the seal's field."""
    _put_twice(tail.change(tail.known.seals[0]), b"/V", b"/#56", b"<</Type/Sig>>", order)


def _name_value(tail: Tail, _chance: Random, value: bytes) -> None:
    tail.page.set(b"/Type", value)


def _nul_name(tail: Tail, _chance: Random, key: bytes) -> None:
    tail.page.append((key, _forged(tail, "Contents")))


def _string(tail: Tail, _chance: Random, value: bytes) -> None:
    tail.root.set(b"/Lang", value)


def _direct(tail: Tail, _chance: Random) -> None:
    """Replace a direct /MediaBox by a reference to another box."""
    box = tail.add(b"[0 700 595 842]")
    tail.page.set(b"/MediaBox", b"%d 0 R" % box)


def _chain(tail: Tail, _chance: Random) -> None:
    """Reach the forged content through a chain of references."""
    forged = tail.add(tail.known.forged)
    first = tail.add(b"%d 0 R" % forged)
    tail.page.set(b"/Contents", b"%d 0 R" % tail.add(b"%d 0 R" % first))


def _elements(tail: Tail, _chance: Random) -> None:
    """Make each number of /MediaBox a reference."""
    numbers = [tail.add(b"%d" % number) for number in (0, 700, 595, 842)]
    tail.page.set(b"/MediaBox", b"[" + b" ".join(b"%d 0 R" % number for number in numbers) + b"]")


def _respelt(tail: Tail, _chance: Random, spell: Callable[[bytes], bytes]) -> None:
    """Respell all values of the page, nested ones included, and add a timestamp."""
    page = tail.page
    spelt = [(key, spell(value)) for key, value in page]
    if spelt == page:
        raise NotHere("a value of this kind")
    page[:] = spelt
    add_signature(tail)


def _numbers(value: bytes, spell: Callable[[bytes], bytes]) -> bytes:
    return _WHOLE.sub(lambda match: spell(match[0]), value)


def _truths(value: bytes) -> bytes:
    return value.replace(b" true", b" 1").replace(b" false", b" 0")


def _nothing_inherited(tail: Tail, _chance: Random, key: bytes) -> None:
    """Put a null into a page for an entry that it may inherit."""
    if tail.page.get(key):
        raise NotHere("something to inherit")
    tail.page.append((key, b"null"))
    add_signature(tail)


def _nothing_changed(tail: Tail, _chance: Random) -> None:
    """Write the page again without any change."""
    tail.page.set(b"/Type", b"/Page")


_REFERENCES: dict[str, Callable[[bytes], bytes]] = {
    "zeros in a reference": lambda text: b"00" + text,
    "a sign in a reference": lambda text: b"+" + text,
    "a comment in a reference": lambda text: text.replace(b" ", b" % a comment\n", 1),
    "a line break in a reference": lambda text: text.replace(b" ", b"\n"),
    "another generation in a reference": lambda text: text.replace(b" 0 ", b" 1 "),
    "a point in a reference": lambda text: text.replace(b" 0 ", b" 0. "),
    "a NUL in a reference": lambda text: text.replace(b" ", b"\0"),
}
_STRINGS = {
    "an odd number of digits": b"<616>",
    "spaces in digits": b"<61 62\n63>",
    "other digits": b"<61zz>",
    "unbalanced brackets": b"(a\\)b(c)",
    "octal digits": b"(\\1a\\777)",
    "a line break": b"(a\r\nb)",
    "a string without an end": b"(de",
}
_ORDERS = ("escaped, last", "escaped, first", "plain, last", "plain, first", "escaped, alone")
_NAMES = {
    "a page of another case": b"/page",
    "a page with an escape": b"/P#61ge",
    "a page with a NUL": b"/Page#00",
    "a page with a bad escape": b"/Page#zz",
    "a page with a space": b"/Page#20",
    "a page that is a string": b"(Page)",
    "a page that is a template": b"/Template",
}
_ODD_KEYS = {
    "a key with a NUL": b"/Contents#00",
    "a key with a bad escape": b"/Contents#",
    "a key of another case": b"/contents",
    "a key with bad digits": b"/Content#7s",
    "a key that is a string": b"(Contents)",
    "a key in UTF-8": "/C\u043entents".encode(),
    "an empty key": b"/",
}

FREEDOMS: dict[str, Alter] = {
    **{f"a number with {name}": partial(_number, spell=spell) for name, spell in _NUMBERS.items()},
    **{name: partial(_reference, form=form) for name, form in _REFERENCES.items()},
    **{f"a string: {name}": partial(_string, value=value) for name, value in _STRINGS.items()},
    **{f"a name: {name}": partial(_name_value, value=value) for name, value in _NAMES.items()},
    **{name: partial(_nul_name, key=key) for name, key in _ODD_KEYS.items()},
    **{
        f"/{name} of the page {order}": partial(_twice, where="page", name=name, order=order)
        for name in _KEYS
        for order in _ORDERS
    },
    **{
        f"/{name} of the catalog {order}": partial(_twice, where="catalog", name=name, order=order)
        for name in _CATALOG
        for order in _ORDERS
    },
    **{f"/Kids {order}": partial(_tree_twice, order=order) for order in _ORDERS},
    **{f"/Count {order}": partial(_count_twice, order=order) for order in _ORDERS},
    **{f"/Fields {order}": partial(_fields_twice, order=order) for order in _ORDERS},
    **{f"/V of the seal {order}": partial(_value_twice, order=order) for order in _ORDERS},
    **{
        f"every number with {name}": partial(_respelt, spell=partial(_numbers, spell=spell))
        for name, spell in _NUMBERS.items()
    },
    **{
        f"a null for {key.decode()}": partial(_nothing_inherited, key=key)
        for key in (b"/MediaBox", b"/CropBox", b"/Rotate", b"/Group", b"/UserUnit")
    },
    "truths that are numbers": partial(_respelt, spell=_truths),
    "a reference for what was direct": _direct,
    "a reference to a reference": _chain,
    "references in a box": _elements,
    "the page once more": _nothing_changed,
}
