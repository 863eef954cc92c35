"""A key in a PKCS#11 token: an HSM, a smart card, SoftHSM. Needs the extra ``paraph[pkcs11]``."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from cryptography import x509
from pkcs11 import PKCS11Error

from paraph.kernel import tokens
from paraph.kernel.errors import DomainError
from paraph.keys.pkcs11_token import OpenKey, Pkcs11Uri, described, open_key, parse
from paraph.keys.signing_key import RSA_PSS_SHA256, KeySignature
from paraph.keys.usable_certificate import CertificateRefused, by_signature, usable_certificate

Returned = TypeVar("Returned")
SECONDS = 8.0
"""The longest wait for an answer of the token."""
_threads_lock = threading.Lock()


class DedicatedThread:
    """Make all calls in one thread, one after the other. A hanging call does not keep the process from ending."""

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


def open_address(address: str, passphrase: str, certificates: Sequence[x509.Certificate]) -> "Pkcs11Key":
    """Open the key at an RFC 7512 address. The PIN is in the file of ``pin-source``; without one, it is
    ``passphrase``.

    Raise ``DomainError("configuration", …)`` when the key or its certificate is missing, refused or does not match,
    and ``DomainError("unavailable", …)`` when the token does not answer.
    """
    uri = parse(address)
    return Pkcs11Key(uri, _pin(uri, passphrase), certificates)


class Pkcs11Key:
    """A :class:`~paraph.keys.signing_key.SigningKey` whose private key never leaves its token.

    When the session is lost, or the token removed and inserted again, the next signature opens a new session.
    """

    def __init__(self, uri: Pkcs11Uri, pin: str, certificates: Sequence[x509.Certificate]) -> None:
        """``certificates``: the key's own and its issuers', in any order. Signs once, to find its own."""
        self._uri, self._pin = uri, pin
        self._thread = _thread_of(str(uri.module))
        self._open: OpenKey | None = None
        sample = tokens.random_bytes(32)
        opened, signature = self._call(lambda: self._first(sample))
        self._usable_certificate = usable_certificate(certificates, by_signature(sample, signature))
        self.certificate: bytes = self._usable_certificate.certificate
        self.chain: tuple[bytes, ...] = self._usable_certificate.chain
        self.algorithm: str = self._usable_certificate.algorithm
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
        raise DomainError("configuration", f"The PIN file {uri.pin_file} cannot be read: {why}.") from error
