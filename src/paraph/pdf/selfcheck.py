"""Checking a seal before anyone gets it: the result is opened again and believed only in what it shows.

The reader, the DER parser and the signature check here share no code with the writer and the CMS template.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from paraph.pdf import oids
from paraph.pdf.cms import CmsRefused, SignedData, check_signature, read_signed_data
from paraph.pdf.der import DerError
from paraph.pdf.encryption import Encryption
from paraph.pdf.errors import SealError
from paraph.pdf.long_term import LongTermData
from paraph.pdf.marks import Drawing
from paraph.pdf.objects import Ref, Stream, Unsafe
from paraph.pdf.reader import Reader, decoded
from paraph.pdf.selfcheck_archive import check_archive, check_store, covered

_NO_DATA = LongTermData()
_WATERMARKS_CHECKED = 20
_DRAWN = re.compile(rb"(/\S+) Do")


class Placed(NamedTuple):
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
    original_start: int | None,
    encryption: Encryption | None,
    certificates: Sequence[bytes],
    token: bytes,
    placed: Sequence[Placed],
    sealed_size: int | None = None,
    archive_token: bytes = b"",
    statuses: LongTermData = _NO_DATA,
) -> None:
    """Raises :class:`SealError` unless ``content`` is ``original``, extended, with a valid seal over all of it.

    ``original_hash`` is SHA-256 after the original bytes; they are compared, so their hash need not be computed again.
    ``original_start`` is where their newest cross-reference begins, None where the new one brings everything.
    ``certificates`` are those of the key without the root, its own first; ``token`` is empty without a timestamp.
    ``archive_token`` is that of the archive timestamp after the seal, empty without one: the seal then covers the
    first ``sealed_size`` bytes and the timestamp everything. ``statuses`` must be in the document security store.
    """
    try:
        if not content.startswith(original):
            raise SealError("The uploaded bytes are not the beginning of the sealed file.")
        reader = Reader(content, encryption=encryption)
        if reader.crossreference.start_within(len(original)) != original_start:
            raise SealError("The sealed file does not point back to the objects of the uploaded one.")
        signatures = _last_signatures(reader, 2 if archive_token else 1)
        size = len(content) if sealed_size is None else sealed_size
        if archive_token:
            check_archive(content, original, original_hash, signatures.pop(), archive_token, seal_end=size)
        elif size != len(content):
            raise SealError("The archive timestamp is missing.")
        signed = _check_seal(content, original, original_hash, signatures[0], size)
        if signed.signer.encoded != certificates[0] or set(signed.certificates) != set(certificates):
            raise SealError("The seal carries other certificates than its own.")
        _check_timestamp(signed, token)
        check_store(reader, statuses)
        for item in _worth_looking_at(placed):
            _check_drawing(reader, item)
    except (CmsRefused, Unsafe, DerError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise SealError(f"The sealed file does not validate: {error}.") from error


def _last_signatures(reader: Reader, count: int) -> list[dict[bytes, Any]]:
    root = reader.dictionary(reader.trailer.get(b"/Root"))
    form = reader.dictionary(root.get(b"/AcroForm"))
    fields = reader.resolve(form.get(b"/Fields"))
    return [reader.dictionary(reader.dictionary(field)[b"/V"]) for field in fields[-count:]]


def _check_seal(
    content: bytes, original: bytes, original_hash: "hashlib._Hash", signature: dict[bytes, Any], size: int
) -> SignedData:
    value, digest = covered(content, original, original_hash, signature, size)
    signed = read_signed_data(value)
    check_signature(signed, lambda name: hashlib.new(name).digest() if name != "sha256" else digest)
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
        shown = map(reader.dictionary, reversed(reader.resolve(page[b"/Annots"])))
        annotation = next(item for item in shown if b"/AP" in item)  # the archive timestamp's shows nothing
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
