"""Files that try to make ``paraph verify`` use up the machine."""

import io
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pikepdf
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from pikepdf import Array, Dictionary, Name, String

from lab.fuzz.altered.authorities import authority
from lab.fuzz.altered.genuine import genuine
from paraph.pdf.typesetting import EVIDENCE
from tests.cli.measured import measured
from tests.pdf import hostile
from tests.pdf.pdf_factory import paper, text

SECONDS, MEBIBYTES = 10, 600
_MIB = 1 << 20
Make = Callable[[], dict[str, bytes]]


def complaint(files: dict[str, bytes], folder: Path) -> str:
    """Run ``paraph verify`` in ``folder``, with files called ``evidence…`` as ``--evidence``. Return what went wrong,
    or an empty string."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    root = folder / "root.pem"
    root.write_bytes(x509.load_der_x509_certificate(authority().root).public_bytes(Encoding.PEM))
    kept = [part for name in files if name.startswith("evidence") for part in ("--evidence", folder / name)]
    given = [folder / name for name in files if not name.startswith("evidence")]
    found = measured("verify", *given, *kept, "--root", root)
    if "Traceback" in found.output + found.errors:
        return f"a traceback: {(found.output + found.errors).strip().splitlines()[-1]}"
    if found.status not in (0, 1):
        return f"status {found.status}: {found.errors.strip()[-200:]}"
    if found.processor > SECONDS:
        return f"{found.processor:.0f} s of processor"
    return f"{found.peak >> 20} MiB" if found.peak > MEBIBYTES << 20 else ""


def _start(**more: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"signers": [], "documents": [], "certificates": {}, "journal": []}
    return {"format": "paraph-evidence/3", "request": {"id": 71, "environment": "production"}, **empty, **more}


def _proof(packed: bytes, filters: int, prepare: Callable[[pikepdf.Pdf], None] | None = None) -> dict[str, bytes]:
    """Return a PDF with ``packed`` attached as its evidence, and a signed file beside it."""

    def attach(document: pikepdf.Pdf) -> None:
        stream = pikepdf.Stream(document, packed)
        stream.Type = Name.EmbeddedFile
        if filters:
            stream.Filter = Array([Name.FlateDecode] * filters)
        entries = Dictionary(Type=Name.Filespec, F=String(EVIDENCE), UF=String(EVIDENCE))
        entries.EF = Dictionary(F=document.make_indirect(stream), UF=stream)
        document.Root.Names = Dictionary(EmbeddedFiles=Dictionary(Names=[String(EVIDENCE), entries]))
        if prepare:
            prepare(document)

    pdf = paper(text("A proof", 100, 700), prepare=attach, compress_streams=False)
    return {"proof.pdf": pdf, "signed.pdf": genuine("letter B-T")}


def _json_of(value: Any) -> bytes:
    return json.dumps(value).encode()


def _list_of(item: bytes, count: int, filters: int = 1) -> bytes:
    """Return packed evidence whose journal has ``count`` items."""
    first, _, last = _json_of(_start(journal=["HERE"])).partition(b'"HERE"')
    many = 1 << 12
    return hostile.deflated((item + b",") * many, count // many, filters, first=first, last=item + last)


def _deep(opening: bytes, closing: bytes, depth: int) -> bytes:
    return _json_of(_start(journal=["HERE"])).replace(b'["HERE"]', opening * depth + b"0" + closing * depth)


def _pages(count: int, mebibytes: int, filters: int, words: bytes) -> dict[str, bytes]:
    """Return a proof of ``count`` pages that share one content stream."""
    packed = hostile.deflated(
        words * (_MIB // len(words)), mebibytes, filters, first=b"BT /F1 12 Tf 9 9 Td ", last=b" ET"
    )

    def prepare(document: pikepdf.Pdf) -> None:
        content = document.make_indirect(pikepdf.Stream(document, packed, Filter=Array([Name.FlateDecode] * filters)))
        first = document.pages[0].obj
        first.Contents = content
        for _ in range(count - 1):
            document.pages.append(pikepdf.Page(Dictionary(dict(first.items()))))

    return _proof(_json_of(_start()), 0, prepare)


def _store(count: int, mebibytes: int, filters: int) -> dict[str, bytes]:
    """Return a signed file whose store was filled before it was signed."""
    packed = hostile.deflated(bytes(_MIB), mebibytes, filters)

    def prepare(document: pikepdf.Pdf) -> None:
        stream = document.make_indirect(pikepdf.Stream(document, packed, Filter=Array([Name.FlateDecode] * filters)))
        listed = Array([stream] * count)
        document.Root.DSS = document.make_indirect(Dictionary(CRLs=listed, OCSPs=listed, Certs=listed))

    return {"signed.pdf": _sealed(paper(text("A contract", 100, 700), prepare=prepare, compress_streams=False))}


def _sealed(pdf: bytes) -> bytes:
    """Add an invalid signature: one of any kind makes ``paraph verify`` look at the file."""
    with pikepdf.open(io.BytesIO(pdf)) as document:
        value = Dictionary(Type=Name.Sig, Filter=Name("/Adobe.PPKLite"), SubFilter=Name("/ETSI.CAdES.detached"))
        value.ByteRange, value.Contents = Array([0, 10, 20, 30]), String(b"\x30\x03\x02\x01\x01")
        field = document.make_indirect(Dictionary(FT=Name.Sig, T="A", V=document.make_indirect(value)))
        document.Root.AcroForm = Dictionary(Fields=Array([field]))
        output = io.BytesIO()
        document.save(output, compress_streams=False)
        return output.getvalue()


def _behind(tail: bytes) -> dict[str, bytes]:
    """Return a genuine file with ``tail`` appended."""
    return {"signed.pdf": genuine("letter B-LTA") + tail}


def _one(pdf: bytes) -> dict[str, bytes]:
    return {"signed.pdf": _sealed(pdf)}


def _update(number: int, body: bytes) -> bytes:
    """Return a revision of one object, to follow the genuine letter."""
    base = len(genuine("letter B-LTA"))
    previous = genuine("letter B-LTA").rsplit(b"startxref\n", 1)[1].split()[0]
    made = b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"xref\n%d 1\n%010d 00000 n \n" % (number, base)
    trailer = b"trailer\n<</Size 99/Root 1 0 R/Prev %b>>\nstartxref\n%d\n%%%%EOF\n" % (previous, base + len(made))
    return made + table + trailer


CASES: dict[str, Make] = {
    "evidence of small dictionaries": lambda: _proof(_list_of(b'{"a":{}}', 8_000_000), 1),
    "evidence of numbers": lambda: _proof(_list_of(b"1e9", 20_000_000), 1),
    "evidence of texts, deflated twice": lambda: _proof(_list_of(b'"ab"', 20_000_000, 2), 2),
    "evidence of dictionaries in dictionaries": lambda: _proof(_deep(b'{"a":', b"}", 30_000), 0),
    "evidence of one number": lambda: _proof(_json_of(_start()).replace(b"71", b"7" * 60_000), 0),
    "evidence of one long text": lambda: _proof(zlib.compress(_json_of(_start(signers=["a" * (60 * _MIB)])), 9), 1),
    "60 pages of one text, deflated twice": lambda: _pages(60, 200, 2, b"(Mmmmmmmmm mmmmmmm mmmmm) Tj "),
    "60 pages of one drawing": lambda: _pages(60, 100, 2, b"0 0 9 9 re f "),
    "5000 pages of one text": lambda: _pages(5000, 1, 1, b"(Mmmmmmmmm mmmmmmm mmmmm) Tj "),
    "a store deflated twice": lambda: _store(1, 2000, 2),
    "a store that lists one stream 2000 times": lambda: _store(2000, 30, 2),
    "nested forms": lambda: _one(hostile.nested_forms()),
    "pages in a circle": lambda: {"signed.pdf": hostile.looping_pages()},
    "pages that are counted": lambda: {"signed.pdf": hostile.counting_pages(10**9)},
    "many fonts": lambda: _one(hostile.many_fonts()),
    "many contents": lambda: _one(hostile.many_contents(20, 100)),
    "content that inflates": lambda: _one(hostile.inflating(on_page=True, filters=2)),
    "objects without end behind a seal": lambda: _behind(b"1 0 obj\n" * 200_000),
    "numbers without end behind a seal": lambda: _behind(b"1 " * 2_000_000),
    "startxref without end behind a seal": lambda: _behind(b"startxref\n0\n%%EOF\n" * 60_000),
    "white space behind a seal": lambda: _behind(b"\n" * 20_000_000),
    "brackets behind a seal": lambda: _behind(_update(1, b"[" * 200_000)),
    "a long name behind a seal": lambda: _behind(_update(1, b"<</" + b"a" * 5_000_000 + b" 1>>")),
    "escaped names behind a seal": lambda: _behind(_update(1, b"<<" + b"/#41 1" * 400_000 + b">>")),
    "byte ranges behind a seal": lambda: _behind(_update(1, b"<</Type/Sig/ByteRange[0 1 2 3]>>" * 50_000)),
    "kept timestamps of lists": lambda: {
        "signed.pdf": genuine("letter B-T"),
        "evidence.json": b'{"format": "paraph-timestamps/1", "files": ' + b"[" * 60_000 + b"]" * 60_000 + b"}",
    },
    "kept timestamps of a number": lambda: {
        "signed.pdf": genuine("letter B-T"),
        "evidence.json": b'{"format": "paraph-timestamps/1", "files": ' + b"7" * 60_000 + b"}",
    },
}
