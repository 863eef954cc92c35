"""X.509 certificates, parsed once per process: what CMS needs of them, who owns them, whether they chained at a given
time to a trusted root, and what they state about themselves under the eIDAS Regulation.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from paraph.keys import chains
from paraph.keys.algorithms import PublicKey, end_of_key
from paraph.keys.certificates import extension, may_sign, public_key
from paraph.keys.chains import NoChain, find_chain
from paraph.keys.development import is_of_development
from paraph.pdf.pki import der, oids
from paraph.pdf.verdict import Refused, SubIndication

_VERSION = der.CONTEXT | der.CONSTRUCTED  # [0] EXPLICIT, absent in version 1
_COLONS = re.compile(r"[:\s]")
AHEAD = timedelta(minutes=5)
"""By how much the clock of an authority may be ahead of ours."""
_STATEMENTS, _TYPE = "1.3.6.1.5.5.7.1.3", "0.4.0.1862.1.6"  # qcStatements (RFC 3739 §3.2.6)
_STATED = {
    "0.4.0.1862.1.1": "QcCompliance",  # it is a qualified certificate
    "0.4.0.1862.1.4": "QcSSCD",  # its private key is in a qualified device
    "0.4.0.1862.1.7": "QcCClegislation",  # all of that under the law of another country
    f"{_TYPE}.1": "QcType esign",
    f"{_TYPE}.2": "QcType eseal",
    f"{_TYPE}.3": "QcType web",
}
_OF_QUALIFIED_SEALS = {"QcCompliance", "QcSSCD", "QcType eseal"}


class CertificateError(ValueError):
    """The certificate cannot be read."""


@dataclass(frozen=True)
class Certificate:
    """The names of a certificate, its key, and what it may sign."""

    encoded: bytes
    parsed: x509.Certificate
    issuer: bytes
    """DER of the issuer's name."""
    subject: bytes
    """DER of the subject's name."""
    serial: int
    key_identifier: bytes
    public_key: PublicKey
    name: str
    """Common name, else organization, else the whole subject."""
    for_timestamps_only: bool
    """The extended key usage is critical and timeStamping alone (RFC 3161 §2.3), and the key usage, where there is one,
    allows signatures."""
    for_documents: bool
    """The key usage, if present, allows signatures, and the extended key usage, if present, allows documents."""
    for_proofs: bool
    """The extended key usage allows sealing proofs."""
    is_root: bool
    """It is signed by its own key, in its own name."""
    key_parameters: bytes
    """DER of the parameters of the key's AlgorithmIdentifier; empty where it has none."""

    def __hash__(self) -> int:
        return hash(self.encoded)

    @property
    def alternative_names(self) -> frozenset[bytes]:
        """DER of each GeneralName of the subject besides its own name."""
        names = extension(self.parsed, x509.SubjectAlternativeName)
        return frozenset(each.raw for each in der.read(names.public_bytes()).children()) if names else frozenset()

    def digest(self, algorithm: str) -> bytes:
        return _digest(self.encoded, algorithm)


@lru_cache(maxsize=256)
def load(encoded: bytes) -> Certificate:
    """Parse DER. Raise :class:`CertificateError` if it is damaged or has a key of a kind that is not known."""
    try:
        parsed = x509.load_der_x509_certificate(encoded)
        identifier = extension(parsed, x509.SubjectKeyIdentifier)
        extended = [each for each in parsed.extensions if isinstance(each.value, x509.ExtendedKeyUsage)]
        purposes = [purpose for each in extended for purpose in each.value]
        is_for_signatures = may_sign(parsed)
        fields = der.read(parsed.tbs_certificate_bytes).children()
        algorithm, issuer, _, subject, public = fields[2:7] if fields[0].tag == _VERSION else fields[1:6]
        key = public_key(parsed)
        if der.read(encoded).children()[1].raw != algorithm.raw:
            raise CertificateError("a certificate is signed in another way than it says")
        name, serial = _name(parsed.subject), parsed.serial_number
    except CertificateError:
        raise
    except Exception as error:
        raise CertificateError("a certificate cannot be read") from error
    if not isinstance(key, PublicKey):
        raise CertificateError("a certificate has a key of a kind that is not known")
    return Certificate(
        encoded=encoded,
        parsed=parsed,
        issuer=issuer.raw,
        subject=subject.raw,
        serial=serial,
        key_identifier=identifier.digest if identifier else b"",
        public_key=key,
        name=name,
        for_documents=is_for_signatures and (not extended or not chains.FOR_DOCUMENTS.isdisjoint(purposes)),
        for_timestamps_only=is_for_signatures
        and any(each.critical for each in extended)
        and purposes == [ExtendedKeyUsageOID.TIME_STAMPING],
        for_proofs=chains.PROOF_SEALING in purposes,
        is_root=chains.is_root(parsed),
        key_parameters=b"".join(each.raw for each in public.children()[0].children()[1:]),
    )


def readable(encoded: bytes) -> Certificate | None:
    """Parse DER; return ``None`` where :func:`load` raises."""
    try:
        return load(encoded)
    except CertificateError:
        return None


def missing_issuer(chain: Sequence[bytes]) -> str:
    """Return whose certificate is missing at the end of a chain (DER, the leaf first) that does not end in a root, as a
    sentence without a full stop; else empty."""
    last = load(chain[-1])
    return "" if last.is_root else f'The issuer "{last.parsed.issuer.rfc4514_string()}" of "{last.name}" is missing'


def without_root(certificate: bytes, chain: tuple[bytes, ...]) -> list[bytes]:
    """Return the certificates (DER) to send along with a signature: verifiers have the root themselves."""
    return [certificate, *(link for link in chain if not load(link).is_root)]


def is_issued_by(child: Certificate, issuer: Certificate) -> bool:
    """Return whether the child names the issuer and the issuer's key signed it."""
    return chains.is_issued_by(child.parsed, issuer.parsed)


@dataclass(frozen=True)
class Identity:
    """The owner of one certificate."""

    encoded: bytes
    """DER of the certificate."""

    @property
    def name(self) -> str:
        """The common name, else the organization, else the whole subject."""
        return self._certificate.name

    @property
    def subject(self) -> str:
        """The whole subject (RFC 4514)."""
        return self._certificate.parsed.subject.rfc4514_string()

    @property
    def sha256(self) -> str:
        """The fingerprint: SHA-256 of the DER, in hexadecimal."""
        return self._certificate.digest("sha256").hex()

    @property
    def organization(self) -> tuple[str, ...]:
        """The organization and its identifier, which the issuer has checked; without either, the whole subject."""
        subject = self._certificate.parsed.subject
        kinds = (NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATION_IDENTIFIER)
        found = tuple(str(each.value) for kind in kinds for each in subject.get_attributes_for_oid(kind))
        return found or (self.subject,)

    @property
    def is_for_proofs(self) -> bool:
        """Whether the certificate is for sealing proofs, and so for sealing nothing else."""
        return self._certificate.for_proofs

    @property
    def is_of_development(self) -> bool:
        """Whether a development authority, which has separate certificates for proofs, issued the certificate."""
        return is_of_development(self._certificate.parsed)

    def is_one_of(self, wanted: Sequence[str]) -> bool:
        """Return whether ``wanted`` lists the owner by name, whole subject or fingerprint. An empty list accepts
        everybody."""
        fingerprints = {_COLONS.sub("", each).lower() for each in wanted}
        return not wanted or self.name in wanted or self.subject in wanted or self.sha256 in fingerprints

    def __str__(self) -> str:
        return f'"{self.subject}" (SHA-256 {self.sha256})'

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "sha256": self.sha256}

    @property
    def _certificate(self) -> Certificate:
        return load(self.encoded)


def _name(name: x509.Name) -> str:
    for kind in (NameOID.COMMON_NAME, NameOID.ORGANIZATION_NAME):
        if found := name.get_attributes_for_oid(kind):
            return str(found[0].value)
    return name.rfc4514_string()


@lru_cache(maxsize=1024)
def _digest(encoded: bytes, algorithm: str) -> bytes:
    return oids.digest_of(algorithm, encoded)


def end_of(chain: Sequence[bytes]) -> datetime:
    """Return until when all certificates of a chain (DER) are valid and their keys may be relied on."""
    return min(min(link.parsed.not_valid_after_utc, end_of_key(link.public_key)) for link in map(load, chain))


class Untrusted(Refused):
    """The certificate is not trusted; the message is the reason."""

    kind: SubIndication = "NO_CERTIFICATE_CHAIN_FOUND"


def check_chain(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> tuple[bytes, ...]:
    """Return the certificates (DER) from ``certificate`` to a root, both included, all valid at ``moment``. ``others``:
    DER of certificates that may lie between; none of them is trusted for being there. Raise :class:`Untrusted`. A
    verified chain is remembered for the time in which all of its certificates are valid."""
    known = _remembered(certificate.encoded, tuple(others), tuple(roots))
    for chain in known:
        if chain.start <= moment <= chain.end:
            return chain.certificates
    chain = _verify(certificate, others, roots, moment)
    known.append(chain)
    return chain.certificates


@dataclass(frozen=True)
class _VerifiedChain:
    certificates: tuple[bytes, ...]
    start: datetime
    end: datetime


@lru_cache(maxsize=512)
def _remembered(certificate: bytes, others: tuple[bytes, ...], roots: tuple[bytes, ...]) -> list[_VerifiedChain]:
    """Return the list in which verified chains of these certificates are remembered; the caller appends to it."""
    del certificate, others, roots
    return []


def _verify(
    certificate: Certificate, others: Sequence[bytes], roots: Sequence[bytes], moment: datetime
) -> _VerifiedChain:
    between, anchors = ([each.parsed for each in map(readable, some) if each] for some in (others, roots))
    if not anchors:
        raise Untrusted("no root is trusted")
    try:
        chain = find_chain(certificate.parsed, between, anchors, moment)
    except NoChain as error:
        raise Untrusted(_reason(error, certificate), error.kind) from error
    certificates = tuple(link.public_bytes(Encoding.DER) for link in chain)
    return _VerifiedChain(certificates, max(link.not_valid_before_utc for link in chain), end_of(certificates))


def _reason(error: NoChain, certificate: Certificate) -> str:
    if not error.fault:
        return "its certificate does not chain to a trusted root"
    if error.certificate == certificate.parsed:
        return f"its certificate {error.fault}"
    return f'the certificate "{load(error.certificate.public_bytes(Encoding.DER)).name}" {error.fault}'


@lru_cache(maxsize=64)
def qualified_statements(certificate: bytes) -> tuple[str, ...]:
    """Return the names of the statements that a certificate (DER) makes about being qualified (ETSI EN 319 412-5); an
    unknown type has its number. They are the issuer's word, which the trusted lists of the member states may or may
    not confirm. Statements that cannot be read count as none."""
    try:
        values = [each.value for each in load(certificate).parsed.extensions if each.oid.dotted_string == _STATEMENTS]
        parts = [each.children() for value in values for each in der.read(value.public_bytes()).children()]
        made = [identifier.oid() for identifier, *_ in parts]
        kinds = [kind.oid() for identifier, *of in parts if identifier.oid() == _TYPE for kind in of[0].children()]
    except (ValueError, IndexError):
        return ()
    return tuple(_STATED.get(each, f"QcType {each}") for each in [*made, *kinds] if each in _STATED or each in kinds)


def makes_qualified_seals(certificate: bytes) -> bool:
    """Return whether a certificate (DER) says that its seals are qualified electronic seals (Article 3(27) of the
    Regulation): it is qualified, for seals and nothing else, and its key is in a qualified device."""
    return set(qualified_statements(certificate)) == _OF_QUALIFIED_SEALS
