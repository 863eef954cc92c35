"""The certificates in the evidence, against those that made the signed file."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from paraph.pdf.pki.certificate import is_issued_by, load
from paraph.pdf.verification.evidence_result import EvidenceCheck
from paraph.pdf.verification.signer_certificates import signer_certificates

KINDS = ("seal", "timestamp", "archive_timestamp")


def check_certificates(
    result: EvidenceCheck, document: Mapping[str, Any], known: Mapping[str, str], name: str, pdf: bytes
) -> None:
    """Note whether the chains of ``document["certificates"]`` are whole and begin with the certificates that made
    the seal and the timestamps of ``pdf``.

    ``known``: each certificate of the evidence as DER in base64, by the SHA-256 of the DER in hexadecimal; ``name``:
    the signed file. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for incomplete evidence.
    """
    chains = {kind: [_decoded(known, digest) for digest in document["certificates"].get(kind, ())] for kind in KINDS}
    broken = [kind for kind, chain in chains.items() if not _is_whole(chain)]
    actual = signer_certificates(pdf)
    other = [kind for kind in KINDS if (chains[kind][0] if chains[kind] else None) != getattr(actual, kind)]
    count = len({link for chain in chains.values() for link in chain})
    result.note(
        not broken and not other,
        f"The proof holds the {count} certificates of {name}, and they are those that made its seal and timestamps.",
        f"The proof states other certificates than those of {name}, or does not hold them all "
        f"({', '.join([*broken, *other])}).",
    )


def _decoded(known: Mapping[str, str], digest: str) -> bytes:
    encoded = base64.b64decode(known[digest], validate=True)
    if hashlib.sha256(encoded).hexdigest() != digest:
        raise ValueError("a certificate is not the one that its digest names")
    return encoded


def _is_whole(chain: Sequence[bytes]) -> bool:
    return all(is_issued_by(load(child), load(issuer)) for child, issuer in pairwise(chain))
