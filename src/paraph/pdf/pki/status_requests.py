"""Where and how to ask for the status of a certificate, and how long the answer holds (RFC 5280, RFC 6960)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from paraph.pdf.pki.revocation_data import LongTermData

LARGEST_ANSWER, LARGEST_LIST = 64 * 1024, 1024 * 1024
"""Bytes. What is larger would make every sealed file larger by as much."""

_OCSP_TYPE = "application/ocsp-request"


@dataclass(frozen=True)
class StatusRequest:
    """One way to ask. ``body`` is empty for a list, which is simply fetched."""

    url: str
    body: bytes = b""

    @property
    def limit(self) -> int:
        return LARGEST_ANSWER if self.body else LARGEST_LIST

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": _OCSP_TYPE} if self.body else {}

    def read(self, answer: bytes) -> LongTermData:
        """The answer as long-term data; a list in PEM form is taken too."""
        if self.body:
            return LongTermData(ocsps=(answer,))
        if answer.lstrip().startswith(b"-----BEGIN"):
            try:
                answer = x509.load_pem_x509_crl(answer).public_bytes(Encoding.DER)
            except ValueError:
                return LongTermData()
        return LongTermData(crls=(answer,))


def status_requests(certificate: bytes, issuer: bytes) -> Iterator[StatusRequest]:
    """Every way that the certificate (DER) names: responders first, whose answers are small, then lists."""
    own, above = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(issuer)
    # SHA-1 only names the issuer here, and is the one hash that all responders know.
    request = ocsp.OCSPRequestBuilder().add_certificate(own, above, SHA1()).build()  # noqa: S303  see above
    body = request.public_bytes(Encoding.DER)
    yield from (StatusRequest(url, body) for url in _responders(own))
    yield from (StatusRequest(url) for url in _lists(own))


def holds_until(data: LongTermData) -> datetime | None:
    """The first moment at which something of it must be renewed; ``None`` where nothing says so."""
    ends = []
    try:
        ends += [x509.load_der_x509_crl(item).next_update_utc for item in data.crls]
        for item in data.ocsps:
            ends += [single.next_update_utc for single in ocsp.load_der_ocsp_response(item).responses]
    except (ValueError, UnsupportedAlgorithm):
        return None
    return min((end for end in ends if end is not None), default=None)


def _responders(certificate: x509.Certificate) -> list[str]:
    try:
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return _urls(each.access_location for each in access if each.access_method == AuthorityInformationAccessOID.OCSP)


def _lists(certificate: x509.Certificate) -> list[str]:
    try:
        points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return _urls(name for point in points for name in point.full_name or ())


def _urls(names: Iterator[x509.GeneralName]) -> list[str]:
    values = (name.value for name in names if isinstance(name, x509.UniformResourceIdentifier))
    return [value for value in values if value.startswith(("http://", "https://"))]
