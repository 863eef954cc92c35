"""What an attacker knows of a file: where its last cross-reference begins, and the dictionaries to change."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pikepdf

from lab.fuzz.altered.genuine import AMOUNT, FORGED, genuine
from paraph.pdf.structure.reader import PdfReader


class NotHere(LookupError):
    """The genuine file, or what another freedom made of it, lacks what a freedom changes."""


def number_of(reference: bytes) -> int:
    """Return the number of the object that a reference names; its white space may include NUL. Raise :class:`NotHere`
    for an empty reference."""
    if not reference:
        raise NotHere
    return int(reference.replace(b"\0", b" ").split()[0])


class Pairs(list[tuple[bytes, bytes]]):
    """A dictionary as it is written: keys and values in order, a key perhaps more than once."""

    def get(self, key: bytes, default: bytes = b"") -> bytes:
        return next((value for known, value in self if known == key), default)

    def set(self, key: bytes, value: bytes) -> None:
        """Replace the value of the first such key, or append the pair."""
        for position, (known, _) in enumerate(self):
            if known == key:
                self[position] = (key, value)
                return
        self.append((key, value))

    def drop(self, key: bytes) -> None:
        self[:] = [pair for pair in self if pair[0] != key]

    def rename(self, old: bytes, new: bytes) -> None:
        self[:] = [(new if key == old else key, value) for key, value in self]

    def copy(self) -> "Pairs":
        return Pairs(self)

    def text(self) -> bytes:
        return b"<<" + b" ".join(key + b" " + value for key, value in self) + b">>"


@dataclass(frozen=True)
class Stream:
    """A stream object. ``entries``: those of its dictionary; /Length is added unless it is among them."""

    entries: bytes
    data: bytes


@dataclass(frozen=True)
class Known:
    """What is known of a file. ``form``: its object number, ``None`` where it stands in the catalog; ``lists``: the
    object of each page's annotations, by page, where they are an object of their own."""

    pdf: bytes
    start: int
    size: int
    packed: bool
    trailer: Pairs
    root: int
    pages: tuple[int, ...]
    form: int | None
    lists: dict[int, int]
    dictionaries: dict[int, Pairs]
    arrays: dict[str, list[bytes]]
    amount: int
    """The number of the stream that states the amount owed."""
    forged: Stream
    fields: tuple[int, ...] = ()
    """The numbers of all fields, that of the archive timestamp last."""
    seals: tuple[int, ...] = ()
    """The numbers of the signature fields."""
    encryption: Any = None
    objects: dict[int, Any] = field(default_factory=dict)
    """Every other dictionary, as it was in the genuine file."""

    def after(self, **changed: Any) -> "Known":
        return replace(self, **changed)


@cache
def known(name: str) -> Known:
    """Return what is known of the genuine file of this name."""
    return known_of(genuine(name))


def known_of(pdf: bytes) -> Known:
    reader = PdfReader(pdf)
    with pikepdf.open(io.BytesIO(pdf), inherit_page_attributes=False) as document:
        return _read(pdf, document, reader)


def _read(pdf: bytes, document: pikepdf.Pdf, reader: PdfReader) -> Known:
    root = document.Root
    pages = list(_leaves(root.Pages))
    form = root.get("/AcroForm")
    dictionaries = {each.objgen[0]: _pairs(each) for each in [root, *pages]}
    if form is not None:
        dictionaries[form.objgen[0] or -1] = _pairs(form)
    lists = {page.objgen[0]: page.Annots.objgen[0] for page in pages if "/Annots" in page and page.Annots.is_indirect}
    arrays = {f"annots {page.objgen[0]}": _items(page.get("/Annots")) for page in pages}
    arrays["fields"] = _items(form.get("/Fields")) if form is not None else []
    fields = [each.objgen[0] for each in (form.Fields if form is not None else []) if each.is_indirect]
    amount, forged = _amount(document, pages[0])
    start = int(re.findall(rb"startxref\s+(\d+)", pdf)[-1])
    return Known(
        pdf=pdf,
        start=start,
        size=int(document.trailer.Size),
        packed=pdf[start : start + 4] != b"xref",
        trailer=_trailer(document),
        root=root.objgen[0],
        pages=tuple(page.objgen[0] for page in pages),
        form=form.objgen[0] or None if form is not None else None,
        lists=lists,
        dictionaries=dictionaries,
        arrays=arrays,
        amount=amount,
        forged=forged,
        fields=tuple(fields),
        seals=tuple(
            each.objgen[0] for each in (form.Fields if form is not None else []) if each.get("/FT") == pikepdf.Name.Sig
        ),
        encryption=reader.encryption,
        objects={
            each.objgen[0]: _pairs(each)
            for each in document.objects
            if isinstance(each, pikepdf.Dictionary) and each.objgen[0] not in dictionaries
        },
    )


def _pairs(dictionary: Any) -> Pairs:
    return Pairs((key.encode("latin-1"), _text(value)) for key, value in dictionary.items())


def _text(value: Any) -> bytes:
    if isinstance(value, pikepdf.Object):
        return value.unparse()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return str(value).encode()


def _items(array: Any) -> list[bytes]:
    return [b"%d 0 R" % each.objgen[0] for each in array] if array is not None else []


def _trailer(document: pikepdf.Pdf) -> Pairs:
    keys = ("/Root", "/Info", "/ID", "/Encrypt")
    return Pairs((key.encode(), document.trailer[key].unparse()) for key in keys if key in document.trailer)


def _leaves(tree: Any) -> Iterator[Any]:
    for kid in tree.Kids:
        if "/Kids" in kid:
            yield from _leaves(kid)
        else:
            yield kid


def _amount(document: pikepdf.Pdf, page: Any) -> tuple[int, Stream]:
    """Return the number of the stream that states the amount, and its forgery."""
    streams = [each for each in document.objects if isinstance(each, pikepdf.Stream)]
    contents = [each for each in streams if AMOUNT.encode() in _data(each) and "/Subtype" not in each]
    if contents:
        return contents[0].objgen[0], Stream(b"", _data(contents[0]).replace(AMOUNT.encode(), FORGED.encode()))
    first = page.Contents[0] if isinstance(page.Contents, pikepdf.Array) else page.Contents
    return first.objgen[0], Stream(b"", _data(first) + b"\nq 1 0 0 rg 60 300 200 90 re f Q\n")


def _data(stream: Any) -> bytes:
    try:
        found: bytes = stream.read_bytes()
    except pikepdf.PdfError:
        return b""
    return found
