"""Revisions appended to a finished file by hand, as somebody would who has something to hide."""

import io
import re
from collections.abc import Callable

import pikepdf
from pikepdf import Array, Dictionary, Name

Change = Callable[[pikepdf.Pdf], list[pikepdf.Object]]


def revised(pdf: bytes, change: Change) -> bytes:
    """``pdf`` with one more revision (classic cross-reference table) that holds the objects ``change`` returns."""
    previous = re.findall(rb"startxref\s+(\d+)", pdf)[-1].decode()
    with pikepdf.open(io.BytesIO(pdf)) as document:
        objects = change(document)
        trailer = {key: document.trailer[key].unparse().decode("latin-1") for key in ("/Root", "/Info", "/ID")
                   if key in document.trailer}  # fmt: skip
        body, table, highest = bytearray(pdf), "xref\n", int(document.trailer.Size)
        for changed in sorted((each for each in objects if each.is_indirect), key=lambda each: each.objgen):
            number = changed.objgen[0]
            highest = max(highest, number + 1)
            table += f"{number} 1\n{len(body):010d} 00000 n \n"
            body += f"{number} 0 obj\n".encode() + _written(changed) + b"\nendobj\n"
    entries = " ".join(f"{key} {value}" for key, value in trailer.items())
    end = f"{table}trailer\n<</Size {highest} /Prev {previous} {entries}>>\nstartxref\n{len(body)}\n%%EOF\n"
    return bytes(body) + end.encode("latin-1")


def _written(changed: pikepdf.Object) -> bytes:
    if not isinstance(changed, pikepdf.Stream):
        return changed.unparse(resolved=True)
    content = changed.read_raw_bytes()
    return f"<</Length {len(content)}>>\nstream\n".encode() + content + b"\nendstream"


def content(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    page = document.pages[0].obj
    page.Contents = document.make_stream(b"0 0 100 100 re f")
    return [page, page.Contents]


def comment(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    page = document.pages[0].obj
    note = document.make_indirect(
        Dictionary(Type=Name.Annot, Subtype=Name.Text, Rect=Array([0, 0, 9, 9]), Contents="a note")
    )
    page.Annots = Array([*page.get("/Annots", []), note])
    return [page, note]


def title(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.trailer.Info = document.make_indirect(Dictionary(Title="Another title"))
    return [document.trailer.Info]


def orphan(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    return [document.make_stream(b"nobody refers to this")]


def page_removed(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    tree = document.Root.Pages
    tree.Kids = Array([tree.Kids[0]])
    tree.Count = 1
    return [tree]


def field_filled(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    field = next(field for field in document.Root.AcroForm.Fields if field.get("/FT") == Name.Tx)
    field.V = pikepdf.String("filled in later")
    return [field]


def form_removed(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    del document.Root.AcroForm
    return [document.Root]
