"""The purpose of a seal, a signed attribute of its CMS: a document or a proof, and its signature request.

One key may seal documents and proofs. Whoever uploads a file chooses all of its bytes, but not the purpose in its seal.
"""

from dataclasses import dataclass
from typing import Any, Literal

from paraph.pdf.pki import der, oids
from paraph.pdf.pki.cms import CmsRefused, SignedData

PurposeKind = Literal["document", "proof"]

_KINDS: dict[str, PurposeKind] = {"document": "document", "proof": "proof"}
_VERSION = 1


@dataclass(frozen=True)
class Purpose:
    """The purpose of one seal."""

    kind: PurposeKind
    request_id: int
    environment: str
    """``sandbox`` or ``production``."""

    @property
    def attribute(self) -> bytes:
        """DER of the CMS attribute with the value ``SEQUENCE { version, kind, request id, environment }``."""
        value = der.sequence(
            der.integer(_VERSION),
            der.utf8_string(self.kind),
            der.integer(self.request_id),
            der.utf8_string(self.environment),
        )
        return der.attribute(oids.SEAL_PURPOSE, value)

    def __str__(self) -> str:
        return f"{self.kind} of signature request {self.request_id} ({self.environment})"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "request_id": self.request_id, "environment": self.environment}


def document_purpose(request_id: int, environment: str) -> Purpose:
    """Return the purpose of every file that came from outside, whatever is in it. Raise nothing."""
    return Purpose("document", request_id, environment)


def proof_purpose(request_id: int, environment: str) -> Purpose:
    """Return the purpose of a proof that the service typeset itself, and of nothing else. Raise nothing."""
    return Purpose("proof", request_id, environment)


def stated_purpose(signed: SignedData) -> Purpose | None:
    """Return the purpose in a seal; ``None`` for seals of other programs, which have none. Raise :class:`CmsRefused`
    for a purpose that cannot be read."""
    value = signed.signed_attributes.get(oids.SEAL_PURPOSE)
    if value is None:
        return None
    try:
        version, kind, request_id, environment = value.children()
        purpose = Purpose(_KINDS[kind.utf8()], request_id.integer(), environment.utf8())
    except (ValueError, KeyError) as error:
        raise CmsRefused("what it is for cannot be read") from error
    if version.integer() != _VERSION:
        raise CmsRefused("what it is for is said in a way that this version does not know")
    return purpose
