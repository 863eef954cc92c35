"""A bundle of evidence as ASiC-E with a time assertion (ETSI EN 319 162-1, 4.4 and annex A.4): which files it has, and
what its manifest and its list of digests say of them.

Both follow from the files alone, so that a reader makes them anew and compares: nothing of them is interpreted.
"""

import base64
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import BinaryIO
from urllib.parse import quote

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_der_x509_certificate

from paraph.pdf.container.files_by_name import FilesByName
from paraph.pdf.container.zip_form import Member, ZipRefused, ZipWriter, read_members

PROOF, JOURNAL, TIMESTAMPS = "proof.pdf", "journal.json", "timestamps.json"
CERTIFICATES, ROOTS, README, SUMS = "certificates.pem", "roots.pem", "README.html", "SHA256SUMS"
INCLUSION = "transparency.proof"
UPLOADED, SIGNED, REVOCATION = "uploaded/", "signed/", "revocation/"
MANIFEST, TIMESTAMP, AUTHORITY = "META-INF/ASiCManifest.xml", "META-INF/timestamp.tst", "META-INF/timestamp.pem"
_MIMETYPE = b"application/vnd.etsi.asic-e+zip"
_PDF = r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*\.pdf"
_NAMES = re.compile(  # in their order; no name in a ZIP has a NUL
    rf"mimetype\0README\.html\0proof\.pdf\0(signed/{_PDF}\0)+(uploaded/{_PDF}\0)+"
    r"journal\.json\0timestamps\.json\0certificates\.pem\0roots\.pem\0(revocation/[0-9a-f]{64}\.(crl|ocsp)\0)*(transparency\.proof\0)?"
    r"SHA256SUMS\0META-INF/ASiCManifest\.xml\0(META-INF/timestamp\.tst\0META-INF/timestamp\.pem\0)?"
)
_START = """\
<?xml version="1.0" encoding="UTF-8"?>
<asic:ASiCManifest xmlns:asic="http://uri.etsi.org/02918/v1.2.1#" xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
<asic:SigReference URI="META-INF/timestamp.tst" MimeType="application/vnd.etsi.timestamp-token"/>
"""
_REFERENCE = """\
<asic:DataObjectReference URI="{uri}">\
<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>{digest}</ds:DigestValue>\
</asic:DataObjectReference>
"""


def begin(writer: ZipWriter) -> None:
    writer.add("mimetype", [_MIMETYPE])


def end(writer: ZipWriter, stamp: Callable[[bytes], tuple[bytes, Sequence[bytes]] | None]) -> None:
    """Add digests, manifest and timestamp. ``stamp`` returns a token over the bytes of the manifest, and the chain of
    its authority, both as DER; None for no timestamp. What it is to cover is added before."""
    writer.add(SUMS, [_sums(writer.members)])
    manifest = _manifest(writer.members)
    writer.add(MANIFEST, [manifest])
    if stamped := stamp(manifest):
        token, chain = stamped
        writer.add(TIMESTAMP, [token])
        writer.add(AUTHORITY, [as_pem(chain)])


def as_pem(certificates: Iterable[bytes]) -> bytes:
    """Return the certificates (DER) as a PEM file."""
    return b"".join(load_der_x509_certificate(each).public_bytes(Encoding.PEM) for each in certificates)


def read_bundle(file: BinaryIO) -> FilesByName:
    """Return the files of a bundle. Raise :class:`ZipRefused` unless it has the form that :func:`begin` and :func:`end`
    give it, with the digests of its files."""
    members = read_members(file)
    parts = FilesByName({member.name: partial(_content, file, member) for member in members})
    if not _NAMES.fullmatch("".join(f"{name}\0" for name in parts)):
        raise ZipRefused("Its files do not have the names of those in a bundle, in their order.")
    if parts["mimetype"] != _MIMETYPE:
        raise ZipRefused("It does not begin with the type of a bundle.")
    digested = list(parts).index(SUMS)
    if (parts[SUMS], parts[MANIFEST]) != (_sums(members[:digested]), _manifest(members[: digested + 1])):
        raise ZipRefused(f"{SUMS} or the manifest does not have the digests of the files.")
    return parts


def is_document(name: str) -> bool:
    """Return whether this is the name of a proof, a signed or an uploaded file."""
    return name.startswith((PROOF, SIGNED, UPLOADED))


def _content(file: BinaryIO, member: Member) -> bytes:
    file.seek(member.start)
    return file.read(member.size)


def _sums(members: Sequence[Member]) -> bytes:
    return "".join(f"{member.sha256.hex()}  {member.name}\n" for member in members).encode()


def _manifest(members: Sequence[Member]) -> bytes:
    references = (
        _REFERENCE.format(uri=quote(member.name), digest=base64.b64encode(member.sha256).decode())
        for member in members[1:]  # without "mimetype"
    )
    return (_START + "".join(references) + "</asic:ASiCManifest>\n").encode()
