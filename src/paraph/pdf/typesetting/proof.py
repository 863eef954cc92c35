"""The proof file of a request, before it is sealed (rule 2.2, last paragraph): the data of its template."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from paraph.kernel.appearance import LogoPicture
from paraph.pdf.typesetting.glyph_fallback import clean, glyph_fallback, template_text
from paraph.pdf.typesetting.names import NAMELESS, initials_of, readable_name, written_otherwise
from paraph.pdf.typesetting.proof_content import (
    JournalLine,
    ProofContent,
    ProofDocument,
    ProofField,
    ProofSeal,
    ProofSigner,
)
from paraph.pdf.typesetting.proof_metadata import metadata_label, metadata_values
from paraph.pdf.typesetting.proof_words import day, milliseconds, named, proof_words, sentence, time_of_day
from paraph.pdf.typesetting.signature_pictures import SignaturePictures, hand_of
from paraph.pdf.typesetting.typeset import typeset
from paraph.words import Words, date, direction, listed, moment, phrase

EVIDENCE = "evidence.json"
_COMMANDS = {
    "step_digests": "sha256sum signed.pdf",
    "step_seals": "paraph verify signed.pdf --root root-ca.pem",
    "step_timestamps": "pdfsig -dump proof.pdf",
    "step_evidence": "pdfdetach -saveall proof.pdf",
    "step_together": "paraph verify proof.pdf signed.pdf uploaded.pdf --root root-ca.pem",
}
"""How to verify: the command of each step."""
_TOLD_OTHERWISE = ("consent_notice", "role")  # below the other metadata, and in the title of the entry
_LONGEST_TYPE = 48  # characters of an event's name that fit in a line
_LONG_ENTRY = 2500  # characters; longer entries of the journal may go over two pages
_LONG_VALUE = 1000  # characters; longer values may go over two pages
_SIGNATURE = (118.0, 40.0)
_INITIALS = (34.0, 20.0)
"""About the widths and heights that templates/proof.typ gives to them, in points."""
_LOGO = 0.6  # points to a pixel of pages


def proof(content: ProofContent) -> bytes:
    """Typeset the proof as PDF/A-3b with evidence.json attached. The same content gives the same bytes."""
    return typeset("proof", template_data(content), standard="a-3b", at=content.issued_at.replace(microsecond=0))


def template_data(content: ProofContent) -> dict[str, Any]:
    """Return plain JSON for templates/proof.typ."""
    words = proof_words(content.locale)
    return {
        "title": words["title"],
        "label": words,
        "language": words["locale"],
        "direction": direction(words["locale"]),
        "sandbox": content.environment == "sandbox",
        "heading": template_text(content.organization),
        "logo": _logo(content.logo),
        "request_id": str(content.request_id),
        "issued": _seconds(content.issued_at),
        "verdict": sentence(verdict(content, words), words),
        "facts": [
            [words["request"], str(content.request_id)],
            [words["organization"], template_text(content.organization)],
            [words["environment"], sentence(named(words, "environment", content.environment), words)],
            [words["mode"], sentence(named(words, "mode", content.mode), words)],
            [words["created"], milliseconds(content.created_at)],
            [words["completed"], milliseconds(content.completed_at)],
            [words["issued"], milliseconds(content.issued_at)],
        ],
        **signers(content.signers, words),
        "documents": [_document(document, words) for document in content.documents],
        "fields": filled_fields(content.signers, words),
        "journal": _days(content, words),
        "journal_hash": content.journal_hash,
        "verify": [{"text": words[step], "command": command} for step, command in _COMMANDS.items()],
        "evidence_name": EVIDENCE,
        "evidence": json.dumps(content.evidence, ensure_ascii=False, sort_keys=True, indent=1) + "\n",
    }


def _logo(logo: LogoPicture | None) -> dict[str, Any] | None:
    """Return None for none. Sizes are in points."""
    if logo is None:
        return None
    width, height = (side * _LOGO for side in logo.shown)
    return {"png": list(logo.png), "width": width, "height": height, "ground": logo.ground}


def _document(document: ProofDocument, words: Words) -> dict[str, Any]:
    return {
        "name": template_text(document.name),
        "note": words["transliterated"] if glyph_fallback(document.name).transliterated else "",
        "id": str(document.document_id),
        "pages": str(document.page_count),
        "uploaded": document.uploaded_sha256,
        "signed": document.signed_sha256,
        **_seal(document.seal, words),
    }


def _seal(seal: ProofSeal, words: Words) -> dict[str, Any]:
    result = {
        "algorithm": template_text(seal.algorithm),
        "key": template_text(seal.key_id),
        "sealed_at": milliseconds(seal.sealed_at),
        "timestamp": "",
        "no_timestamp": words["no_timestamp"],
        "authority": "",
        "policy": "",
    }
    if seal.timestamped_at is not None:
        result |= {
            "timestamp": milliseconds(seal.timestamped_at),
            "authority": template_text(seal.timestamp_authority),
            "policy": seal.timestamp_policy_oid,
        }
    return result


def _days(content: ProofContent, words: Words) -> list[dict[str, Any]]:
    """Return the lines of each day in the order of the journal, in which an earlier day can come again."""
    return [
        {
            "date": date(first.at, words["locale"]),
            "day": day(first.at),
            "lines": [_line(line, content, words) for line in (first, *others)],
        }
        for _, (first, *others) in groupby(content.journal, key=lambda line: day(line.at))
    ]


def _line(line: JournalLine, content: ProofContent, words: Words) -> dict[str, Any]:
    title = line.title or content.event_titles.get(line.event_type, line.event_type)
    others = content.organization if line.event_type in content.sender_events else words["service"]
    details = [(key, value) for key, value in line.metadata.items() if key not in _TOLD_OTHERWISE]
    return {
        "position": str(line.position),
        "at": time_of_day(line.at),
        "event": sentence(title, words),
        "type": template_text(line.event_type),
        "unbroken": len(line.event_type) <= _LONGEST_TYPE,
        "who": template_text(line.signer or others),
        "ip": template_text(line.ip),
        "user_agent": template_text(line.user_agent),
        "details": [
            [sentence(metadata_label(str(key), value, words) + ":", words), template_text(text), _is_code(text)]
            for key, value in details
            for text in metadata_values(key, line.metadata, content.environment, words)
        ],
        "consent": template_text(str(line.metadata.get("consent_notice", ""))),
        "long": len(str({**line.metadata, "fields": []})) + len(line.user_agent) > _LONG_ENTRY,
        "consent_label": metadata_label("consent_notice", "", words) + ":",
    }


def _is_code(text: str) -> bool:
    """Return whether a text is a digest or an identifier, which a monospaced font makes easy to compare."""
    return len(text) > 12 and " " not in text and "@" not in text and any(map(str.isdigit, text))


def _seconds(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def verdict(content: ProofContent, words: Words) -> str:
    """Return the sentences in the language of ``words``."""
    return " ".join(
        [
            _everyone_signed(content, words),
            phrase(words, "completed_at", moment=moment(content.completed_at, words["locale"])),
            phrase(words, "documents_sealed", count=len(content.documents)),
            _timestamps(content, words),
        ]
    )


def _everyone_signed(content: ProofContent, words: Words) -> str:
    approved = not all(signer.signature for signer in content.signers)
    if not all(signer.channel for signer in content.signers):
        return str(words["signed_or_approved_by_test" if approved else "signed_by_test"])
    if approved:
        return str(words["everyone_signed_or_approved"])
    signers = len(content.signers)
    return str(words["both_signed"]) if signers == 2 else phrase(words, "everyone_signed", count=signers)


def _timestamps(content: ProofContent, words: Words) -> str:
    seals = [document.seal for document in content.documents]
    stamped = [seal for seal in seals if seal.timestamped_at is not None]
    if not stamped:
        return str(words["timestamped_none"])
    authority = listed(sorted({seal.timestamp_authority for seal in stamped}), words["locale"])
    if len(stamped) == len(seals):
        return phrase(words, "timestamped_all", authority=authority)
    return phrase(words, "timestamped_some", stamped=len(stamped), total=len(seals), authority=authority)


def signers(content: Sequence[ProofSigner], words: Words) -> dict[str, Any]:
    """Return ``signers`` and ``drawings``, the pictures that their marks name by number."""
    sized = [(signer.signature, *_SIGNATURE) for signer in content if signer.signature]
    sized += [(signer.initials, *_INITIALS) for signer in content if signer.initials]
    pictures = SignaturePictures(sized)
    return {
        "signers": [_signer(signer, pictures, words) for signer in content],
        "drawings": pictures.pictures,
    }


def _signer(signer: ProofSigner, pictures: SignaturePictures, words: Words) -> dict[str, Any]:
    name = clean(readable_name(signer.name, signer.email)) or NAMELESS
    is_drawn = signer.signature is not None and pictures.number(signer.signature) is not None
    return {
        "order": str(signer.order),
        "name": template_text(readable_name(signer.name, signer.email)),
        "note": _note(signer, words),
        "email": template_text(signer.email),
        "channel": named(words, "channel", signer.channel),
        "destination": template_text(signer.destination),
        "signed_at": milliseconds(signer.signed_at),
        "ip": template_text(signer.ip),
        "user_agent": template_text(signer.user_agent),
        "signed": words["signed" if signer.signature else "approved"],
        "signature": words["drawn" if is_drawn else "typed"] if signer.signature else words["approver"],
        "mark": _mark(name, signer.signature, pictures) if signer.signature else None,
        "initials": _mark(initials_of(name), signer.initials, pictures) if signer.initials else None,
        "opened": milliseconds(signer.opened_at) if signer.opened_at else "",
        "opened_ip": template_text(signer.opened_ip),
        "refused_codes": list(map(milliseconds, signer.refused_codes)),
        "documents": [template_text(name) for name in signer.documents],
    }


def filled_fields(content: Sequence[ProofSigner], words: Words) -> list[dict[str, Any]]:
    """Return the values of each signer and document, with labels, and who filled them in when."""
    return [
        {
            "who": template_text(readable_name(signer.name, signer.email)),
            "when": milliseconds(signer.signed_at),
            "document": template_text(document),
            "rows": [_filled(field, words) for field in fields],
        }
        for signer in content
        for document, fields in groupby(signer.fields, key=lambda field: field.document)
    ]


def _filled(field: ProofField, words: Words) -> dict[str, Any]:
    return {
        "label": template_text(field.label),
        "lines": [template_text(line) for line in field.text.splitlines()],
        "empty": sentence(words["left_empty"], words) if not field.text.strip() else "",
        "long": len(field.text) > _LONG_VALUE,
    }


def _note(signer: ProofSigner, words: Words) -> str:
    if not written_otherwise(signer.name, signer.email):
        return ""
    is_read = readable_name(signer.name, signer.email) == signer.name
    return str(words["transliterated" if is_read else "address_instead"])


def _mark(text: str, mark: Mapping[str, Any], pictures: SignaturePictures) -> dict[str, Any]:
    written = glyph_fallback(text)
    return {
        "name": {**written.to_json(), "pieces": written.pieces()},
        **hand_of(mark, written.text),
        "drawing": pictures.number(mark),
    }
