"""What the proof's template gets: every value a sentence, a word or a digest ready to be set."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paraph.pdf.legible import legible, written
from paraph.pdf.proof_words import SENDERS_EVENTS, Words, words
from paraph.pdf.qr_code import qr_code

if TYPE_CHECKING:
    from paraph.pdf.proof import JournalLine, ProofContent, ProofDocument, ProofSeal, ProofSigner

EVIDENCE = "evidence.json"
_LONG_ENTRY = 2500  # characters; longer entries of the journal may go over two pages


def page(content: "ProofContent") -> dict[str, Any]:
    """Plain JSON for templates/proof.typ."""
    language = words(content.locale)
    label = language.labels
    return {
        "title": language.title,
        "label": dict(label),
        "locale": content.locale.replace("_", "-").split("-")[0].lower(),
        "sandbox": content.environment == "sandbox",
        "heading": written(content.organization),
        "request_id": str(content.request_id),
        "issued": _seconds(content.issued_at),
        "verdict": written(_verdict(content)),
        "facts": [
            [label["request"], str(content.request_id)],
            [label["organization"], written(content.organization)],
            [label["environment"], content.environment],
            [label["mode"], language.modes.get(content.mode, content.mode)],
            [label["created"], _milliseconds(content.created_at)],
            [label["completed"], _milliseconds(content.completed_at)],
            [label["issued"], _milliseconds(content.issued_at)],
        ],
        "signers": [_signer(signer, language) for signer in content.signers],
        "documents": [_document(document, language) for document in content.documents],
        "journal": [_line(line, content, language) for line in content.journal],
        "journal_hash": content.journal_hash,
        "verify": list(_how_to_verify()),
        "verification_url": content.verification_url,
        "verification": written(content.verification_url),
        "qr": qr_code(content.verification_url),
        "evidence_name": EVIDENCE,
        "evidence": json.dumps(content.evidence, ensure_ascii=False, sort_keys=True, indent=1) + "\n",
    }


def _verdict(content: "ProofContent") -> str:
    signers, documents = len(content.signers), len(content.documents)
    who = "The signer has" if signers == 1 else "Both signers have" if signers == 2 else f"All {signers} signers have"
    each = "after entering a one-time code" if signers == 1 else "each after entering a one-time code"
    what = "The signed document is" if documents == 1 else f"The {documents} signed documents are"
    return (
        f"{who} signed, {each}. The request was completed on {_milliseconds(content.completed_at)}. "
        f"{what} sealed (PAdES) {_timestamps(content)}."
    )


def _timestamps(content: "ProofContent") -> str:
    seals = [document.seal for document in content.documents]
    stamped = [seal for seal in seals if seal.timestamped_at is not None]
    if not stamped:
        return "without a timestamp, because no timestamp authority could be reached"
    names = " and ".join(sorted({seal.timestamp_authority for seal in stamped}))
    if len(stamped) == len(seals):
        return f"with an RFC 3161 timestamp of {names}" if len(seals) == 1 else f"with RFC 3161 timestamps of {names}"
    return f"and {len(stamped)} of {len(seals)} carry an RFC 3161 timestamp of {names}"


def _signer(signer: "ProofSigner", language: Words) -> dict[str, Any]:
    channel = language.channels.get(signer.channel, signer.channel)
    return {
        "order": str(signer.order),
        "name": written(signer.name),
        "note": language.transliterated if legible(signer.name).transliterated else "",
        "email": written(signer.email),
        "channel": channel,
        "destination": written(signer.destination),
        "signed_at": _milliseconds(signer.signed_at),
        "ip": written(signer.ip),
        "user_agent": written(signer.user_agent),
        "signature": signer.signature_type,
        "documents": [written(name) for name in signer.documents],
    }


def _document(document: "ProofDocument", language: Words) -> dict[str, Any]:
    return {
        "name": written(document.name),
        "note": language.transliterated if legible(document.name).transliterated else "",
        "id": str(document.document_id),
        "pages": str(document.page_count),
        "uploaded": document.uploaded_sha256,
        "signed": document.signed_sha256,
        **_seal(document.seal, language),
    }


def _seal(seal: "ProofSeal", language: Words) -> dict[str, Any]:
    result = {
        "algorithm": written(seal.algorithm),
        "key": written(seal.key_id),
        "sealed_at": _milliseconds(seal.sealed_at),
        "timestamp": "",
        "no_timestamp": language.no_timestamp,
        "authority": "",
        "policy": "",
    }
    if seal.timestamped_at is not None:
        result |= {
            "timestamp": _milliseconds(seal.timestamped_at),
            "authority": written(seal.timestamp_authority),
            "policy": seal.timestamp_policy_oid,
        }
    return result


def _line(line: "JournalLine", content: "ProofContent", language: Words) -> dict[str, Any]:
    sender = line.event_type in SENDERS_EVENTS
    fallback = content.organization if sender else language.labels["service"]
    details = [(key, value) for key, value in line.metadata.items() if key != "consent_notice"]
    return {
        "position": str(line.position),
        "at": _milliseconds(line.at).split(" ", 1),
        "event": written(language.event(line.event_type)),
        "type": written(line.event_type),
        "who": written(line.signer or fallback),
        "ip": written(line.ip),
        "user_agent": written(line.user_agent),
        "details": [
            [written(language.key(str(key)) + ":"), written(text), _is_code(text)]
            for key, value in details
            for text in _values(value)
        ],
        "consent": written(str(line.metadata.get("consent_notice", ""))),
        "long": len(str(line.metadata)) + len(line.user_agent) > _LONG_ENTRY,
        "consent_label": language.key("consent_notice") + ":",
    }


def _values(value: Any) -> Iterator[str]:
    """How a metadata value reads; empty ones are left to evidence.json."""
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield from value
    elif isinstance(value, Mapping | list):
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
    elif value is not None and value != "":
        yield str(value)


def _is_code(text: str) -> bool:
    """Digests and identifiers, set in a monospaced font so that they can be compared by eye."""
    return len(text) > 12 and " " not in text and "@" not in text and any(map(str.isdigit, text))


def _how_to_verify() -> Iterator[dict[str, str]]:
    """Steps: a sentence, and a command where there is one."""
    yield {
        "text": "Compare the digest of each signed file with the one under Documents.",
        "command": "sha256sum signed.pdf",
    }
    yield {
        "text": "Check the seals of the signed files and of this proof: with paraph, with poppler's pdfsig, in Adobe "
        "Acrobat or with any other PAdES validator. The root certificate comes from the service.",
        "command": "paraph verify signed.pdf --root root-ca.pem",
    }
    yield {
        "text": "The RFC 3161 timestamps of the documents' seals are named above. This proof is sealed too; its own "
        "timestamp can only come after these pages were set, so it stands in the seal, with the issuing authority:",
        "command": "pdfsig -dump proof.pdf",
    }
    yield {
        "text": f"The file {EVIDENCE} attached to this proof has every fact in machine-readable form. The hash of a "
        "journal entry is the SHA-256 of its JSON with sorted keys and no spaces; the last must be the one above.",
        "command": "pdfdetach -saveall proof.pdf",
    }


def _milliseconds(at: datetime) -> str:
    """``2026-11-21 14:05:09.123 UTC``"""
    moment = at.astimezone(UTC)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d} UTC"


def _seconds(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
