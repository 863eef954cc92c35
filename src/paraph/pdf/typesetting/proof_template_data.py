"""The data for the template of the proof: every value is a sentence, a word or a digest ready to be set."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from paraph.pdf.typesetting.glyph_fallback import glyph_fallback, template_text
from paraph.pdf.typesetting.proof_content import JournalLine, ProofContent, ProofDocument, ProofSeal
from paraph.pdf.typesetting.proof_english import ENGLISH
from paraph.pdf.typesetting.proof_signers import signers
from paraph.pdf.typesetting.proof_words import ProofWords, day, milliseconds, time_of_day
from paraph.pdf.typesetting.qr_code import qr_code

EVIDENCE = "evidence.json"
_LANGUAGES = {ENGLISH.language: ENGLISH}
_LONGEST_TYPE = 48  # characters of an event's name that fit in a line
_LONG_ENTRY = 2500  # characters; longer entries of the journal may go over two pages


def template_data(content: ProofContent) -> dict[str, Any]:
    """Returns plain JSON for templates/proof.typ."""
    language = _words(content.locale)
    label = language.labels
    return {
        "title": language.title,
        "label": dict(label),
        "language": language.language,
        "sandbox": content.environment == "sandbox",
        "heading": template_text(content.organization),
        "request_id": str(content.request_id),
        "issued": _seconds(content.issued_at),
        "verdict": template_text(language.verdict(content)),
        "facts": [
            [label["request"], str(content.request_id)],
            [label["organization"], template_text(content.organization)],
            [label["environment"], content.environment],
            [label["mode"], language.modes.get(content.mode, content.mode)],
            [label["created"], milliseconds(content.created_at)],
            [label["completed"], milliseconds(content.completed_at)],
            [label["issued"], milliseconds(content.issued_at)],
        ],
        **signers(content.signers, language),
        "documents": [_document(document, language) for document in content.documents],
        "journal": _days(content, language),
        "journal_hash": content.journal_hash,
        "verify": [{"text": text, "command": command} for text, command in language.steps],
        "verification_url": content.verification_url,
        "verification": template_text(content.verification_url),
        "qr": qr_code(content.verification_url),
        "evidence_name": EVIDENCE,
        "evidence": json.dumps(content.evidence, ensure_ascii=False, sort_keys=True, indent=1) + "\n",
    }


def _words(locale: str) -> ProofWords:
    return _LANGUAGES.get(locale.replace("_", "-").split("-")[0].lower(), ENGLISH)


def _document(document: ProofDocument, language: ProofWords) -> dict[str, Any]:
    return {
        "name": template_text(document.name),
        "note": language.transliterated if glyph_fallback(document.name).transliterated else "",
        "id": str(document.document_id),
        "pages": str(document.page_count),
        "uploaded": document.uploaded_sha256,
        "signed": document.signed_sha256,
        **_seal(document.seal, language),
    }


def _seal(seal: ProofSeal, language: ProofWords) -> dict[str, Any]:
    result = {
        "algorithm": template_text(seal.algorithm),
        "key": template_text(seal.key_id),
        "sealed_at": milliseconds(seal.sealed_at),
        "timestamp": "",
        "no_timestamp": language.no_timestamp,
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


def _days(content: ProofContent, language: ProofWords) -> list[dict[str, Any]]:
    """Returns the lines of each day, in the order of the journal, which a clock that was set back can bring before an
    earlier day once more."""
    return [
        {"day": date, "lines": [_line(line, content, language) for line in lines]}
        for date, lines in groupby(content.journal, key=lambda line: day(line.at))
    ]


def _line(line: JournalLine, content: ProofContent, language: ProofWords) -> dict[str, Any]:
    others = content.organization if line.event_type in content.sender_events else language.labels["service"]
    details = [(key, value) for key, value in line.metadata.items() if key != "consent_notice"]
    return {
        "position": str(line.position),
        "at": time_of_day(line.at),
        "event": template_text(content.event_titles.get(line.event_type, line.event_type)),
        "type": template_text(line.event_type),
        "unbroken": len(line.event_type) <= _LONGEST_TYPE,
        "who": template_text(line.signer or others),
        "ip": template_text(line.ip),
        "user_agent": template_text(line.user_agent),
        "details": [
            [template_text(language.key(str(key)) + ":"), template_text(text), _is_code(text)]
            for key, value in details
            for text in _values(key, value, language)
        ],
        "consent": template_text(str(line.metadata.get("consent_notice", ""))),
        "long": len(str(line.metadata)) + len(line.user_agent) > _LONG_ENTRY,
        "consent_label": language.key("consent_notice") + ":",
    }


def _values(key: str, value: Any, language: ProofWords) -> Iterator[str]:
    """Yields a metadata value as text. Empty values are in evidence.json alone."""
    if key == "documents" and isinstance(value, list):
        yield from map(language.remarks, value)
    elif key == "prepared_documents" and isinstance(value, list):
        yield from map(language.prepared, value)
    elif isinstance(value, str) and key in language.values:
        yield language.values[key](value)
    elif isinstance(value, bool):
        yield "yes" if value else "no"
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield from value
    elif isinstance(value, Mapping | list):
        yield json.dumps(value, ensure_ascii=False, sort_keys=True)
    elif value is not None and value != "":
        yield str(value)


def _is_code(text: str) -> bool:
    """Whether a text is a digest or an identifier, which a monospaced font makes easy to compare."""
    return len(text) > 12 and " " not in text and "@" not in text and any(map(str.isdigit, text))


def _seconds(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
