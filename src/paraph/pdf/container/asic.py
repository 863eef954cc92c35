"""A bundle of evidence as ASiC-E with a time assertion (ETSI EN 319 162-1, 4.4 and annex A.4): which files it has, and
what its manifest and its list of digests say of them.

Both follow from the files alone, so that a reader makes them anew and compares: nothing of them is interpreted.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import BinaryIO
from urllib.parse import quote

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_der_x509_certificate

from paraph.pdf.container.zip_form import Member, ZipRefused, ZipWriter, read_members

PROOF, JOURNAL, TIMESTAMPS = "proof.pdf", "journal.json", "timestamps.json"
CERTIFICATES, ROOTS, README, SUMS = "certificates.pem", "roots.pem", "README.html", "SHA256SUMS"
UPLOADED, SIGNED, REVOCATION = "uploaded/", "signed/", "revocation/"
MANIFEST, TIMESTAMP, AUTHORITY = "META-INF/ASiCManifest.xml", "META-INF/timestamp.tst", "META-INF/timestamp.pem"
_ALWAYS = {"mimetype", PROOF, JOURNAL, TIMESTAMPS, CERTIFICATES, ROOTS, README}
_ENDS = ([SUMS, MANIFEST], [SUMS, MANIFEST, TIMESTAMP, AUTHORITY])
_NAME = re.compile(
    r"(uploaded|signed)/[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*\.pdf|revocation/[0-9a-f]{64}\.(crl|ocsp)"
)
_LONGEST_PART = 32 << 20  # bytes of what is read at once and is no document
_MIMETYPE = b"application/vnd.etsi.asic-e+zip"
_TYPES = {
    "pdf": "application/pdf",
    "json": "application/json",
    "html": "text/html",
    "pem": "application/x-pem-file",
    "crl": "application/pkix-crl",
    "ocsp": "application/ocsp-response",
}
_START = """\
<?xml version="1.0" encoding="UTF-8"?>
<asic:ASiCManifest xmlns:asic="http://uri.etsi.org/02918/v1.2.1#" xmlns:ds="http://www.w3.org/2000/09/xmldsig#">
<asic:SigReference URI="META-INF/timestamp.tst" MimeType="application/vnd.etsi.timestamp-token"/>
"""
_REFERENCE = """\
<asic:DataObjectReference URI="{uri}" MimeType="{media_type}">\
<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>{digest}</ds:DigestValue>\
</asic:DataObjectReference>
"""


def begin(writer: ZipWriter) -> None:
    writer.add("mimetype", BytesIO(_MIMETYPE))


def end(writer: ZipWriter, stamp: Callable[[bytes], tuple[bytes, Sequence[bytes]] | None]) -> None:
    """Add digests, manifest and timestamp. ``stamp`` returns a token over the bytes of the manifest, and the chain of
    its authority, both as DER; None for no timestamp. What it is to cover (once there is a transparency log, also
    ``transparency.proof``) is added before."""
    writer.add(SUMS, BytesIO(_sums(writer.members)))
    manifest = _manifest(writer.members)
    writer.add(MANIFEST, BytesIO(manifest))
    if stamped := stamp(manifest):
        writer.add(TIMESTAMP, BytesIO(stamped[0]))
        writer.add(AUTHORITY, BytesIO(as_pem(stamped[1])))
    writer.finish()


def as_pem(certificates: Iterable[bytes]) -> bytes:
    """Return the certificates (DER) as a PEM file."""
    return b"".join(load_der_x509_certificate(each).public_bytes(Encoding.PEM) for each in certificates)


class Bundle(Mapping[str, bytes]):
    """The proof and the signed and uploaded files of a bundle by their names, each read when it is asked for. Raise
    :class:`ZipRefused` unless it has the form that :func:`end` gives it, and all digests are those of its files."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        members = read_members(file)
        self._members = {member.name: member for member in members}
        if not members or members[0].name != "mimetype" or self.part("mimetype") != _MIMETYPE:
            raise ZipRefused("It does not begin with the type of a bundle.")
        if strange := [member.name for member in members if not _is_name(member.name)]:
            raise ZipRefused(f'No bundle has a file with the name "{strange[0][:100]}".')
        if len({name.casefold() for name in self._members}) != len(members):
            raise ZipRefused("Two files in it have one name.")
        if lacking := sorted(_ALWAYS - self._members.keys()):
            raise ZipRefused(f"It lacks {lacking[0]}.")
        names = list(self._members)
        begin = names.index(SUMS) if SUMS in names else 0
        if names[begin:] not in _ENDS or self.part(SUMS) != _sums(members[:begin]):
            raise ZipRefused(f"{SUMS} does not have the digests of the files.")
        if self.part(MANIFEST) != _manifest(members[: begin + 1]):
            raise ZipRefused("The manifest does not have the digests of the files.")

    @property
    def is_stamped(self) -> bool:
        return TIMESTAMP in self._members

    def part(self, name: str) -> bytes:
        """Return any file of the bundle. Raise :class:`ZipRefused` where it is no document and too large."""
        member = self._members[name]
        if member.size > _LONGEST_PART and not _is_document(name):
            raise ZipRefused(f"{name} is larger than {_LONGEST_PART >> 20} MB.")
        self._file.seek(member.start)
        return self._file.read(member.size)

    def __getitem__(self, name: str) -> bytes:
        return self.part(name)

    def __iter__(self) -> Iterator[str]:
        return filter(_is_document, self._members)

    def __len__(self) -> int:
        return len(list(self))


def _is_document(name: str) -> bool:
    return name == PROOF or name.startswith((SIGNED, UPLOADED))


def _is_name(name: str) -> bool:
    return name in (*_ALWAYS, *_ENDS[-1]) or _NAME.fullmatch(name) is not None


def _sums(members: Sequence[Member]) -> bytes:
    return "".join(f"{member.sha256.hex()}  {member.name}\n" for member in members).encode()


def _manifest(members: Sequence[Member]) -> bytes:
    references = (
        _REFERENCE.format(
            uri=quote(member.name),
            media_type=_TYPES.get(member.name.rpartition(".")[2], "text/plain"),
            digest=base64.b64encode(member.sha256).decode(),
        )
        for member in members[1:]  # without "mimetype"
    )
    return (_START + "".join(references) + "</asic:ASiCManifest>\n").encode()
