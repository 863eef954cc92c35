"""The check of a fresh seal, before anyone gets the file: it is read again from its bytes, and only they count.

No code that wrote the seal takes part: not the revision, the drawing, the security store or the CMS template. Both
sides share the DER module, the parsed certificates and the reader of PDF objects, which also read the upload: a fault
in one of these could go unnoticed. The tests therefore have other programs judge the same seals: pdfsig, pyHanko and
OpenSSL.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf.drawing.marks import ExpectedDrawing
from paraph.pdf.pki import oids
from paraph.pdf.pki.cms import CmsRefused, SignedData, check_signature, read_signed_data
from paraph.pdf.pki.der import DerError
from paraph.pdf.pki.purpose import Purpose, stated_purpose
from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.refusal import SealError
from paraph.pdf.structure.objects import PdfStream, Ref, Unsafe
from paraph.pdf.structure.reader import PdfReader
from paraph.pdf.structure.unpacking import unpacked

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")
_WATERMARKS_CHECKED = 20
_DRAWN = re.compile(rb"(/\S+) Do")


@dataclass(frozen=True)
class ExpectedSeal:
    """What the finished file must contain.

    - ``certificates``: those of the key without the root, the key's own first;
    - ``purpose``: the purpose that the seal must state;
    - ``token``: the timestamp token of the seal, empty for none;
    - ``sealed_size``: how many bytes the file has up to the end of the seal's revision;
    - ``archive_token``: the token of the archive timestamp over all bytes, empty for none;
    - ``statuses``: the long-term data that the document security store must hold.
    """

    certificates: Sequence[bytes]
    purpose: Purpose
    token: bytes
    sealed_size: int
    archive_token: bytes
    statuses: LongTermData


def check(
    content: bytes,
    original_size: int,
    original_hash: "hashlib._Hash",
    *,
    original_start: int,
    placed: Sequence[ExpectedDrawing],
    expected: ExpectedSeal,
) -> None:
    """Raise :class:`SealError` unless ``content``, whose first ``original_size`` bytes are known to be the original's,
    has a valid seal over all of it.

    ``original_hash``: the SHA-256 state after the original bytes; ``original_start``: the position of their newest
    cross-reference; ``placed``: the drawings that the pages must show.
    """
    size, archive_token = expected.sealed_size, expected.archive_token
    try:
        reader = PdfReader(content)  # with the key that the result itself yields, where it is encrypted
        if reader.crossreference.start_within(original_size) != original_start:
            raise SealError("The sealed file does not point back to the objects of the uploaded one.")
        signatures = _last_signatures(reader, 2 if archive_token else 1)
        if archive_token:
            check_archive(content, original_size, original_hash, signatures.pop(), archive_token, seal_end=size)
        elif size != len(content):
            raise SealError("The archive timestamp is missing.")
        value, digest = covered(content, original_size, original_hash, signatures[0], size)
        signed = read_signed_data(value)
        if not signed.is_plain:
            raise SealError("The seal is not written as DER.")
        check_signature(signed, lambda name: hashlib.new(name).digest() if name != "sha256" else digest)
        own, *others = expected.certificates
        if signed.signer.encoded != own or set(signed.certificates) != {own, *others}:
            raise SealError("The seal carries other certificates than its own.")
        if stated_purpose(signed) != expected.purpose:
            raise SealError("The seal says that it is for something else.")
        _check_timestamp(signed, expected.token)
        check_store(reader, expected.statuses)
        check_drawings(reader, placed)
    except (CmsRefused, Unsafe, DerError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise SealError(f"The sealed file does not validate: {error}.") from error


def _last_signatures(reader: PdfReader, count: int) -> list[dict[bytes, Any]]:
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    form = reader.dictionary(root.get(b"/AcroForm"))
    fields = reader.resolve(form.get(b"/Fields"))
    return [reader.dictionary(reader.dictionary(field)[b"/V"]) for field in fields[-count:]]


def _check_timestamp(signed: SignedData, token: bytes) -> None:
    """Check that the token, which was verified on arrival, is in the seal unchanged and covers this signature."""
    tokens = [value.raw for value in signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN, [])]
    if tokens != ([token] if token else []):
        raise SealError("The timestamp of the seal is missing or was changed.")
    imprint = hashlib.sha256(signed.signature).digest()
    if token and imprint not in (read_signed_data(token).content or b""):
        raise SealError("The timestamp of the seal is over something else.")


def covered(
    content: bytes, original_size: int, original_hash: "hashlib._Hash", signature: dict[bytes, Any], size: int
) -> tuple[bytes, bytes]:
    """Return the value of a signature, and the SHA-256 digest of the first ``size`` bytes without that value.

    Raise :class:`SealError` where the signature covers anything else.
    """
    first, start, end, rest = signature[b"/ByteRange"]
    if first != 0 or not original_size <= start < end or end + rest != size:
        raise SealError("The seal does not cover the whole file.")
    if content[start : start + 1] + content[end - 1 : end] != b"<>":
        raise SealError("The seal does not leave out exactly its own value.")
    contents = content[start + 1 : end - 1]
    if signature[b"/Contents"] != b"<" + contents + b">":
        raise SealError("The seal covers the value of another signature.")
    document = original_hash.copy()
    with memoryview(content) as view:
        document.update(view[original_size:start])
        document.update(view[end:size])
    return bytes.fromhex(contents.decode("ascii")), document.digest()


def check_archive(
    content: bytes,
    original_size: int,
    original_hash: "hashlib._Hash",
    signature: dict[bytes, Any],
    token: bytes,
    *,
    seal_end: int,
) -> None:
    """Check that the token, which was verified on arrival, is in the file unchanged, in a revision after the first
    ``seal_end`` bytes, and covers the whole file. Raise :class:`SealError`."""
    value, digest = covered(content, original_size, original_hash, signature, len(content))
    if signature[b"/Type"] != b"/DocTimeStamp" or signature[b"/ByteRange"][1] < seal_end:
        raise SealError("The archive timestamp is not the last signature.")
    if value.rstrip(b"\0") != token.rstrip(b"\0"):
        raise SealError("The archive timestamp was changed.")
    if digest not in (read_signed_data(token).content or b""):
        raise SealError("The archive timestamp is over something else.")


def check_store(reader: PdfReader, statuses: LongTermData) -> None:
    """Check that the document security store holds all of ``statuses``. Raise :class:`SealError`."""
    if not statuses:
        return
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    store = reader.dictionary(root.get(b"/DSS"))
    for key, items in zip(_KEYS, statuses.lists, strict=True):
        missing = set(items)
        longest = max(map(len, items), default=0)
        for listed in reversed(reader.resolve(store.get(key)) or []):
            if not missing:
                break
            stream = reader.resolve(listed)
            if isinstance(stream, PdfStream) and len(stream.data) <= longest:  # a longer one is not ours
                missing.discard(unpacked(stream))
        if missing:
            raise SealError("The long-term data of the seal is missing or was changed.")


def check_drawings(reader: PdfReader, expected: Sequence[ExpectedDrawing]) -> None:
    """Raise :class:`SealError` unless the last drawing of each page shows exactly the expected form XObjects."""
    drawn_forms = _DrawnForms(reader)
    for item in _sample(expected):
        found = drawn_forms.in_annotation(item.page) if item.in_annotation else drawn_forms.in_contents(item.page)
        if found != set(item.drawing.names.values()) or not all(drawn_forms.is_stream(form) for form in found):
            raise SealError("A mark is missing from its page.")


def _sample(expected: Sequence[ExpectedDrawing]) -> list[ExpectedDrawing]:
    """Return every page with marks of its own, and watermarked pages evenly spread over the document."""
    backgrounds = [item for item in expected if item.background]
    step = -(-len(backgrounds) // _WATERMARKS_CHECKED) or 1
    return [item for item in expected if not item.background] + backgrounds[::step]


class _DrawnForms:
    """Find the form XObjects that pages show."""

    def __init__(self, reader: PdfReader) -> None:
        self._reader = reader
        self._names: dict[Any, list[bytes]] = {}

    def is_stream(self, form: Any) -> bool:
        return isinstance(self._reader.resolve(form), PdfStream)

    def in_contents(self, page: Ref) -> set[Any]:
        dictionary = self._reader.dictionary(page)
        last = self._reader.resolve(dictionary[b"/Contents"])[-1]
        return self._resolve_names(self._drawn_by(last), self._resources(dictionary))

    def in_annotation(self, page: Ref) -> set[Any]:
        reader = self._reader
        shown = map(reader.dictionary, reversed(reader.resolve(reader.dictionary(page)[b"/Annots"])))
        annotation = next(item for item in shown if b"/AP" in item)  # the widget of an archive timestamp shows nothing
        picture = reader.dictionary(annotation[b"/AP"])[b"/N"]
        names, stream = self._drawn_by(picture), reader.resolve(picture)
        return self._resolve_names(names, stream.dictionary[b"/Resources"])

    def _drawn_by(self, ref: Any) -> list[bytes]:
        if ref not in self._names:
            stream = self._reader.resolve(ref)
            if not isinstance(stream, PdfStream):
                raise SealError("A mark is missing from its page.")
            self._names[ref] = _DRAWN.findall(unpacked(stream))
        return self._names[ref]

    def _resolve_names(self, names: list[bytes], resources: Any) -> set[Any]:
        objects = self._reader.dictionary(self._reader.dictionary(resources)[b"/XObject"])
        return {objects.get(name) for name in names}

    def _resources(self, page: dict[bytes, Any]) -> Any:
        node: Any = page
        while isinstance(node, dict):
            if b"/Resources" in node:
                return node[b"/Resources"]
            node = self._reader.resolve(node.get(b"/Parent"))
        raise SealError("A page lost its resources.")
