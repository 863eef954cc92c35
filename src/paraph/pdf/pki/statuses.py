"""The statuses of the certificates under a seal and its timestamp: requested ahead, collected before sealing."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from paraph.kernel import clock
from paraph.keys import DevelopmentAuthority
from paraph.keys.certificates import extension
from paraph.keys.development import VALIDITY, revocation_list
from paraph.pdf.pki.certificate import load, missing_issuer
from paraph.pdf.pki.revocation import LongTermData, Revoked

Chain = tuple[bytes, ...]
"""DER of certificates: the leaf first, the root last."""

_RENEWED_AFTER = VALIDITY / 7
_LARGEST_ANSWER, _LARGEST_LIST = 64 * 1024, 1024 * 1024  # bytes, by which every sealed file grows


class StatusUnavailable(ValueError):
    """The statuses of a chain are not available now; the message is the reason, without a full stop."""


class StatusSource(Protocol):
    """A source of certificate statuses that answers at once: it fetches them ahead of time."""

    def statuses(self, chain: Chain) -> LongTermData:
        """Return current statuses of every certificate below the root. Raise :class:`StatusUnavailable`."""


@dataclass(frozen=True)
class CollectedStatuses:
    """Statuses, and a sentence for each chain without any."""

    data: LongTermData
    missing: tuple[str, ...] = ()


@dataclass
class LongTerm:
    """How a seal reaches B-LT and B-LTA: the sources of statuses, and whether an archive timestamp follows."""

    sources: Sequence[StatusSource]
    archive: bool = True
    """Whether to seal at B-LTA, with an archive timestamp, rather than at B-LT."""
    authority_chain: Chain = ()
    """The chain of the timestamp authority that answered last, or is expected to answer first. Its statuses go into
    the revision of the seal, which is written before the timestamp arrives."""
    last_authority_chain: Callable[[], Chain] | None = None
    """Called once for ``authority_chain``, where no authority has answered yet."""

    def collect_expected(self, key_chain: Chain) -> CollectedStatuses:
        """Collect the statuses of the key's chain and of the authority that is expected to answer."""
        if not self.authority_chain and self.last_authority_chain is not None:
            self.authority_chain, self.last_authority_chain = self.last_authority_chain(), None
        return self.collect(key_chain, self.authority_chain) if self.authority_chain else self.collect(key_chain)

    def collect(self, *chains: Chain) -> CollectedStatuses:
        """Collect the available statuses of these chains. Raise :class:`Revoked` for the first chain; in the others,
        a revocation counts as one more missing status."""
        data, missing = LongTermData(), list[str]()
        for chain in chains:
            try:
                data += self._statuses(chain)
            except (StatusUnavailable, Revoked) as error:
                if isinstance(error, Revoked) and chain is chains[0]:
                    raise
                missing.append(f"{error}.")
        return CollectedStatuses(data, tuple(missing))

    def check_not_revoked(self, chain: Chain, moment: datetime) -> None:
        """Raise :class:`Revoked` where a certificate of the chain is known to have been revoked at ``moment``."""
        try:
            self._statuses(chain).proves(chain, moment)
        except StatusUnavailable:
            return

    def _statuses(self, chain: Chain) -> LongTermData:
        if missing := missing_issuer(chain):
            raise StatusUnavailable(missing)
        first, reasons = load(chain[0]), list[str]()
        for source in self.sources:
            try:
                data = source.statuses(chain)
            except StatusUnavailable as error:
                reasons.append(str(error))
                continue
            if data.proves(chain, clock.now()):
                return LongTermData(certificates=chain) + data
            reasons.append(f'The statuses found for "{first.name}" prove nothing')
        raise StatusUnavailable("; ".join(reasons) or f'Nobody knows the status of "{first.name}"')


class DevelopmentStatuses:
    """The CRL of the development authority, made in this process and a day old at most. A CRL rather than OCSP answers:
    one serves all certificates, and some readers ignore OCSP answers where the certificate has no address of a
    responder."""

    def __init__(self, authority: DevelopmentAuthority) -> None:
        self._authority = authority
        self._latest: tuple[datetime, LongTermData] | None = None

    def statuses(self, chain: Chain) -> LongTermData:
        """Return the CRL. Raise :class:`StatusUnavailable` for chains of other authorities."""
        if chain[1:] != (self._authority.root,) or chain[0] not in self._authority.issued:
            raise StatusUnavailable(f'"{load(chain[0]).name}" is not the development authority\'s')
        now = clock.now()
        if self._latest is None or not self._latest[0] <= now < self._latest[0] + _RENEWED_AFTER:
            self._latest = (now, LongTermData(crls=(revocation_list(self._authority, now),)))
        return self._latest[1]


@dataclass(frozen=True)
class StatusRequest:
    """An OCSP request, to be posted, or the address of a CRL, to be fetched, with an empty ``body``."""

    url: str
    body: bytes = b""

    @property
    def limit(self) -> int:
        """The largest acceptable answer, in bytes."""
        return _LARGEST_ANSWER if self.body else _LARGEST_LIST

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": "application/ocsp-request"} if self.body else {}

    def read(self, answer: bytes) -> LongTermData:
        """Return the answer as long-term data. A CRL in PEM form is accepted too."""
        if self.body:
            return LongTermData(ocsps=(answer,))
        if answer.lstrip().startswith(b"-----BEGIN"):
            try:
                answer = x509.load_pem_x509_crl(answer).public_bytes(Encoding.DER)
            except ValueError:
                return LongTermData()
        return LongTermData(crls=(answer,))


def status_requests(certificate: bytes, issuer: bytes) -> Iterator[StatusRequest]:
    """Yield a request for every address in the certificate (DER): OCSP first, whose answers are small, then CRLs."""
    child, parent = x509.load_der_x509_certificate(certificate), x509.load_der_x509_certificate(issuer)
    # SHA-1 only names the issuer here, and is the one hash that all responders know.
    request = ocsp.OCSPRequestBuilder().add_certificate(child, parent, SHA1()).build()  # noqa: S303  see above
    body = request.public_bytes(Encoding.DER)
    yield from (StatusRequest(url, body) for url in _urls(child, x509.AuthorityInformationAccess))
    yield from (StatusRequest(url) for url in _urls(child, x509.CRLDistributionPoints))


def holds_until(data: LongTermData) -> datetime | None:
    """Return when the first of the answers ends; ``None`` where none states an end."""
    ends = []
    try:
        ends += [x509.load_der_x509_crl(item).next_update_utc for item in data.crls]
        for item in data.ocsps:
            ends += [single.next_update_utc for single in ocsp.load_der_ocsp_response(item).responses]
    except (ValueError, UnsupportedAlgorithm):
        return None
    return min((end for end in ends if end is not None), default=None)


def _urls(
    certificate: x509.Certificate, kind: type[x509.AuthorityInformationAccess | x509.CRLDistributionPoints]
) -> list[str]:
    """Return the web addresses of responders or lists, none where the extension is missing or cannot be read."""
    try:
        names = list[x509.GeneralName]()
        for each in extension(certificate, kind) or ():
            if isinstance(each, x509.DistributionPoint):
                names += each.full_name or ()
            elif each.access_method == AuthorityInformationAccessOID.OCSP:
                names.append(each.access_location)
    except ValueError:
        return []
    values = [name.value for name in names if isinstance(name, x509.UniformResourceIdentifier)]
    return [value for value in values if value.startswith(("http://", "https://"))]
