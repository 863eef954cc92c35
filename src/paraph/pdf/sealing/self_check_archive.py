"""Parts of the check of a fresh seal: the bytes that a signature covers, the archive timestamp, the statuses."""

import hashlib
from typing import Any

from paraph.pdf.errors import SealError
from paraph.pdf.pki.cms import read_signed_data
from paraph.pdf.pki.revocation_data import LongTermData
from paraph.pdf.structure.objects import PdfStream
from paraph.pdf.structure.reader import PdfReader, decoded

_KEYS = (b"/Certs", b"/CRLs", b"/OCSPs")


def covered(
    content: bytes, original_size: int, original_hash: "hashlib._Hash", signature: dict[bytes, Any], size: int
) -> tuple[bytes, bytes]:
    """Returns the value of a signature, and the SHA-256 digest of the first ``size`` bytes without that value.

    Raises :class:`SealError` where the signature covers anything else.
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
    """Checks that the token, which was verified on arrival, is in the file unchanged, in a revision after the first
    ``seal_end`` bytes, and covers the whole file. Raises :class:`SealError`."""
    value, digest = covered(content, original_size, original_hash, signature, len(content))
    if signature[b"/Type"] != b"/DocTimeStamp" or signature[b"/ByteRange"][1] < seal_end:
        raise SealError("The archive timestamp is not the last signature.")
    if value.rstrip(b"\0") != token.rstrip(b"\0"):
        raise SealError("The archive timestamp was changed.")
    if digest not in (read_signed_data(token).content or b""):
        raise SealError("The archive timestamp is over something else.")


def check_store(reader: PdfReader, statuses: LongTermData) -> None:
    """Checks that the document security store holds all of ``statuses``. Raises :class:`SealError`."""
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
            if isinstance(stream, PdfStream) and len(stream.data) <= longest:  # no longer stream can be one of ours
                missing.discard(decoded(stream))
        if missing:
            raise SealError("The long-term data of the seal is missing or was changed.")
