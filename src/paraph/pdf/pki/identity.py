"""The owner of a certificate, in a form for people and for programs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cryptography.x509.oid import NameOID

from paraph.keys.issuing import PROOF_SEALING, is_of_development
from paraph.pdf.pki.certificate import Certificate, load, purposes

_COLONS = re.compile(r"[:\s]")


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
        return PROOF_SEALING in purposes(self._certificate.parsed)

    @property
    def is_of_development(self) -> bool:
        """Whether a development authority issued the certificate; such an authority has separate ones for proofs."""
        return is_of_development(self._certificate.parsed)

    def is_one_of(self, wanted: Sequence[str]) -> bool:
        """Whether ``wanted`` lists the owner by name, whole subject or fingerprint. An empty list accepts everybody."""
        fingerprints = {_COLONS.sub("", each).lower() for each in wanted}
        return not wanted or self.name in wanted or self.subject in wanted or self.sha256 in fingerprints

    def __str__(self) -> str:
        return f'"{self.subject}" (SHA-256 {self.sha256})'

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "sha256": self.sha256}

    @property
    def _certificate(self) -> Certificate:
        return load(self.encoded)
