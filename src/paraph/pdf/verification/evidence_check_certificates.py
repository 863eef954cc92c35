"""The certificates that the evidence states, against those of the signed file."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from paraph.pdf.pki.certificate import is_issued_by, load
from paraph.pdf.verification.signer_certificates import signer_certificates

if TYPE_CHECKING:
    from paraph.pdf.verification.evidence_check import EvidenceCheck

KINDS = ("seal", "timestamp", "archive_timestamp")


def check_certificates(
    result: "EvidenceCheck", document: Mapping[str, Any], known: Mapping[str, str], name: str, pdf: bytes
) -> None:
    """Notes whether the chains of ``document["certificates"]`` are whole and begin with the certificates that made
    the seal and the timestamps of ``pdf``.

    ``known``: of every certificate of the evidence its DER in base64, by the SHA-256 of the DER (hexadecimal). Raises
    ``KeyError``, ``TypeError`` or ``ValueError`` for evidence that does not say what evidence must.
    """
    chains = {kind: [_found(known, digest) for digest in document["certificates"].get(kind, ())] for kind in KINDS}
    broken = [kind for kind, chain in chains.items() if not _is_whole(chain)]
    made = signer_certificates(pdf)
    other = [kind for kind in KINDS if (chains[kind][0] if chains[kind] else None) != getattr(made, kind)]
    count = len({link for chain in chains.values() for link in chain})
    result.note(
        not broken and not other,
        f"The proof holds the {count} certificates of {name}, and they are those that made its seal and timestamps.",
        f"The proof states other certificates than those of {name}, or does not hold them all "
        f"({', '.join([*broken, *other])}).",
    )


def _found(known: Mapping[str, str], digest: str) -> bytes:
    encoded = base64.b64decode(known[digest], validate=True)
    if hashlib.sha256(encoded).hexdigest() != digest:
        raise ValueError("a certificate is not the one that its digest names")
    return encoded


def _is_whole(chain: Sequence[bytes]) -> bool:
    return all(is_issued_by(load(child), load(issuer)) for child, issuer in pairwise(chain))
