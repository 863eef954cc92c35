"""Files of a few kilobytes that look like proofs, and take gigabytes or minutes to read if nothing bounds it."""

import json
import zlib
from typing import Any

import pikepdf
from pikepdf import Array, Dictionary, Name

from paraph.pdf.typesetting import EVIDENCE
from tests.pdf import hostile
from tests.pdf.pdf_factory import paper

_PLAIN: dict[str, Any] = {"format": "paraph-evidence/1", "request": {}, "signers": [], "documents": [], "journal": []}


def deflated(filters: int, mebibytes: int = 3 << 10) -> bytes:
    """Evidence that unpacks to gigabytes, through several filters."""
    return _attached(hostile.deflated(b" " * (1 << 20), mebibytes, filters), filters)


def many_values(count: int = 20_000_000) -> bytes:
    """Evidence of nothing but empty arrays, which take thirty times their size once they are parsed."""
    start, end = json.dumps(_PLAIN | {"journal": "HERE"}).split('"HERE"')
    return _attached(zlib.compress(f"{start}[{'[],' * count}[]]{end}".encode(), 9), 1)


def nested(depth: int = 100_000) -> bytes:
    """Evidence of arrays within arrays."""
    start, end = json.dumps(_PLAIN | {"journal": "HERE"}).split('"HERE"')
    return _attached(zlib.compress(f"{start}{'[' * depth}{']' * depth}{end}".encode(), 9), 1)


def costly_journal(entries: int = 4000) -> bytes:
    """Evidence in which each of many signers is looked for among many signatures."""
    signers = [{"id": f"{number:0100}", "full_name": "", "email": "a@b"} for number in range(entries)]
    entry = {"event_type": "signer.signed", "signer_id": "0" * 100, "position": 1, "previous_hash": "", "hash": ""}
    content = _PLAIN | {"signers": signers, "journal": [entry] * entries}
    return _attached(zlib.compress(json.dumps(content).encode(), 9), 1)


def pages_of_one_text(pages: int = 60, mebibytes: int = 40) -> bytes:
    """Pages that all show the same text, which is stored once and unpacks to a page of millions of letters."""
    line = b"BT /F1 1 Tf 1 0 0 1 9 9 Tm (" + b"paraph " * 100 + b") Tj ET\n"
    text = zlib.compress(line * ((mebibytes << 20) // len(line)), 9)

    def prepare(document: pikepdf.Pdf) -> None:
        contents = document.make_indirect(pikepdf.Stream(document, text, Filter=Name.FlateDecode))
        for page in document.pages:
            page.obj.Contents = contents
        _attach(document, zlib.compress(json.dumps(_PLAIN).encode()), 1)

    return paper(*[""] * pages, prepare=prepare, compress_streams=False)


def _attached(content: bytes, filters: int) -> bytes:
    return paper("", prepare=lambda document: _attach(document, content, filters), compress_streams=False)


def _attach(document: pikepdf.Pdf, content: bytes, filters: int) -> None:
    stream = pikepdf.Stream(document, content, Type=Name.EmbeddedFile, Filter=Array([Name.FlateDecode] * filters))
    file = Dictionary(Type=Name.Filespec, F=EVIDENCE, UF=EVIDENCE, EF=Dictionary(F=document.make_indirect(stream)))
    names = Array([pikepdf.String(EVIDENCE), document.make_indirect(file)])
    document.Root.Names = Dictionary(EmbeddedFiles=Dictionary(Names=names))
