"""Genuinely sealed files of every kind that the service makes: each alteration starts from one of them."""

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from unittest.mock import patch

import pikepdf
from pikepdf import Array, Dictionary, Name, String

from lab.fuzz.altered.authorities import SEALED_AT, authority, steady, timestamping
from lab.fuzz.altered.waiting_uploads import (
    MISSING,
    disguised_upload,
    growing_upload,
    referring_upload,
    shared_upload,
    upload_with_catalog,
    upload_with_hole,
    upload_with_store,
)
from paraph.pdf.drawing.marks import Mark
from paraph.pdf.pki.purpose import document_purpose, proof_purpose
from paraph.pdf.pki.statuses import DevelopmentStatuses, LongTerm
from paraph.pdf.sealing.seal import seal
from paraph.pdf.typesetting.proof import proof
from tests.pdf.pdf_factory import paper, text
from tests.pdf.sealed_files import GREEN, pictures
from tests.pdf.typesetting.test_proof import CONTENT

AMOUNT, FORGED = "1,000", "9,000,000"
_PLAIN, _PACKED = pikepdf.ObjectStreamMode.disable, pikepdf.ObjectStreamMode.generate
_MARKS = [Mark(1, 400, 60, 100, 50, GREEN)]


def resealed(pdf: bytes, level: str = "B-T", **how: Any) -> bytes:
    """Seal ``pdf`` as the service seals an upload."""
    purpose = document_purpose(71, "production")
    own = authority()
    term = None
    if level in ("B-LT", "B-LTA"):
        chain = (own.timestamp_key.certificate, own.root)
        term = LongTerm([DevelopmentStatuses(own)], level == "B-LTA", chain)
    stamps = None if level == "B-B" else timestamping()
    defaults: dict[str, Any] = {"key": own.sealing_key, "purpose": purpose, "timestamping": stamps, "at": SEALED_AT}
    with steady(seed=level):
        made = seal(pdf, **{**defaults, "long_term": term, **how})
    assert made.level == level, made.level_reasons
    return made.content


def _marked(pdf: bytes, level: str) -> bytes:
    return resealed(pdf, level, appearances=pictures(), marks=_MARKS)


def _letter(mode: pikepdf.ObjectStreamMode = _PLAIN, **save: Any) -> bytes:
    """Return a letter of two pages; the first states the amount that is owed."""
    return _saved(None, mode, **save)


def _form(mode: pikepdf.ObjectStreamMode = _PLAIN, **save: Any) -> bytes:
    """Return the letter with a filled field, a note, a layer, a nested page tree and a named destination."""
    return _saved(_with_form, mode, **save)


def _saved(prepare: Callable[[pikepdf.Pdf], None] | None, mode: pikepdf.ObjectStreamMode, **save: Any) -> bytes:
    pages = [text(f"I owe {AMOUNT} EUR", 100, 700), text("This is not binding", 100, 700)]
    options: dict[str, Any] = {"object_stream_mode": mode, "static_id": True, **save}
    return paper(*pages, prepare=prepare, compress_streams=False, **options)


def _with_form(document: pikepdf.Pdf) -> None:
    page, font = document.pages[0].obj, document.pages[0].obj.Resources.Font.F1
    fonts = Dictionary(Helv=font)
    shown = document.make_stream(f"/Tx BMC q BT /Helv 12 Tf 0 g 2 5 Td ({AMOUNT}) Tj ET Q EMC".encode())
    shown.Type, shown.Subtype, shown.BBox = Name.XObject, Name.Form, Array([0, 0, 200, 20])
    shown.Resources = Dictionary(Font=fonts)
    widget = Dictionary(Type=Name.Annot, Subtype=Name.Widget, FT=Name.Tx, T=String("sum"), V=String(AMOUNT), F=4)
    field = document.make_indirect(Dictionary({**widget, "/Rect": [100, 600, 300, 620], "/DA": "/Helv 12 Tf 0 g"}))
    field.AP, field.P = Dictionary(N=shown), page
    note = Dictionary(Type=Name.Annot, Subtype=Name.Square, Rect=[100, 500, 200, 550], F=4, C=[1, 0, 0])
    box = document.make_stream(b"1 0 0 RG 1 1 98 48 re S")
    box.Type, box.Subtype, box.BBox = Name.XObject, Name.Form, Array([0, 0, 100, 50])
    note.AP = Dictionary(N=box)
    page.Annots = Array([field, document.make_indirect(note)])
    form = Dictionary(Fields=[field], DA=String("/Helv 0 Tf 0 g"), DR=Dictionary(Font=fonts))
    document.Root.AcroForm = document.make_indirect(form)
    _add_layer(document)
    top, tree = document.Root.Pages, document.make_indirect(Dictionary(Type=Name.Pages, Count=2))
    tree.MediaBox, tree.Resources, tree.Parent = page.MediaBox, page.Resources, top
    tree.Kids = Array([each.obj for each in document.pages])
    for each in document.pages:
        each.obj.Parent = tree
        del each.obj["/MediaBox"]
    del document.pages[1].obj["/Resources"]
    top.Kids = Array([tree])
    document.Root.Names = Dictionary(Dests=Dictionary(Names=[String("a"), Array([page, Name.Fit])]))


def _add_layer(document: pikepdf.Pdf) -> None:
    page = document.pages[0].obj
    layer = document.make_indirect(Dictionary(Type=Name.OCG, Name=String("Terms")))
    document.Root.OCProperties = Dictionary(OCGs=[layer], D=Dictionary(Order=[layer], ON=[layer]))
    page.Resources.Properties = Dictionary(P=layer)
    drawn = b"/OC /P BDC " + text("under these terms", 100, 660).encode() + b" EMC"
    page.Contents = document.make_stream(page.Contents.read_bytes() + drawn)


def _signed_before(level: str) -> bytes:
    return _marked(resealed(_letter(), "B-LTA"), level)


def _proof() -> bytes:
    purpose = proof_purpose(71, "production")
    return resealed(proof(CONTENT), "B-LTA", key=authority().proof_key, purpose=purpose)


def _turned() -> bytes:
    """Return the letter with integers, reals and booleans in the page itself, since readers differ over their types."""

    def prepare(document: pikepdf.Pdf) -> None:
        page = document.pages[0].obj
        page.Rotate, page.CropBox = 90, Array([0, 0, 595.0, 842.5])
        widths = [300 + 250 * (number % 3) for number in range(95)]
        font = Dictionary(Type=Name.Font, Subtype=Name.TrueType, BaseFont=Name.Helvetica, FirstChar=32, LastChar=126)
        font.Encoding, font.Widths = Name.WinAnsiEncoding, Array(widths)
        page.Resources.Font = Dictionary(F1=font)
        page.Group = Dictionary(Type=Name.Group, S=Name.Transparency, CS=Name.DeviceRGB, I=True, K=False)

    return _saved(prepare, _PLAIN)


def _awaiting(upload: Callable[[int], bytes]) -> bytes:
    """Seal an upload that refers to the number of the first object that may follow."""
    (size,) = re.findall(rb"/Size (\d+)", resealed(upload(900)))[-1:]
    return resealed(upload(int(size)))


def _growing() -> bytes:
    """Seal the growing upload as another program would: the service would write it anew."""
    with patch("paraph.pdf.structure.normalise.misstates_length", lambda _pdf: False):
        return resealed(growing_upload())


def _encrypted() -> bytes:
    return _letter(encryption=pikepdf.Encryption(owner="owner", user="", R=3, aes=False, metadata=False))


_GENUINE: dict[str, Callable[[], bytes]] = {
    "letter B-T": lambda: _marked(_letter(), "B-T"),
    "letter B-LT": lambda: _marked(_letter(), "B-LT"),
    "letter B-LTA": lambda: _marked(_letter(), "B-LTA"),
    "unmarked letter B-LTA": lambda: resealed(_letter(), "B-LTA"),
    "packed letter B-T": lambda: resealed(_letter(_PACKED), "B-T"),
    "packed letter B-LTA": lambda: _marked(_letter(_PACKED), "B-LTA"),
    "form B-T": lambda: _marked(_form(), "B-T"),
    "form B-LTA": lambda: resealed(_form(), "B-LTA"),
    "packed form B-LTA": lambda: _marked(_form(_PACKED), "B-LTA"),
    "turned letter B-LTA": lambda: resealed(_turned(), "B-LTA"),
    "encrypted letter B-LTA": lambda: _marked(_encrypted(), "B-LTA"),
    "signed before, B-T": lambda: _signed_before("B-T"),
    "signed before, B-LTA": lambda: _signed_before("B-LTA"),
    "proof B-LTA": _proof,
}
GENUINE = list(_GENUINE)

SHARED, DISGUISED, CATALOG, STORE, REFERRING, GROWING = (
    "shared upload B-T",
    "disguised upload B-T",
    "upload with a catalog B-T",
    "upload with a store B-T",
    "referring upload B-T",
    "growing upload B-T",
)
NOT_THERE = {how: f"upload with a hole {how} B-T" for how in MISSING}
_WAITING: dict[str, Callable[[], bytes]] = {
    SHARED: lambda: resealed(shared_upload()),
    DISGUISED: lambda: resealed(disguised_upload()),
    CATALOG: lambda: resealed(upload_with_catalog()),
    STORE: lambda: resealed(upload_with_store()),
    **{name: partial(_awaiting, partial(upload_with_hole, how)) for how, name in NOT_THERE.items()},
    REFERRING: lambda: _awaiting(referring_upload),
    GROWING: _growing,
}
"""Files whose uploader means to alter them once they are sealed, so that nothing may be added to some of them."""
WAITING = list(_WAITING)


@cache
def genuine(name: str) -> bytes:
    """Return a sealed file, with the same bytes in every process."""
    return {**_GENUINE, **_WAITING}[name]()
