"""Encrypted files that open without a password, and those that do not, by a standard security handler (ISO 32000-2,
7.6.4) written for the tests alone: every variant, and repeatable."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from tests.pdf.odd_files.papers import FONT, Raw, filled, page_number, promise, some

_PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")
_PERMISSIONS = -44


@dataclass
class Lock:
    """The encryption of one file. ``revision``: 2 to 6; ``aes``: whether revision 4 uses AES instead of RC4."""

    chance: Random
    revision: int = 4
    aes: bool = True
    length: int = 16
    metadata: bool = True
    user: bytes = b""
    owner: bytes = b"owner"
    identifier: bytes = bytes.fromhex("00112233445566778899aabbccddeeff")
    crypt_filters: bytes = b"/StmF/StdCF/StrF/StdCF"
    event: bytes = b"/DocOpen"
    key: bytes = field(init=False)
    entries: bytes = field(init=False)

    def __post_init__(self) -> None:
        if self.revision == 2:
            self.length = 5
        if self.revision > 4:
            self.key, self.entries = self._newer()
        else:
            self.key, self.entries = self._older()

    def encrypt(self, number: int, generation: int, data: bytes) -> bytes:
        """Encrypt data of one object."""
        if self.revision > 4:
            return self._cbc(self.key, data)
        mixed = self.key + number.to_bytes(3, "little") + generation.to_bytes(2, "little")
        aes = self.aes and self.revision == 4
        key = _md5(mixed + (b"sAlT" if aes else b""))[: min(len(self.key) + 5, 16)]
        return self._cbc(key, data) if aes else _rc4(key, data)

    def dictionary(self) -> bytes:
        """The object /Encrypt."""
        version = {2: 1, 3: 2, 4: 4, 5: 5, 6: 5}[self.revision]
        sizes = (version, self.revision, 8 * len(self.key), _PERMISSIONS)
        head = b"<</Filter/Standard/V %d/R %d/Length %d/P %d" % sizes
        if self.revision >= 4:
            method = b"/AESV3" if self.revision > 4 else b"/AESV2" if self.aes else b"/V2"
            head += b"/CF<</StdCF<</AuthEvent%b/CFM%b/Length %d>>>>" % (self.event, method, len(self.key))
            head += self.crypt_filters + (b"" if self.metadata else b"/EncryptMetadata false")
        return head + self.entries + b">>"

    def _older(self) -> tuple[bytes, bytes]:
        """Return the key and the entries /O and /U (Algorithms 2 to 5)."""
        owner = _md5(_padded(self.owner))
        for _ in range(50 if self.revision > 2 else 0):
            owner = _md5(owner[: self.length])
        o = _rounds(owner[: self.length], _padded(self.user), self.revision)
        mixed = _padded(self.user) + o + _PERMISSIONS.to_bytes(4, "little", signed=True) + self.identifier
        key = _md5(mixed + (b"" if self.metadata or self.revision < 4 else b"\xff" * 4))
        for _ in range(50 if self.revision > 2 else 0):
            key = _md5(key[: self.length])
        key = key[: self.length]
        u = _rc4(key, _PAD) if self.revision == 2 else _rounds(key, _md5(_PAD + self.identifier), 3) + bytes(16)
        return key, b"/O<%b>/U<%b>" % (o.hex().encode(), u.hex().encode())

    def _newer(self) -> tuple[bytes, bytes]:
        """Return the key and the entries /U, /UE, /O, /OE and /Perms (Algorithms 8 to 10)."""
        digest: Callable[[bytes, bytes, bytes], bytes] = _sha256 if self.revision == 5 else _hardened
        key, salts = self.chance.randbytes(32), [self.chance.randbytes(8) for _ in range(4)]
        u = digest(self.user, salts[0], b"") + salts[0] + salts[1]
        ue = _aes(digest(self.user, salts[1], b""), bytes(16), key)
        o = digest(self.owner, salts[2], u) + salts[2] + salts[3]
        oe = _aes(digest(self.owner, salts[3], u), bytes(16), key)
        flags = _PERMISSIONS.to_bytes(8, "little", signed=True) + (b"T" if self.metadata else b"F") + b"adb" + bytes(4)
        perms = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(flags)
        named = {b"U": u, b"UE": ue, b"O": o, b"OE": oe, b"Perms": perms}
        return key, b"".join(b"/%b<%b>" % (name, value.hex().encode()) for name, value in named.items())

    def _cbc(self, key: bytes, data: bytes) -> bytes:
        padding = 16 - len(data) % 16
        vector = self.chance.randbytes(16)
        return vector + _aes(key, vector, data + bytes([padding]) * padding)


def _rc4(key: bytes, data: bytes) -> bytes:
    return Cipher(ARC4(key), None).encryptor().update(data)


def _rounds(key: bytes, data: bytes, revision: int) -> bytes:
    for turn in range(1 if revision == 2 else 20):
        data = _rc4(bytes(byte ^ turn for byte in key), data)
    return data


def _padded(password: bytes) -> bytes:
    return (password + _PAD)[:32]


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _sha256(password: bytes, salt: bytes, more: bytes) -> bytes:
    return hashlib.sha256(password + salt + more).digest()


def _hardened(password: bytes, salt: bytes, more: bytes) -> bytes:
    """Algorithm 2.B."""
    k, turn = _sha256(password, salt, more), 0
    while True:
        e = _aes(k[:16], k[16:32], (password + k + more) * 64)
        k = [hashlib.sha256, hashlib.sha384, hashlib.sha512][sum(e[:16]) % 3](e).digest()
        turn += 1
        if turn >= 64 and e[-1] <= turn - 32:
            return k[:32]


def _aes(key: bytes, vector: bytes, data: bytes) -> bytes:
    encryptor = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    return encryptor.update(data) + encryptor.finalize()


_LOCK, _INFO, _FILE = 60, 61, 62
_IDENTIFIER = b"/ID[<00112233445566778899aabbccddeeff><00112233445566778899aabbccddeeff>]"


def locked(chance: Random, *, identifier: bool = True, catalog: bytes = b"", **options: Any) -> bytes:
    """An encrypted file, sound, or with bytes before the header or a wrong cross-reference that call for rewriting."""
    lock = Lock(chance, identifier=Lock.identifier if identifier else b"", **options)
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
