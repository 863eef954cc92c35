"""The standard security handler, for files that open without a password (ISO 32000-1, 7.6; ISO 32000-2 for AES-256).

A file that its owner encrypted stays encrypted: what a revision adds is encrypted with the same key. qpdf derives the
key and checks the empty password.
"""

import hashlib
import hmac
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pikepdf
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.padding import PKCS7

from paraph.pdf.refusal import SealError
from paraph.pdf.structure.objects import PdfStream, Ref, Unsafe

_BLOCK = 16
_ESCAPES = re.compile(rb"\\(?:([0-7]{1,3})|(\r\n|\r|\n)|(.))|(\r\n|\r)", re.DOTALL)
_ESCAPED = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f"}
_FILTERS = (b"/StmF", b"/StrF")
_LENGTHS = {b"/O": (48, 127), b"/U": (48, 127), b"/OE": (32,), b"/UE": (32,)}  # Acrobat pads /O and /U
_METHODS = {"none": "", "rc4": "rc4", "aes": "aes", "aesv3": "aesv3"}


@dataclass(frozen=True)
class FileEncryption:
    """How strings and streams are encrypted: "rc4", "aes" (128 bits), "aesv3" (256 bits) or "" (not at all)."""

    key: bytes
    strings: str
    streams: str

    def decrypt(self, ref: Ref, value: Any) -> Any:
        """Return an object of the file with strings and data decrypted; not for objects from an object stream."""
        return self._changed(ref, value, self._decrypted)

    def encrypt(self, ref: Ref, value: Any) -> Any:
        """Return the object with strings and data encrypted."""
        return self._changed(ref, value, self._encrypted)

    def _changed(self, ref: Ref, value: Any, change: Callable[[str, Ref, bytes], bytes]) -> Any:
        if isinstance(value, PdfStream):
            data = value.data if _is_exempt(value) else change(self.streams, ref, value.data)
            return PdfStream(self._changed(ref, value.dictionary, change), data)
        return _over_strings(value, lambda text: change(self.strings, ref, text)) if self.strings else value

    def _decrypted(self, method: str, ref: Ref, data: bytes) -> bytes:
        if method == "rc4":
            return _rc4(self._object_key(method, ref), data)
        if not method:
            return data
        if len(data) <= _BLOCK:
            return b""  # an initialisation vector alone, as some producers write for an empty string, or less
        if len(data) % _BLOCK:
            raise Unsafe("encrypted data is cut short")
        decryptor = Cipher(AES(self._object_key(method, ref)), CBC(data[:_BLOCK])).decryptor()
        remover = PKCS7(_BLOCK * 8).unpadder()
        try:
            return remover.update(decryptor.update(data[_BLOCK:])) + remover.finalize()
        except ValueError as error:
            raise Unsafe("encrypted data is damaged") from error

    def _encrypted(self, method: str, ref: Ref, data: bytes) -> bytes:
        if method == "rc4":
            return _rc4(self._object_key(method, ref), data)
        if not method:
            return data
        start, padder = self._start(ref, data), PKCS7(_BLOCK * 8).padder()
        encryptor = Cipher(AES(self._object_key(method, ref)), CBC(start)).encryptor()
        return start + encryptor.update(padder.update(data) + padder.finalize())

    def _start(self, ref: Ref, data: bytes) -> bytes:
        """Derive the initialisation vector: unpredictable without the key, yet equal whenever the same object is
        written, in the sandbox or here."""
        return hmac.digest(self.key, b"%d %d " % ref + data, "sha256")[:_BLOCK]

    def _object_key(self, method: str, ref: Ref) -> bytes:
        """Derive the key of one object (algorithm 1, 7.6.2)."""
        if method == "aesv3":
            return self.key
        salted = self.key + (ref.number & 0xFFFFFF).to_bytes(3, "little") + ref.generation.to_bytes(2, "little")
        digest = hashlib.md5(salted + (b"sAlT" if method == "aes" else b""), usedforsecurity=False).digest()
        return digest[: min(len(self.key) + 5, 16)]


def open_encryption(pdf: bytes, dictionary: Any) -> FileEncryption:
    """Return how ``pdf`` is encrypted, given its encryption dictionary. Raise :class:`SealError` if the file needs
    a password, :class:`Unsafe` if the encryption cannot be read."""
    _check_lengths(dictionary)
    by_filter = isinstance(dictionary, dict) and dictionary.get(b"/V") in (4, 5)
    if by_filter and all(dictionary.get(key, b"/Identity") == b"/Identity" for key in _FILTERS):
        return FileEncryption(b"", "", "")  # only attachments are encrypted
    try:
        with pikepdf.open(io.BytesIO(pdf), suppress_warnings=True) as document:
            if not document.is_encrypted:
                raise Unsafe("the encryption is damaged")
            encryption = document.encryption
            if encryption.V < 4:  # before crypt filters there was one method only
                return FileEncryption(encryption.encryption_key, "rc4", "rc4")
            strings, streams = _METHODS[encryption.string_method.name], _METHODS[encryption.stream_method.name]
            return FileEncryption(encryption.encryption_key, strings, streams)
    except pikepdf.PasswordError as error:
        raise SealError("The PDF needs a password to open.") from error
    except (pikepdf.PikepdfError, KeyError, ValueError, RuntimeError) as error:
        raise Unsafe("the encryption cannot be read") from error


def _check_lengths(dictionary: Any) -> None:
    """Raise :class:`Unsafe` for AES-256 values of the wrong length, on which readers differ (ISO 32000-2, 7.6.4.4)."""
    for key, lengths in _LENGTHS.items() if isinstance(dictionary, dict) and dictionary.get(b"/V") == 5 else ():
        value = dictionary.get(key)
        if type(value) is bytes and len(string_bytes(value)) not in lengths:
            raise Unsafe("a value of the encryption has another length than it must have")


def string_bytes(token: bytes) -> bytes:
    """Return the bytes that a string token denotes (7.3.4)."""
    if token[:1] == b"<":
        digits = re.sub(rb"[^0-9A-Fa-f]", b"", token)
        return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
    return _ESCAPES.sub(_unescaped, token[1:-1])


def _unescaped(match: re.Match[bytes]) -> bytes:
    octal, continued, character, line_end = match.groups()
    if octal:
        return bytes([int(octal, 8) & 0xFF])
    if line_end:
        return b"\n"
    return b"" if continued else _ESCAPED.get(character, character)


def _over_strings(value: Any, change: Callable[[bytes], bytes]) -> Any:
    if type(value) is bytes and value[:1] in (b"(", b"<"):
        return b"<" + change(string_bytes(value)).hex().encode() + b">"
    if type(value) is list:
        return [_over_strings(item, change) for item in value]
    if type(value) is dict:
        is_signature = b"/ByteRange" in value  # its /Contents is never encrypted (7.6.1)
        return {
            key: item if is_signature and key == b"/Contents" else _over_strings(item, change)
            for key, item in value.items()
        }
    return value


def _is_exempt(stream: PdfStream) -> bool:
    """Return whether a stream is a cross-reference stream or names its own crypt filter."""
    filters = stream.dictionary.get(b"/Filter")
    named = filters == b"/Crypt" or (isinstance(filters, list) and b"/Crypt" in filters)
    return named or stream.dictionary.get(b"/Type") == b"/XRef"


def _rc4(key: bytes, data: bytes) -> bytes:
    return Cipher(ARC4(key), None).encryptor().update(data)
