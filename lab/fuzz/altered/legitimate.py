"""Additions to a sealed file, by other programs and by ours, that leave it valid."""

import asyncio
import io
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from asn1crypto import tsp
from asn1crypto import x509 as asn1_x509
from cryptography import x509
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
from pyhanko.pdf_utils.reader import PdfFileReader
from pyhanko.sign import PdfTimeStamper
from pyhanko.sign.signers.pdf_signer import TimestampDSSContentSettings
from pyhanko.sign.timestamps import TimeStamper
from pyhanko.sign.validation.dss import DocumentSecurityStore
from pyhanko_certvalidator import ValidationContext

from lab.fuzz.altered.authorities import ALTERED_AT, authority, signer, steady, trusted_timestamps
from lab.fuzz.altered.covers import sealed_again
from lab.fuzz.altered.genuine import GENUINE, genuine
from lab.fuzz.altered.recipes import Recipe, altered
from paraph.keys.development import revocation_list
from tests.pdf.revisions import countersigned, status

Add = Callable[[bytes], bytes]


class _Stamper(TimeStamper):
    """pyHanko's timestamp client, which asks our authority."""

    async def async_request_tsa_response(self, req: Any) -> Any:
        with steady(ALTERED_AT, req.dump().hex()):
            return tsp.TimeStampResp.load(trusted_timestamps().answer(req.dump()))


def stamped_by_pyhanko(pdf: bytes) -> bytes:
    """Add a document timestamp."""
    output, stamper = io.BytesIO(), PdfTimeStamper(_Stamper())  # type: ignore[no-untyped-call]
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    asyncio.run(stamper.async_timestamp_pdf(writer, "sha256", validation_context=None, output=output))
    return output.getvalue()


def _context() -> ValidationContext:
    own = authority()
    root = asn1_x509.Certificate.load(own.root)
    return ValidationContext(
        trust_roots=[root],
        other_certs=[asn1_x509.Certificate.load(own.timestamp_key.certificate)],
        crls=[revocation_list(own, ALTERED_AT)],
        ocsps=[status(own, key.certificate, ALTERED_AT) for key in (own.sealing_key, own.timestamp_key)],
        allow_fetching=False,
        moment=ALTERED_AT,
    )


def renewed_by_pyhanko(pdf: bytes) -> bytes:
    """Add an archive timestamp, with evidence of its authority in the same revision: by default pyHanko writes that
    evidence after the timestamp, where nothing covers it."""
    settings = TimestampDSSContentSettings(include_vri=False, update_before_ts=True)
    output, stamper = io.BytesIO(), PdfTimeStamper(_Stamper())  # type: ignore[no-untyped-call]
    writer = IncrementalPdfFileWriter(io.BytesIO(pdf))
    made = stamper.async_timestamp_pdf(writer, "sha256", _context(), output=output, dss_settings=settings)
    asyncio.run(made)
    return output.getvalue()


def store_and_stamp_by_pyhanko(pdf: bytes) -> bytes:
    """Add a store with evidence of the newest signature, then a timestamp."""
    output = io.BytesIO(pdf)
    context, newest = _context(), PdfFileReader(io.BytesIO(pdf)).embedded_signatures[-1]
    DocumentSecurityStore.add_dss(
        output,
        newest.pkcs7_content,
        certs=[asn1_x509.Certificate.load(authority().root)],
        crls=context.crls,
        ocsps=context.ocsps,
        force_write=True,
    )
    return stamped_by_pyhanko(output.getvalue())


def _signed(pdf: bytes, **field: Any) -> bytes:
    key = signer()
    own = x509.load_der_x509_certificate(key.certificate)
    return countersigned(pdf, key.private_key, own, name="Countersignature", timestamper=_Stamper(), **field)  # type: ignore[no-untyped-call]


def signed_by_pyhanko(pdf: bytes) -> bytes:
    """Add an invisible countersignature by a trusted person."""
    return _signed(pdf)


def signed_visibly_by_pyhanko(pdf: bytes) -> bytes:
    """Add a visible countersignature on an empty part of the last page."""
    return _signed(pdf, box=(300, 100, 500, 160), on_page=-1)


def _white(pdf: bytes) -> bytes:
    return pdf + b"\n\r\n \t\x0c\n" * 9


ADDITIONS: dict[str, Add] = {
    "nothing": bytes,
    "white space": _white,
    "a timestamp by pyHanko": stamped_by_pyhanko,
    "two timestamps by pyHanko": lambda pdf: stamped_by_pyhanko(stamped_by_pyhanko(pdf)),
    "the archive renewed by pyHanko": renewed_by_pyhanko,
    "the archive renewed twice by pyHanko": lambda pdf: renewed_by_pyhanko(renewed_by_pyhanko(pdf)),
    "a store and a timestamp by pyHanko": store_and_stamp_by_pyhanko,
    "a countersignature by pyHanko": signed_by_pyhanko,
    "a visible countersignature by pyHanko": signed_visibly_by_pyhanko,
    "a countersignature, then a timestamp, by pyHanko": lambda pdf: stamped_by_pyhanko(signed_by_pyhanko(pdf)),
    "a timestamp by pyHanko, white space": lambda pdf: _white(stamped_by_pyhanko(pdf)),
    "sealed again": lambda pdf: sealed_again(pdf, "B-T"),
    "sealed again with an archive": lambda pdf: sealed_again(pdf, "B-LTA"),
    "a timestamp by pyHanko, sealed again": lambda pdf: sealed_again(stamped_by_pyhanko(pdf), "B-LTA"),
}
_COVERS = (
    "with a trusted timestamp",
    "under a trusted timestamp",
    "with a trusted signature",
    "under a trusted signature",
)
FILES = [name for name in GENUINE if not name.startswith("encrypted")]
"""The files into which pyHanko writes: it needs the password of an encrypted one."""


def _added(name: str, add: Add) -> bytes:
    return add(genuine(name))


def _by_hand(recipe: Recipe) -> bytes:
    return altered(recipe).content


def additions() -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield the name of every addition, and what makes the file."""
    for name in GENUINE:
        for how, add in ADDITIONS.items():
            if name in FILES or "pyHanko" not in how:
                yield f"{name}: {how}", partial(_added, name, add)
        for cover in _COVERS:
            for payload in ("nothing", "store"):
                recipe = Recipe(name, (), payload, cover)
                yield f"by hand: {recipe.name}", partial(_by_hand, recipe)
