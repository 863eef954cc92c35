"""Describing a seal for the journal and the proof (specification 6.2)."""

import base64
from typing import Any

from paraph.kernel import clock
from paraph.pdf.sealing.seal import SealedPdf


def seal_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Returns the metadata of ``signature_request.pades_signed``. Without a timestamp, ``timestamped`` is false, the
    fields of the timestamp are null, and ``timestamp_failures`` says why. ``method`` tells whether the upload is a
    prefix of the sealed file. ``level`` is the PAdES level, and ``level_reasons`` says why it is not that of the
    settings."""
    stamp = sealed.timestamp
    facts = {
        "signed_pdf_sha256": sealed.sha256.hex(),
        "signing_algorithm": sealed.signing_algorithm,
        "kms_key_id": sealed.kms_key_id,
        "kms_request_id": sealed.kms_request_id,
        "timestamped": stamp is not None,
        "timestamp_authority": stamp.authority if stamp else None,
        "timestamp_policy_oid": stamp.policy_oid if stamp else None,
        "timestamped_at": clock.iso(stamp.time) if stamp else None,
        "method": sealed.method,
        "level": sealed.level,
    }
    optional = {"timestamp_failures": sealed.timestamp_failures, "level_reasons": list(sealed.level_reasons)}
    return facts | {name: value for name, value in optional.items() if value}


def certificate_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Returns the metadata of ``signature_request.certificate_issued``: :func:`seal_facts` with the proof's digest."""
    facts = {key: value for key, value in seal_facts(sealed).items() if key not in ("signed_pdf_sha256", "method")}
    return {"certificate_sha256": sealed.sha256.hex(), **facts}


def exact_facts(sealed: SealedPdf) -> dict[str, Any]:
    """Returns what the row of a sealed file holds: :func:`seal_facts`, ``sealed_at`` and :func:`certificates`, with
    ``timestamped_at`` as exact as the authority stated it. The journal's is cut to the second, as every ``_at`` of the
    API (specification 1)."""
    stamp = sealed.timestamp
    stamped_at = clock.iso_milliseconds(stamp.time) if stamp else None
    exact = {"sealed_at": clock.iso_milliseconds(sealed.sealed_at), "timestamped_at": stamped_at}
    return {**seal_facts(sealed), **exact, "certificates": certificates(sealed)}


def certificates(sealed: SealedPdf) -> dict[str, list[str]]:
    """Returns the certificate chains of ``seal``, ``timestamp`` and ``archive_timestamp``, where present. Each
    certificate is DER in base64, the end entity's first, the root last if it is known."""
    chains = {
        "seal": sealed.certificates,
        "timestamp": sealed.timestamp.chain if sealed.timestamp else (),
        "archive_timestamp": sealed.archive.chain if sealed.archive else (),
    }
    return {kind: [base64.b64encode(link).decode() for link in chain] for kind, chain in chains.items() if chain}
