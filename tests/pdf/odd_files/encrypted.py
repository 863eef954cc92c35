"""Encrypted files that open without a password, and those that do not."""

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from tests.pdf.odd_files.cipher import Lock
from tests.pdf.odd_files.papers import FONT, filled, page_number, promise, some
from tests.pdf.odd_files.raw import Raw

_LOCK, _INFO, _FILE = 60, 61, 62
_IDENTIFIER = b"/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]"


def locked(chance: Random, *, identifier: bool = True, catalog: bytes = b"", **options: Any) -> bytes:
    """An encrypted file, sound, or with bytes before the header or a wrong cross-reference that call for rewriting."""
    lock = Lock(chance, identifier=bytes.fromhex("00112233445566778899aabbccddeeff") if identifier else b"", **options)
    return bytes(_ended(_document(chance, lock, catalog, identifier=identifier), chance))


def string_without_data(chance: Random, **options: Any) -> bytes:
    """A string that is an initialisation vector (16 bytes) with no data after it, or shorter still."""
    lock = Lock(chance, **options)
    raw = _document(chance, lock, b"", identifier=True)
    title = chance.randbytes(chance.choice([16, 16, 0, 7])).hex().encode()
    raw.put(page_number(0), _page_with(b"/Note<%b>" % title))
    return bytes(_ended(raw, chance))


def identity(chance: Random, *, names: bytes, streams: bool, strings: bool) -> bytes:
    """A file whose crypt filters leave streams, strings or both in the clear."""
    lock = Lock(chance, revision=chance.choice([4, 6]), crypt_filters=names)
    raw = Raw(encrypt=lock.encrypt if streams else None)
    filled(raw, [promise(which) for which in some(chance, 2)])
    raw.encrypt = lock.encrypt if strings else None
    raw.put(_INFO, b"<</Title%b>>" % raw.string(_INFO, b"A title"))
    return bytes(_ended(_with_lock(raw, lock, identifier=True), chance))


def attachments_only(chance: Random) -> bytes:
    """A file with only its attachment encrypted; readers ask for the password when it is opened."""
    filters = b"/StmF/Identity/StrF/Identity/EFF/StdCF"
    lock = Lock(chance, revision=4, user=b"secret", crypt_filters=filters, event=b"/EFOpen")
    names = b"/Names<</EmbeddedFiles<</Names[(a.txt) %d 0 R]>>>>" % (_FILE + 1)
    raw = filled(Raw(), [promise(some(chance, 1)[0])], catalog=names)
    raw.stream(_FILE, lock.encrypt(_FILE, 0, b"an attachment"), b"/Type/EmbeddedFile")
    raw.put(_FILE + 1, b"<</Type/Filespec/F(a.txt)/EF<</F %d 0 R>>>>" % _FILE)
    return bytes(_ended(_with_lock(raw, lock, identifier=True), chance))


def public_key(chance: Random) -> bytes:
    """A file encrypted for the certificates of its recipients."""
    raw = Raw(encrypt=lambda _number, _generation, data: chance.randbytes(16 + len(data) // 16 * 16))
    filled(raw, [promise(some(chance, 1)[0])])
    raw.encrypt = None
    recipients = b"/Recipients[<%b>]" % chance.randbytes(200).hex().encode()
    filters = b"/CF<</DefaultCryptFilter<</CFM/AESV2/Length 16%b>>>>" % recipients
    filters += b"/StmF/DefaultCryptFilter/StrF/DefaultCryptFilter"
    raw.put(_LOCK, b"<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s5/V 4/Length 128%b>>" % filters)
    raw.trailer = _IDENTIFIER + b"/Encrypt %d 0 R" % _LOCK
    return bytes(_ended(raw, chance))


def without_identifier(chance: Random) -> bytes:
    """A file without /ID that is not encrypted."""
    raw = filled(Raw(trailer=b""), [promise(which) for which in some(chance, 2)])
    return bytes(_ended(raw, chance))


def _document(chance: Random, lock: Lock, catalog: bytes, *, identifier: bool) -> Raw:
    raw = Raw(encrypt=lock.encrypt)
    promises = [promise(which) for which in some(chance, chance.choice([1, 2]))]
    filled(raw, promises, catalog=catalog, deflated=chance.random() < 0.5)
    raw.put(_INFO, b"<</Title%b>>" % raw.string(_INFO, b"A title"))
    return _with_lock(raw, lock, identifier=identifier)


def _with_lock(raw: Raw, lock: Lock, *, identifier: bool) -> Raw:
    raw.put(_LOCK, lock.dictionary())
    raw.trailer = (_IDENTIFIER if identifier else b"") + b"/Info %d 0 R/Encrypt %d 0 R" % (_INFO, _LOCK)
    return raw


def _page_with(entries: bytes) -> bytes:
    parts = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents %d 0 R/Resources<</Font<</F1 %d 0 R>>>>%b>>"
    return parts % (page_number(0) + 1, FONT, entries)


def _ended(raw: Raw, chance: Random) -> bytes:
    way = chance.choice(["plain", "plain", "before", "wrong", "stream"])
    tail = b"startxref\n7\n%%%%EOF\n" if way == "wrong" else b"startxref\n%d\n%%%%EOF\n"
    content = bytes(raw.close(as_stream=way == "stream", tail=tail))
    return b"\r\n junk\n" + content if way == "before" else content


_KINDS: dict[str, dict[str, Any]] = {
    "RC4 of 40 bits": {"revision": 2},
    "RC4 of 128 bits": {"revision": 3},
    "RC4 by crypt filter": {"revision": 4, "aes": False},
    "AES of 128 bits": {"revision": 4},
    "AES of 256 bits, R5": {"revision": 5},
    "AES of 256 bits, R6": {"revision": 6},
    "metadata in the clear, R4": {"revision": 4, "metadata": False},
    "metadata in the clear, R6": {"revision": 6, "metadata": False},
    "no owner password": {"revision": 3, "owner": b""},
    "password needed": {"revision": 4, "user": b"secret"},
    "password needed, R6": {"revision": 6, "user": b"secret"},
    "no /ID, RC4": {"revision": 3, "identifier": False},
    "no /ID, AES": {"revision": 4, "identifier": False},
    "no /ID, R6": {"revision": 6, "identifier": False},
}
CLASSES: dict[str, Callable[[Random], bytes]] = {
    **{f"encrypted: {name}": partial(locked, **options) for name, options in _KINDS.items()},
    "encrypted: string of a vector alone, R4": partial(string_without_data, revision=4),
    "encrypted: string of a vector alone, R6": partial(string_without_data, revision=6),
    "encrypted: strings alone": partial(identity, names=b"/StmF/Identity/StrF/StdCF", streams=False, strings=True),
    "encrypted: streams alone": partial(identity, names=b"/StmF/StdCF/StrF/Identity", streams=True, strings=False),
    "encrypted: nothing at all": partial(identity, names=b"", streams=False, strings=False),
    "encrypted: attachments alone": attachments_only,
    "encrypted: for certificates": public_key,
    "no /ID": without_identifier,
}
