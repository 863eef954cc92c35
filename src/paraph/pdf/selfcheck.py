"""Checking a seal before anyone gets it: the result is opened again and believed only in what it shows.

The reader, the DER parser and the signature check here share no code with the writer and the CMS template.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from paraph.pdf import oids
from paraph.pdf.cms import CmsRefused, SignedData, check_signature, read_signed_data
from paraph.pdf.der import DerError
from paraph.pdf.encryption import Encryption
from paraph.pdf.errors import SealError
from paraph.pdf.marks import Drawing
from paraph.pdf.objects import Ref, Stream, Unsafe
from paraph.pdf.reader import Reader, decoded

_WATERMARKS_CHECKED = 20
_DRAWN = re.compile(rb"(/\S+) Do")


@dataclass(frozen=True)
class Placed:
    """What must be found again: a drawing in the contents of a page, or in its last annotation.

    ``background``: a watermark alone, of which a sample is looked at.
    """

    page: Ref
    drawing: Drawing
    in_annotation: bool
    background: bool = False


def check(
    content: bytes,
    original: bytes,
    *,
    original_hash: "hashlib._Hash",
    encryption: Encryption | None,
    certificates: Sequence[bytes],
    token: bytes,
    placed: Sequence[Placed],
) -> None:
    """Raises :class:`SealError` unless ``content`` is ``original``, extended, with a valid seal over all of it.

    ``original_hash`` is SHA-256 after the original bytes; they are compared, so their hash need not be computed again.
    ``certificates`` are those of the key without the root, its own first; ``token`` is empty without a timestamp.
    """
    try:
        if not content.startswith(original):
            raise SealError("The uploaded bytes are not the beginning of the sealed file.")
        reader = Reader(content, encryption=encryption)
        signature = _last_signature(reader)
        signed = _check_seal(content, original, original_hash, signature)
        if signed.signer.encoded != certificates[0] or set(signed.certificates) != set(certificates):
            raise SealError("The seal carries other certificates than its own.")
        _check_timestamp(signed, token)
        for item in _worth_looking_at(placed):
            _check_drawing(reader, item)
    except (CmsRefused, Unsafe, DerError, LookupError, TypeError, ValueError) as error:
        raise SealError(f"The sealed file does not validate: {error}.") from error


def _last_signature(reader: Reader) -> dict[bytes, Any]:
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    form = reader.dictionary(root.get(b"/AcroForm"))
    fields = reader.resolve(form.get(b"/Fields"))
    return reader.dictionary(reader.dictionary(fields[-1])[b"/V"])


def _check_seal(
    content: bytes, original: bytes, original_hash: "hashlib._Hash", signature: dict[bytes, Any]
) -> SignedData:
    first, start, end, rest = signature[b"/ByteRange"]
    if first != 0 or not len(original) <= start < end or end + rest != len(content):
        raise SealError("The seal does not cover the whole file.")
    if content[start : start + 1] + content[end - 1 : end] != b"<>":
        raise SealError("The seal does not leave out exactly its own value.")
    contents = content[start + 1 : end - 1]
    if signature[b"/Contents"] != b"<" + contents + b">":
        raise SealError("The seal covers the value of another signature.")
    document = original_hash.copy()
    with memoryview(content) as view:
        document.update(view[len(original) : start])
        document.update(view[end:])
    signed = read_signed_data(bytes.fromhex(contents.decode("ascii")))
    check_signature(signed, lambda name: hashlib.new(name).digest() if name != "sha256" else document.digest())
    return signed


def _check_timestamp(signed: SignedData, token: bytes) -> None:
    """The token was verified when it came; here it must be the same, and over this very signature."""
    tokens = [value.raw for value in signed.unsigned_attributes.get(oids.TIMESTAMP_TOKEN, [])]
    if tokens != ([token] if token else []):
        raise SealError("The timestamp of the seal is missing or was changed.")
    imprint = hashlib.sha256(signed.signature).digest()
    if token and imprint not in (read_signed_data(token).content or b""):
        raise SealError("The timestamp of the seal is over something else.")


def _worth_looking_at(placed: Sequence[Placed]) -> list[Placed]:
    """Every page with a mark of its own, and watermarks evenly over the document."""
    backgrounds = [item for item in placed if item.background]
    step = -(-len(backgrounds) // _WATERMARKS_CHECKED) or 1
    return [item for item in placed if not item.background] + backgrounds[::step]


def _check_drawing(reader: Reader, placed: Placed) -> None:
    """The forms that the page's last drawing shows are those that it was to show."""
    page = reader.dictionary(placed.page)
    if placed.in_annotation:
        annotation = reader.dictionary(reader.resolve(page[b"/Annots"])[-1])
        stream = reader.resolve(reader.dictionary(annotation[b"/AP"])[b"/N"])
        resources: Any = stream.dictionary[b"/Resources"] if isinstance(stream, Stream) else {}
    else:
        contents = reader.resolve(page[b"/Contents"])
        stream, resources = reader.resolve(contents[-1]), _resources(reader, page)
    if not isinstance(stream, Stream):
        raise SealError("A mark is missing from its page.")
    names = _DRAWN.findall(decoded(stream))
    objects = reader.dictionary(reader.dictionary(resources)[b"/XObject"])
    found = {objects.get(name) for name in names}
    if found != set(placed.drawing.names.values()) or not all(
        isinstance(reader.resolve(item), Stream) for item in found
    ):
        raise SealError("A mark is missing from its page.")


def _resources(reader: Reader, page: dict[bytes, Any]) -> Any:
    node: Any = page
    while isinstance(node, dict):
        if b"/Resources" in node:
            return node[b"/Resources"]
        node = reader.resolve(node.get(b"/Parent"))
    raise SealError("A page lost its resources.")
