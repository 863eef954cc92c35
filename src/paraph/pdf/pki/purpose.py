"""What a seal is for, as one signed attribute in its CMS says: a document or a proof, of which signature request.

Documents and proofs may be sealed by one key. Whoever uploads a file chooses all of its bytes, but not what the seal
says of it.
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.cms import SignedData
from paraph.pdf.pki.cms_errors import CmsRefused

PurposeKind = Literal["document", "proof"]

_VERSION = 1


@dataclass(frozen=True)
class Purpose:
    """Made by :func:`document_purpose` or :func:`proof_purpose`."""

    kind: PurposeKind
    request_id: int
    environment: str
    """``sandbox`` or ``production``."""

    @property
    def attribute(self) -> bytes:
        """DER of the CMS attribute; its value is ``SEQUENCE { version, kind, request id, environment }``."""
        value = der.sequence(
            der.integer(_VERSION),
            der.utf8_string(self.kind),
            der.integer(self.request_id),
            der.utf8_string(self.environment),
        )
        return der.sequence(der.oid(oids.SEAL_PURPOSE), der.tlv(der.SET, value))

    def __str__(self) -> str:
        return f"{self.kind} of signature request {self.request_id} ({self.environment})"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "request_id": self.request_id, "environment": self.environment}


def document_purpose(request_id: int, environment: str) -> Purpose:
    """For every file that came from outside, whatever is in it. Raises nothing."""
    return Purpose("document", request_id, environment)


def proof_purpose(request_id: int, environment: str) -> Purpose:
    """For the proof that the service has typeset itself, and for nothing else. Raises nothing."""
    return Purpose("proof", request_id, environment)


def from_json(told: dict[str, Any]) -> Purpose:
    """What :meth:`Purpose.to_json` made of one. Raises ``TypeError`` for anything else."""
    return Purpose(**told)


def stated_purpose(signed: SignedData) -> Purpose | None:
    """What the seal says; ``None`` for one that does not say it: of another program, or of an earlier version.

    Raises :class:`CmsRefused` where it says something that cannot be read.
    """
    value = signed.signed_attributes.get(oids.SEAL_PURPOSE)
    if value is None:
        return None
    try:
        version, kind, request_id, environment = value.children()
        said = Purpose(_kind(kind.utf8()), request_id.integer(), environment.utf8())
    except ValueError as error:
        raise CmsRefused("what it is for cannot be read") from error
    if version.integer() != _VERSION:
        raise CmsRefused("what it is for is said in a way that this version does not know")
    return said


def _kind(text: str) -> PurposeKind:
    for kind in get_args(PurposeKind):
        if text == kind:
            return kind  # type: ignore[no-any-return]  # get_args() forgets of what
    raise ValueError(text)
