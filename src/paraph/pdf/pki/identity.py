"""Whose certificate it is, for people and for programs."""

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
    """Of a certificate."""

    encoded: bytes
    """DER."""

    @property
    def name(self) -> str:
        """Common name, else organization, else the whole subject."""
        return self._certificate.name

    @property
    def subject(self) -> str:
        """The whole name (RFC 4514)."""
        return self._certificate.parsed.subject.rfc4514_string()

    @property
    def sha256(self) -> str:
        """Of the DER, in hexadecimal: the fingerprint."""
        return self._certificate.digest("sha256").hex()

    @property
    def organization(self) -> tuple[str, ...]:
        """The organization and its identifier, as the issuer has checked them; the whole subject without any."""
        subject = self._certificate.parsed.subject
        kinds = (NameOID.ORGANIZATION_NAME, NameOID.ORGANIZATION_IDENTIFIER)
        found = tuple(str(each.value) for kind in kinds for each in subject.get_attributes_for_oid(kind))
        return found or (self.subject,)

    @property
    def is_for_proofs(self) -> bool:
        """Whether its purposes name the sealing of proofs, which then is all that it may seal."""
        return PROOF_SEALING in purposes(self._certificate.parsed)

    @property
    def is_of_development(self) -> bool:
        """Whether a development authority issued it, which has certificates of their own for proofs."""
        return is_of_development(self._certificate.parsed)

    def is_one_of(self, wanted: Sequence[str]) -> bool:
        """``wanted``: names, whole subjects or fingerprints; where there is none, everybody is."""
        fingerprints = {_COLONS.sub("", each).lower() for each in wanted}
        return not wanted or self.name in wanted or self.subject in wanted or self.sha256 in fingerprints

    def __str__(self) -> str:
        return f'"{self.subject}" (SHA-256 {self.sha256})'

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "subject": self.subject, "sha256": self.sha256}

    @property
    def _certificate(self) -> Certificate:
        return load(self.encoded)
