"""A certificate authority for tests, whose certificates name an OCSP responder and a revocation list over HTTP."""

import contextlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from paraph.kernel import clock
from paraph.keys.signing_key import LocalKey
from paraph.pdf.timestamps.authorities import BuiltInAuthority
from tests.loopback import Handler, served
from tests.pdf import forge

HOLDS = timedelta(days=4)


class Issuer:
    """Root, sealing key and timestamp key. ``online``: which of "ocsp" and "crl" answer; ``asked``: those asked."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.online = {"ocsp", "crl"}
        self.asked: list[str] = []
        self.revoked_at: datetime | None = None
        self.list_states: x509.ExtensionType | None = None  # a critical extension of the revocation list
        self.goes_on = threading.Event()  # while cleared, no request is answered
        self.goes_on.set()
        self.is_moved = False  # whether its addresses redirect
        self.revoked = b""  # the certificate; the sealing key's where none is named
        self._issued: list[x509.Certificate] = []
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.root = self._issue("Trust Service Root", self.key, ca=True)
        self.sealing = self._key("Trust Service Seal")
        self.timestamps = BuiltInAuthority(self._key("Trust Service Time", ExtendedKeyUsageOID.TIME_STAMPING))

    @property
    def root_der(self) -> bytes:
        return forge.der_of(self.root)

    @property
    def chain(self) -> tuple[bytes, ...]:
        return (self.sealing.certificate, self.root_der)

    def crl(self) -> bytes:
        entries = [forge.revoked(self._own, self.revoked_at)] if self.revoked_at else []
        stated = [(self.list_states, True)] if self.list_states else []
        return forge.der_of(forge.revocation_list(self.root, self.key, *entries, holds=HOLDS, extensions=stated))

    def ocsp(self, request: bytes) -> bytes:
        serial, now = ocsp.load_der_ocsp_request(request).serial_number, clock.now()
        own = next(each for each in self._issued if each.serial_number == serial)
        revoked_at = self.revoked_at if own == self._own else None
        this, end = now - timedelta(minutes=1), now + HOLDS
        return forge.der_of(forge.answer(own, self.root, self.key, revoked_at=revoked_at, this=this, end=end))

    @property
    def timestamp_certificate(self) -> bytes:
        return forge.der_of(self._issued[-1])

    @property
    def _own(self) -> x509.Certificate:
        return x509.load_der_x509_certificate(self.revoked or self.sealing.certificate)

    def _key(self, name: str, *purposes: x509.ObjectIdentifier) -> LocalKey:
        key = ec.generate_private_key(ec.SECP256R1())
        return LocalKey(key, [self._issue(name, key, *purposes), self.root])

    def _issue(
        self, name: str, key: ec.EllipticCurvePrivateKey, *purposes: x509.ObjectIdentifier, ca: bool = False
    ) -> x509.Certificate:
        ocsp_, crl = (x509.UniformResourceIdentifier(f"{self.url}{kind}") for kind in ("ocsp", "crl"))
        access = x509.AccessDescription(AuthorityInformationAccessOID.OCSP, ocsp_)
        point = x509.DistributionPoint([crl], None, None, None)
        found = [(x509.AuthorityInformationAccess([access]), False), (x509.CRLDistributionPoints([point]), False)]
        facts: dict[str, Any] = {"ca": True} if ca else {"extensions": found}
        facts |= {"purposes": purposes, "end": timedelta(days=7300 if ca else 730)}
        self._issued.append(forge.certificate(name, key, "Trust Service Root", self.key, **facts))
        return self._issued[-1]


@contextmanager
def issuer() -> Iterator[Issuer]:
    """The authority with its HTTP server on loopback."""

    class Responder(Handler):
        def do_GET(self) -> None:
            if not self._is_sent_on(302):
                self._send("crl", own.crl())

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self._is_sent_on(307):
                return
            self._send("ocsp", own.ocsp(body) if self.headers["Content-Type"] == "application/ocsp-request" else b"")

        def _is_sent_on(self, status: int) -> bool:
            if not own.is_moved or self.path.startswith("/moved/"):
                return False
            self.send_response(status)
            self.send_header("Location", f"/moved{self.path}")
            self.end_headers()
            return True

        def _send(self, kind: str, body: bytes) -> None:
            own.asked.append(kind)
            own.goes_on.wait(60)
            self.send_response(200 if kind in own.online else 503)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):  # the client may have gone
                self.wfile.write(body)

    with served(Responder) as running:
        own = Issuer(f"{running.url}/")
        yield own
