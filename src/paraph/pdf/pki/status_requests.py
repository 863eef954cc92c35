"""Requests for the status of a certificate, and how long an answer holds (RFC 5280, RFC 6960)."""

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
"""In bytes. Every sealed file carries the answer, and grows by as much."""

_OCSP_TYPE = "application/ocsp-request"


@dataclass(frozen=True)
class StatusRequest:
    """An OCSP request, to be posted, or the address of a CRL, to be fetched, with an empty ``body``."""

    url: str
    body: bytes = b""

    @property
    def limit(self) -> int:
        return LARGEST_ANSWER if self.body else LARGEST_LIST

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": _OCSP_TYPE} if self.body else {}

    def read(self, answer: bytes) -> LongTermData:
        """Returns the answer as long-term data. A CRL in PEM form is accepted too."""
        if self.body:
            return LongTermData(ocsps=(answer,))
        if answer.lstrip().startswith(b"-----BEGIN"):
            try:
                answer = x509.load_pem_x509_crl(answer).public_bytes(Encoding.DER)
            except ValueError:
                return LongTermData()
        return LongTermData(crls=(answer,))


def status_requests(certificate: bytes, issuer: bytes) -> Iterator[StatusRequest]:
    """Yields a request for every address in the certificate (DER): OCSP first, whose answers are small, then CRLs."""
    child, parent = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(issuer)
    # SHA-1 only names the issuer here, and is the one hash that all responders know.
    request = ocsp.OCSPRequestBuilder().add_certificate(child, parent, SHA1()).build()  # noqa: S303  see above
    body = request.public_bytes(Encoding.DER)
    yield from (StatusRequest(url, body) for url in _ocsp_addresses(child))
    yield from (StatusRequest(url) for url in _crl_addresses(child))


def holds_until(data: LongTermData) -> datetime | None:
    """Returns when the first of the answers ends; ``None`` where none states an end."""
    ends = []
    try:
        ends += [x509.load_der_x509_crl(item).next_update_utc for item in data.crls]
        for item in data.ocsps:
            ends += [single.next_update_utc for single in ocsp.load_der_ocsp_response(item).responses]
    except (ValueError, UnsupportedAlgorithm):
        return None
    return min((end for end in ends if end is not None), default=None)


def _ocsp_addresses(certificate: x509.Certificate) -> list[str]:
    try:
        access = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return _urls(each.access_location for each in access if each.access_method == AuthorityInformationAccessOID.OCSP)


def _crl_addresses(certificate: x509.Certificate) -> list[str]:
    try:
        points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    return _urls(name for point in points for name in point.full_name or ())


def _urls(names: Iterator[x509.GeneralName]) -> list[str]:
    values = (name.value for name in names if isinstance(name, x509.UniformResourceIdentifier))
    return [value for value in values if value.startswith(("http://", "https://"))]
