"""Alterations of a sealed file that need none of its keys."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pikepdf
from asn1crypto import cms, tsp, x509
from pyhanko.pdf_utils.generic import StreamObject
from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter

from lab.opinions.files import FILES, authority, sealed

_BYTE_RANGE = re.compile(rb"/ByteRange\s*\[\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*\]")


class NotHere(ValueError):
    """The file lacks what the alteration changes."""


class Signature:
    """A signature or timestamp of a file, found by its byte range alone, or a token within one."""

    def __init__(self, der: bytes, covered: bytes = b"", end: int = 0) -> None:
        """``covered``: the bytes that it signs; ``end``: where its revision ends."""
        message = cms.ContentInfo.load(der)
        self.der, self.covered, self.end = message.dump(), covered, end  # without the zeros behind it
        self._signer, self.content = message["content"]["signer_infos"][0], message["content"]["encap_content_info"]
        self.value: bytes = self._signer["signature"].native
        self.is_timestamp: bool = self.content["content_type"].native == "tst_info"

    @property
    def token(self) -> "Signature":
        """Return the timestamp over this signature. Raise :class:`NotHere` if there is none."""
        for attribute in self._signer["unsigned_attrs"]:
            if attribute["type"].native == "signature_time_stamp_token":
                return Signature(attribute["values"][0].dump())
        raise NotHere


def _signatures(pdf: bytes) -> list[Signature]:
    ranges = [map(int, found.groups()) for found in _BYTE_RANGE.finditer(pdf)]
    return [
        Signature(bytes.fromhex(pdf[end + 1 : start - 1].decode()), pdf[:end] + pdf[start : start + rest], start + rest)
        for _, end, start, rest in ranges
    ]


def newest_seal(pdf: bytes) -> Signature:
    return [each for each in _signatures(pdf) if not each.is_timestamp][-1]


def newest_archive(pdf: bytes) -> Signature:
    """Return the archive timestamp over the newest seal. Raise :class:`NotHere` if there is none."""
    last = _signatures(pdf)[-1]
    if not last.is_timestamp:
        raise NotHere
    return last


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _content(name: str) -> bytes:
    pdf = sealed(name)
    with pikepdf.open(BytesIO(pdf)) as document:
        contents = document.pages[0].obj.Contents
        streams = contents if isinstance(contents, pikepdf.Array) else [contents]
        number, _ = max(streams, key=lambda each: len(each.read_raw_bytes())).objgen
    begins = re.compile(rb"\b%d 0 obj\b.*?stream\r?\n" % number, re.DOTALL).search(pdf)
    assert begins
    return _flipped(pdf, (begins.end() + pdf.index(b"endstream", begins.end())) // 2)


def _in_contents(name: str, old: bytes, new: bytes) -> bytes:
    """Replace a signature, or a piece of one, by another of the same length."""
    assert sealed(name).count(old.hex().encode()) == 1
    return sealed(name).replace(old.hex().encode(), new.hex().encode())


def _value(name: str, signature: Signature) -> bytes:
    return _in_contents(
        name, signature.value, _flipped(signature.value, len(signature.value) // 4)
    )  # within the first of the two numbers of an ECDSA signature


def _time(name: str) -> bytes:
    info: bytes = newest_seal(sealed(name)).token.content["content"].contents
    time = tsp.TSTInfo.load(info)["gen_time"].contents
    return _in_contents(name, info, _flipped(info, info.index(time) + 13))  # the last digit of the seconds


def _without_archive(name: str) -> bytes:
    newest_archive(sealed(name))
    return sealed(name)[: newest_seal(sealed(name)).end]


def _revision(name: str) -> bytes:
    """Paint over the page in an update as any program writes it."""
    writer: Any = IncrementalPdfFileWriter(BytesIO(sealed(name)))
    if writer.prev.encrypted:
        writer.encrypt("")
    stream = StreamObject(stream_data=b"q 1 1 1 rg 90 690 200 30 re f Q")
    writer.add_stream_to_page(0, writer.add_object(stream))
    written = BytesIO()
    writer.write(written)
    return written.getvalue()


def _certificate(name: str) -> bytes:
    """Replace the signer's certificate by one that says the same but is for a stranger's key."""
    file, seal = FILES[name], newest_seal(sealed(name)).der
    own, other = file.key_of(authority(file.kind)), file.key_of(authority(file.kind, "stranger"))
    new = x509.Certificate.load(own.certificate).copy()
    body, theirs = new["tbs_certificate"], x509.Certificate.load(other.certificate)["tbs_certificate"]
    body["subject_public_key_info"] = theirs["subject_public_key_info"]
    while len(new.dump(force=True)) != len(own.certificate) or new.dump() == own.certificate:
        new["signature_value"] = other.sign(body.dump()).value  # an ECDSA signature varies in length
    return _in_contents(name, seal, seal.replace(own.certificate, new.dump()))


ALTERATIONS: dict[str, Callable[[str], bytes]] = {
    "a byte of the content": _content,
    "a byte of the seal": lambda name: _value(name, newest_seal(sealed(name))),
    "a byte of the seal's timestamp": lambda name: _value(name, newest_seal(sealed(name)).token),
    "the time in the seal's timestamp": _time,
    "a byte of the archive timestamp": lambda name: _value(name, newest_archive(sealed(name))),
    "the archive timestamp removed": _without_archive,
    "a revision appended": _revision,
    "a comment appended": lambda name: sealed(name) + b"% added later\n",
    "another certificate in the seal": _certificate,
    "sealed by a stranger": lambda name: FILES[name].by(authority(FILES[name].kind, "stranger")),
}
"""Alterations by what they alter; each takes the name of a file, and may raise :class:`NotHere`."""
