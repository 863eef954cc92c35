"""A key in a PKCS#11 token: an HSM, a smart card, SoftHSM. Needs the extra ``paraph[pkcs11]``."""

import hashlib
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote, unquote_to_bytes

import pkcs11
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from pkcs11 import Attribute, KeyType, Mechanism, ObjectClass, PKCS11Error, TokenFlag

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.keys.certificates import misconfigured
from paraph.keys.signing_key import (
    RSA_PSS_SHA256,
    CertificateRefused,
    CertifiedKey,
    KeySignature,
    is_signature,
    usable_certificate,
)

if TYPE_CHECKING:
    from pkcs11._pkcs11 import lib as Library  # noqa: N812  the library's name for its class

_OF_TOKENS = ("token", "serial", "manufacturer", "model")
_KNOWN = {*_OF_TOKENS, "object", "id", "type"}
_KNOWN_QUERY = {"module-path", "pin-source"}
_SHA256_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")  # RFC 8017 §9.2, note 1
_refused: set[tuple[str, bytes, bytes]] = set()
"""Module, serial number and digest of each refused PIN. Trying such a PIN again would lock the token."""
Returned = TypeVar("Returned")
SECONDS = 8.0
"""The longest wait for an answer of the token."""
_threads_lock = threading.Lock()


@dataclass(frozen=True)
class Pkcs11Uri:
    """The parts that identify one private key. An empty part matches any."""

    module: Path
    """The vendor's library."""
    token: Mapping[str, str]
    """Those of ``token`` (the label), ``serial``, ``manufacturer`` and ``model`` that the address gives."""
    label: str
    id: bytes
    pin_file: Path | None


def parse(address: str) -> Pkcs11Uri:
    """Parse ``pkcs11:token=…;object=…;id=…?module-path=…&pin-source=file:…`` with percent-encoded values. Raise
    ``DomainError("configuration", …)`` with a sentence that does not quote the values."""
    path, _, query = address.removeprefix("pkcs11:").partition("?")
    attributes = _attributes(path.split(";"), _KNOWN)
    options = _attributes(query.split("&"), _KNOWN_QUERY)
    if attributes.get("type", "private") != "private":
        raise _refusal("it must name a private key, type=private")
    if "module-path" not in options:
        raise _refusal("it lacks ?module-path=, the vendor's library")
    if not any(name in attributes for name in ("object", "id")):
        raise _refusal("it names no key: it needs object= or id=")
    source = unquote(options["pin-source"]) if "pin-source" in options else ""
    return Pkcs11Uri(
        module=Path(unquote(options["module-path"])),
        token={name: unquote(attributes[name]) for name in _OF_TOKENS if name in attributes},
        label=unquote(attributes.get("object", "")),
        id=unquote_to_bytes(attributes.get("id", "")),
        pin_file=_file(source) if source else None,
    )


def address_of(token: str, serial: str, label: str, identifier: bytes) -> str:
    """Return the address without its query: the key's name in the journal and the proof. It contains no secret."""
    parts = {"token": token, "serial": serial, "object": label}
    named = [f"{name}={quote(value, safe='')}" for name, value in parts.items() if value]
    percent = "".join(f"%{byte:02X}" for byte in identifier)
    return "pkcs11:" + ";".join([*named, *([f"id={percent}"] if identifier else [])])


def _attributes(fields: list[str], known: set[str]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for field in filter(None, fields):
        name, equals, value = field.partition("=")
        if name == "pin-value":
            raise _refusal(
                "a PIN does not belong there: put it in a file, pin-source=file:…, or set PARAPH_SEALING_PASSPHRASE"
            )
        if not equals or name not in known or name in attributes:
            raise _refusal(f"{name[:40]!r} cannot be used there; known are {', '.join(sorted(known))}, each once")
        attributes[name] = value
    return attributes


def _file(source: str) -> Path:
    path = source.removeprefix("file://").removeprefix("file:")
    if not path.startswith("/"):
        raise _refusal("pin-source must be file: and a path from the root")
    return Path(path)


def _refusal(why: str) -> DomainError:
    return misconfigured(f"PARAPH_SEALING_KEY is no address of a PKCS#11 key: {why}.")


@dataclass(frozen=True)
class OpenKey:
    """``sign`` returns a signature over SHA-256 of a message: PKCS#1 v1.5, or the DER of ``ECDSA-Sig-Value``. It raises
    ``PKCS11Error`` when the session or the token is lost."""

    name: str
    """The key's address without module and PIN."""
    sign: Callable[[bytes], bytes]


def open_key(uri: Pkcs11Uri, pin: str, *, afresh: bool) -> OpenKey:
    """Log in and find the key. ``afresh``: restart the module first, since many notice a lost token only then. Raise
    ``DomainError("configuration", …)`` when the token or key is missing or the login refused, and ``PKCS11Error`` for
    any other fault."""
    library = _loaded(uri)
    if afresh:
        library.reinitialize()
    token = _token(library, uri)
    session = _session(token, uri, pin)
    key = _key(session, uri)
    name = address_of(token.label, token.serial.decode("latin-1"), key.label or "", key.id or b"")
    return OpenKey(name, _signer(key, token.slot.get_mechanisms(), pin))


def _loaded(uri: Pkcs11Uri) -> "Library":
    if not uri.module.is_file():
        raise misconfigured(f"The PKCS#11 module {uri.module} does not exist.")
    try:
        return pkcs11.lib(str(uri.module))
    except PKCS11Error as error:
        raise misconfigured(f"The PKCS#11 module {uri.module} cannot be used: {described(error)}.") from error


def _token(library: "Library", uri: Pkcs11Uri) -> pkcs11.Token:
    try:
        found = _matching(library, uri)
    except PKCS11Error:  # the module still lists a token that is gone
        found = []
    if not found:  # the token may be newer than the start of the module
        library.reinitialize()
        found = _matching(library, uri)
    if len(found) == 1:
        return found[0]
    criteria = ", ".join(f'{name} "{value}"' for name, value in uri.token.items()) or "any name"
    how_many = f"{len(found)} tokens" if found else "no token"
    raise misconfigured(f"The PKCS#11 module {uri.module} shows {how_many} with {criteria}; one is needed.")


def _matching(library: "Library", uri: Pkcs11Uri) -> list[pkcs11.Token]:
    found = list[pkcs11.Token]()
    for token in library.get_tokens():
        if token.flags & TokenFlag.TOKEN_INITIALIZED:
            actual = {
                "token": token.label,
                "serial": token.serial.decode("latin-1"),
                "manufacturer": token.manufacturer_id,
                "model": token.model,
            }
            found += [token] if actual.items() >= uri.token.items() else []
    return found


def _session(token: pkcs11.Token, uri: Pkcs11Uri, pin: str) -> pkcs11.Session:
    if not pin:
        if token.flags & TokenFlag.LOGIN_REQUIRED:
            raise misconfigured(
                f'The token "{token.label}" wants a PIN: name a file of it with pin-source=file:… or set '
                "PARAPH_SEALING_PASSPHRASE."
            )
        return token.open()
    attempt = (str(uri.module), token.serial, hashlib.sha256(pin.encode()).digest())
    if attempt in _refused:
        raise _wrong_pin(token)
    try:
        return token.open(user_pin=pin)
    except pkcs11.UserAlreadyLoggedIn:  # another session of this process
        return token.open()
    except (pkcs11.PinIncorrect, pkcs11.PinInvalid, pkcs11.PinLenRange) as error:
        _refused.add(attempt)
        raise _wrong_pin(token) from error
    except (pkcs11.PinLocked, pkcs11.PinExpired, pkcs11.UserPinNotInitialized) as error:
        raise misconfigured(f'The token "{token.label}" does not let its user in: {described(error)}.') from error


def _wrong_pin(token: pkcs11.Token) -> DomainError:
    return misconfigured(f'The token "{token.label}" refuses its PIN, which is not tried again.')


def _key(session: pkcs11.Session, uri: Pkcs11Uri) -> Any:
    wanted: dict[Attribute, object] = {Attribute.CLASS: ObjectClass.PRIVATE_KEY}
    wanted |= {Attribute.LABEL: uri.label} if uri.label else {}
    wanted |= {Attribute.ID: uri.id} if uri.id else {}
    found = list(session.get_objects(wanted))
    criteria = " and ".join(
        filter(None, (f'label "{uri.label}"' if uri.label else "", f"id {uri.id.hex()}" if uri.id else ""))
    )
    if len(found) != 1:
        how_many = f"{len(found)} private keys" if found else "no private key"
        raise misconfigured(f'The token "{session.token.label}" holds {how_many} with {criteria}; one is needed.')
    key: Any = found[0]  # the types of python-pkcs11 do not say which keys can sign
    if key.key_type not in {KeyType.RSA, KeyType.EC}:
        raise misconfigured(f"The private key with {criteria} is neither RSA nor an elliptic curve.")
    if not key[Attribute.SIGN]:
        raise misconfigured(f"The private key with {criteria} may not sign, says its token.")
    return key


def _signer(key: Any, mechanisms: set[Mechanism], pin: str) -> Callable[[bytes], bytes]:
    """Return a function that signs on the token, which gets the digest if it cannot hash the message itself."""
    sign = partial(key.sign, pin=pin if _needs_pin_each_time(key) else None)
    if key.key_type == KeyType.EC:
        return lambda message: _der(sign(hashlib.sha256(message).digest(), mechanism=Mechanism.ECDSA))
    if Mechanism.SHA256_RSA_PKCS in mechanisms:
        return partial(sign, mechanism=Mechanism.SHA256_RSA_PKCS)
    info = _SHA256_DIGEST_INFO
    return lambda message: sign(info + hashlib.sha256(message).digest(), mechanism=Mechanism.RSA_PKCS)


def _needs_pin_each_time(key: Any) -> bool:
    """Return whether the key needs the PIN at each signature, as keys of qualified certificates on cards do."""
    try:
        return bool(key[Attribute.ALWAYS_AUTHENTICATE])
    except (pkcs11.AttributeTypeInvalid, pkcs11.AttributeSensitive, pkcs11.FunctionFailed):
        return False


def _der(signature: bytes) -> bytes:
    """Return the DER of an ECDSA signature, for which PKCS#11 returns the two numbers side by side."""
    half = len(signature) // 2
    return encode_dss_signature(int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big"))


def described(error: PKCS11Error) -> str:
    """Return the error in words: its name in PKCS#11, and what the library adds."""
    text = str(error).strip().rstrip(".")
    name = type(error).__name__
    return f"{name} ({text})" if text and name != "PKCS11Error" else text or name


class DedicatedThread:
    """A thread that makes all calls, one after the other. A hanging call does not keep the process from ending."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._start()

    def call(self, work: Callable[[], Returned], seconds: float) -> Returned:
        """Call ``work`` and return or raise what it does. Raise ``TimeoutError`` after ``seconds``, which include
        the wait for earlier calls; a call that has not begun by then is never made."""
        with self._lock:
            if not self._thread.is_alive():  # the thread belongs to the process from which this one was forked
                self._start()
        waiting: Future[Returned] = Future()
        self._calls.put((waiting, work))
        try:
            return waiting.result(seconds)
        except TimeoutError:
            waiting.cancel()
            raise

    def _start(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=_serve, args=(self._calls,), name=self._name, daemon=True)
        self._thread.start()


def _serve(calls: "queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]]]") -> None:
    while True:
        waiting, work = calls.get()
        if not waiting.set_running_or_notify_cancel():
            continue
        try:
            waiting.set_result(work())
        except BaseException as error:  # noqa: BLE001  raised in the caller's thread
            waiting.set_exception(error)


class Pkcs11Key(CertifiedKey):
    """A :class:`~paraph.keys.signing_key.SigningKey` whose private key never leaves its token. When the session is
    lost, or the token removed and inserted again, the next signature opens a new session."""

    def __init__(self, address: str, passphrase: str, certificates: Sequence[x509.Certificate]) -> None:
        """``address``: by RFC 7512; ``passphrase``: the PIN, unless it is in the file of ``pin-source``;
        ``certificates``: the key's own and its issuers', in any order. Sign once, to find the key's own.

        Raise ``DomainError("configuration", …)`` when the key or its certificate is missing, refused or does not match,
        and ``DomainError("unavailable", …)`` when the token does not answer.
        """
        self._uri = parse(address)
        self._pin = _pin(self._uri, passphrase)
        self._thread = _thread_of(str(self._uri.module))
        self._open: OpenKey | None = None
        sample = tokens.random_bytes(32)
        opened, signature = self._call(lambda: self._first(sample))
        super().__init__(usable_certificate(certificates, lambda each: is_signature(each, sample, signature)))
        if self.algorithm == RSA_PSS_SHA256:
            raise CertificateRefused("The certificate of a key in a token must not be for RSASSA-PSS alone.")
        self.key_id: str = opened.name

    def sign(self, message: bytes) -> KeySignature:
        """Sign SHA-256 of the message. Raise ``DomainError``: ``configuration`` when the certificate has expired,
        ``unavailable`` when the token is gone or does not answer."""
        self._usable_certificate.check_not_expired()
        return KeySignature(self._call(lambda: self._sign(message)))

    def _first(self, sample: bytes) -> tuple[OpenKey, bytes]:
        self._open = open_key(self._uri, self._pin, afresh=False)
        return self._open, self._open.sign(sample)

    def _sign(self, message: bytes) -> bytes:
        if self._open is not None:
            try:
                return self._open.sign(message)
            except PKCS11Error:
                self._open = None
        try:
            self._open = open_key(self._uri, self._pin, afresh=True)
        except DomainError as error:  # the key existed when the service started
            raise DomainError("unavailable", error.message) from error
        return self._open.sign(message)

    def _call(self, work: Callable[[], Returned]) -> Returned:
        try:
            return self._thread.call(work, SECONDS)
        except TimeoutError as error:
            late = f"The PKCS#11 module {self._uri.module} has not answered within {SECONDS:.0f} s."
            raise DomainError("unavailable", late) from error
        except PKCS11Error as error:
            why = f"The token behind {self._uri.module} does not sign: {described(error)}."
            raise DomainError("unavailable", why) from error


_threads: dict[str, DedicatedThread] = {}


def _thread_of(module: str) -> DedicatedThread:
    """Return the thread for all keys of a module: starting it twice, or during a signature, would crash the process."""
    with _threads_lock:
        if module not in _threads:
            _threads[module] = DedicatedThread(f"pkcs11 {module}")
        return _threads[module]


def _pin(uri: Pkcs11Uri, passphrase: str) -> str:
    if uri.pin_file is None:
        return passphrase
    try:
        return uri.pin_file.read_text().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise misconfigured(f"The PIN file {uri.pin_file} cannot be read: {why}.") from error
