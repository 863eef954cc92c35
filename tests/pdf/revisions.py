"""Revisions appended to a finished file: by hand, as somebody with something to hide would do it, and by pyHanko."""

import asyncio
import io
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pikepdf
from asn1crypto import keys, tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pikepdf import Array, Dictionary, Name
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.sign import PdfSignatureMetadata, PdfSigner, PdfTimeStamper, SimpleSigner
from pyhanko.sign.fields import SigFieldSpec, SigSeedSubFilter
from pyhanko.sign.timestamps import TimeStamper
from pyhanko_certvalidator.registry import SimpleCertificateStore

from paraph.keys import DevelopmentAuthority
from paraph.keys.development import revocation_list
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from paraph.pdf.timestamps.timestamp import TimestampAuthority
from tests.pdf import forge
from tests.pdf.sealed_files import OWN

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


def version(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.Root.Version = Name("/1.7")
    return [document.Root]


def need_appearances(document: pikepdf.Pdf) -> list[pikepdf.Object]:
    document.Root.AcroForm.NeedAppearances = True
    return [document.Root, document.Root.AcroForm]


def store(*, crls: Sequence[bytes] = (), ocsps: Sequence[bytes] = ()) -> Change:
    """A change that adds a document security store."""

    def change(document: pikepdf.Pdf) -> list[pikepdf.Object]:
        lists = {"CRLs": [document.make_stream(crl) for crl in crls],
                 "OCSPs": [document.make_stream(answer) for answer in ocsps]}  # fmt: skip
        document.Root.DSS = Dictionary({f"/{key}": Array(streams) for key, streams in lists.items() if streams})
        return [document.Root, *lists["CRLs"], *lists["OCSPs"]]

    return change


def status(by: DevelopmentAuthority, certificate: bytes, moment: datetime) -> bytes:
    """Return what the root of an authority answers (OCSP) about a certificate."""
    about, root = map(x509.load_der_x509_certificate, (certificate, by.root))
    end = moment + timedelta(days=7)
    return forge.der_of(forge.answer(about, root, by.root_key.private_key, this=moment, end=end))


def by_answers(moment: datetime) -> Change:
    return store(ocsps=[status(OWN, key.certificate, moment) for key in (OWN.sealing_key, OWN.timestamp_key)])


def by_list(moment: datetime) -> Change:
    return store(crls=[revocation_list(OWN, moment)])


def revoking(certificate: bytes, when: datetime) -> bytes:
    """Return a revocation list of the development root that names a certificate."""
    own, root = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(OWN.root)
    entry, days = forge.revoked(own, when), timedelta(days=2)
    return forge.der_of(forge.revocation_list(root, OWN.root_key.private_key, entry, ago=days, holds=days))


class _Stamper(TimeStamper):
    """pyHanko's client over one of our authorities."""

    def __init__(self, answers: TimestampAuthority) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # pyHanko annotates nothing here
        self.answers = answers

    async def async_request_tsa_response(self, req: Any) -> Any:
        return tsp.TimeStampResp.load(self.answers.answer(req.dump(), 1))


def archived(pdf: bytes, answers: TimestampAuthority | None = None) -> bytes:
    """Return the file with a document timestamp, written by pyHanko."""
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    stamper = PdfTimeStamper(_Stamper(answers or BuiltInAuthority(OWN.timestamp_key)))
    output = io.BytesIO()
    asyncio.run(stamper.async_timestamp_pdf(writer, "sha256", validation_context=None, output=output))
    return output.getvalue()


def countersigned(
    pdf: bytes,
    key: Any,
    certificate: x509.Certificate,
    *issuers: x509.Certificate,
    name: str = "Countersigned",
    digest: str = "sha256",
    timestamper: TimeStamper | None = None,
    **field: Any,
) -> bytes:
    """Return the file signed again, by pyHanko. ``issuers`` are embedded too; ``field``: where a visible field is."""
    own, *others = (asn1_x509.Certificate.load(forge.der_of(each)) for each in (certificate, *issuers))
    private = keys.PrivateKeyInfo.load(key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()))
    store = SimpleCertificateStore.from_certs(others)  # type: ignore[no-untyped-call]  # pyHanko annotates nothing here
    about = PdfSignatureMetadata(name, subfilter=SigSeedSubFilter.PADES, md_algorithm=digest)
    signer, specification = SimpleSigner(own, private, store), SigFieldSpec(name, **field)
    made = PdfSigner(about, signer, timestamper=timestamper, new_field_spec=specification)
    output = io.BytesIO()
    asyncio.run(made.async_sign_pdf(IncrementalPdfFileWriter(io.BytesIO(pdf)), output=output))
    return output.getvalue()
