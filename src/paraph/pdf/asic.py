"""A bundle of evidence as ASiC-E with a time assertion (ETSI EN 319 162-1, 4.4 and annex A.4): a ZIP file of one form,
the names of its files, and what its manifest and its list of digests say about them.

A reader writes anew everything that follows from the files alone, including the ZIP file around them, and compares the
result with what it was given: nothing of that is interpreted, and no other bytes are accepted. The ZIP file is as the
standard library writes it, with uncompressed members.
"""

import base64
import io
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple
from urllib.parse import quote
from zipfile import ZIP64_LIMIT, BadZipFile, LargeZipFile, ZipFile, ZipInfo

from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import load_der_x509_certificate

MOST_MEMBERS = 10_000  # a hundred documents, and decades of revocation data beside them
BLOCK = 1 << 20
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the earliest time in ZIP: nobody vouches for a member's time, so none is stated
_UNIX, _REGULAR_FILE = 3, 0o100644 << 16
_UNSAFE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')  # in a file's name, on at least one of the systems that unpack it
_ENDING = ".pdf"
_LONGEST = 200  # bytes; most systems take 255
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


class ZipRefused(Exception):
    """The file does not have the form of a bundle; the message is one sentence."""


class Member(NamedTuple):
    """A file of the ZIP; its content begins at ``start``."""

    name: str
    start: int
    size: int
    sha256: bytes


class ZipWriter(ZipFile):
    """Write into an empty file, or into :class:`_Compared`. Raise ``LargeZipFile`` soon after 2 GB."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, "w", allowZip64=False)
        self.members: list[Member] = []
        self._into = file

    def add(self, name: str, content: Iterable[bytes]) -> Member:
        info, hash_ = ZipInfo(name, _EARLIEST), sha256()
        info.create_system, info.external_attr = _UNIX, _REGULAR_FILE
        with self.open(info, "w") as opened:
            start = self._into.tell()
            for block in content:
                hash_.update(block)
                opened.write(block)
        self.members.append(Member(name, start, info.file_size, hash_.digest()))
        return self.members[-1]


class _Compared(io.RawIOBase):
    """Compare what is written with what a file has in the same place. Only the last write to a place counts: a header
    is written again once the checksum is known."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._same = file, dict[int, bool]()
        self._file.seek(0)

    def is_same(self) -> bool:
        """Return whether the file has what was written, and ends there."""
        return all(self._same.values()) and not self._file.read(1)

    def tell(self) -> int:
        return self._file.tell()

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def write(self, content: Any) -> int:
        place = self.tell()
        self._same[place] = self._file.read(len(content)) == content
        return len(content)

    def ahead(self, size: int) -> Iterator[bytes]:
        """Yield the next ``size`` bytes of the file in blocks, each of which must be written before the next."""
        while block := self._file.read(min(BLOCK, size)):
            self.seek(-len(block), io.SEEK_CUR)
            yield block
            size -= len(block)


def read_members(file: BinaryIO) -> list[Member]:
    """Return the members of a ZIP file as :class:`ZipWriter` writes it. Raise :class:`ZipRefused`. Unpack nothing."""
    if file.seek(0, io.SEEK_END) > ZIP64_LIMIT:
        raise ZipRefused("It is larger than 2 GB.")
    try:
        with ZipFile(file) as archive:
            named = {info.filename.casefold(): info for info in archive.infolist()}
            count = len(archive.infolist())
        if count > MOST_MEMBERS:
            raise ZipRefused(f"It has more than {MOST_MEMBERS} files.")
        if len(named) < count:
            raise ZipRefused("Two files in it have one name.")
        compared = _Compared(file)
        with ZipWriter(compared) as writer:
            for info in named.values():
                writer.add(info.filename, compared.ahead(info.file_size))
    except (BadZipFile, LargeZipFile, RuntimeError, OSError, ValueError, struct.error) as error:
        raise ZipRefused("It is no ZIP file, or was cut off.") from error
    if not compared.is_same():
        raise ZipRefused("It was altered, or is packed, encrypted, linked or described otherwise than a bundle is.")
    return writer.members


class FilesByName(Mapping[str, bytes]):
    """Files by their names, each read anew whenever it is asked for."""

    def __init__(self, readers: Mapping[str, Callable[[], bytes]]) -> None:
        self._readers = readers

    def __getitem__(self, name: str) -> bytes:
        return self._readers[name]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def selected(self, chosen: Callable[[str], bool]) -> "FilesByName":
        """Return the files whose names ``chosen`` accepts."""
        return FilesByName({name: read for name, read in self._readers.items() if chosen(name)})


def begin(writer: ZipWriter) -> None:
    writer.add("mimetype", [_MIMETYPE])


def end(writer: ZipWriter, stamp: Callable[[bytes], tuple[bytes, Sequence[bytes]] | None]) -> None:
    """Add digests, manifest and timestamp. ``stamp`` returns a token over the bytes of the manifest, and the chain of
    its authority, both as DER; None for no timestamp. All files that it is to cover must have been added."""
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


def free_name(name: str, taken: set[str]) -> str:
    """Return the name without characters that no file's name may have, and with a number where another file has the
    same name. Add the result to ``taken``."""
    safe = _UNSAFE.sub("_", name).strip(" .")
    stem = safe[: -len(_ENDING)] if safe.lower().endswith(_ENDING) else safe
    stem = stem.encode()[:_LONGEST].decode(errors="ignore").rstrip(" .").lstrip(" .-") or "document"
    number, free = 1, f"{stem}{_ENDING}"
    while free.casefold() in taken:
        number += 1
        free = f"{stem}-{number}{_ENDING}"
    taken.add(free.casefold())
    return free


def signed_name(document_name: str) -> str:
    """Return the name of the sealed form of the document with this name, such as ``lease-signed.pdf``."""
    stem = document_name[: -len(_ENDING)] if document_name.lower().endswith(_ENDING) else document_name
    return f"{stem}-signed.pdf"


def bundled(titles: Iterable[str]) -> list[tuple[str, str]]:
    """Return the names that the signed and the uploaded file of each document have in a bundle."""
    names, taken = [*titles], set[str]()
    uploaded = [UPLOADED + free_name(name, taken) for name in names]
    return [(SIGNED + free_name(signed_name(name), taken), up) for name, up in zip(names, uploaded, strict=True)]
