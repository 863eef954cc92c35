"""The proof file of a request, before it is sealed (rule 2.2, last paragraph): the data of its template."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from qrcode.image.svg import SvgPathImage
from qrcode.main import make

from paraph.kernel.appearance import LogoPicture
from paraph.pdf.typesetting import EVIDENCE
from paraph.pdf.typesetting.appearances import SignaturePictures, mark_of
from paraph.pdf.typesetting.glyph_fallback import (
    NAMELESS,
    clean,
    glyph_fallback,
    initials_of,
    readable_name,
    template_text,
    written_otherwise,
)
from paraph.pdf.typesetting.proof_words import (
    day,
    metadata_label,
    metadata_values,
    milliseconds,
    named,
    sentence,
    time_of_day,
    words_of,
)
from paraph.pdf.typesetting.typeset import typeset
from paraph.words import Words, date, direction, listed, moment, phrase

_COMMANDS = {
    "step_digests": "sha256sum signed.pdf",
    "step_seals": "paraph verify signed.pdf --root roots.pem",
    "step_timestamps": "pdfsig -dump proof.pdf",
    "step_evidence": "pdfdetach -saveall proof.pdf",
    "step_together": "paraph verify proof.pdf signed.pdf uploaded.pdf --root roots.pem",
}
"""How to verify: the command of each step."""
_TOLD_OTHERWISE = ("consent_notice", "role")  # shown below the other metadata, and in the title of the entry
_LONGEST_TYPE = 48  # characters of an event's name that fit in a line
_LONG_ENTRY = 2500  # characters; longer entries of the journal may go over two pages
_LONG_VALUE = 1000  # characters; longer values may go over two pages
_SIGNATURE = (118.0, 40.0)
_INITIALS = (34.0, 20.0)
"""The approximate width and height that templates/proof.typ gives to each, in points."""
_LOGO = 0.6  # points per CSS pixel of its size on pages


@dataclass(frozen=True)
class ProofField:
    """A field that a signer filled in, or the service in their place. ``document``: the name of the document;
    ``text``: the value as it is printed, "" for what was left empty."""

    document: str
    label: str
    text: str


@dataclass(frozen=True)
class ProofSigner:
    """One signer. ``channel`` is "sms" or "email", ``destination`` the exact number or address that the one-time code
    went to, both "" for a signature without a code in the sandbox; ``documents``: the names of the documents that this
    signer signed.

    ``signature`` and ``initials`` are as on the stamps (:class:`paraph.pdf.typesetting.appearances.StampContent`).
    ``signature`` is None for signers who approved and drew nothing, ``initials`` also where the request wants none.
    ``opened_at`` and ``opened_ip``: when and from where the signer's page was first opened, None where that is unknown;
    ``refused_codes``: when wrong codes were entered.
    ``fields``: in the order of reading.
    """

    name: str
    email: str
    order: int
    channel: str
    destination: str
    signed_at: datetime
    ip: str = ""
    user_agent: str = ""
    signature: Mapping[str, Any] | None = field(default_factory=lambda: {"type": "typed"})
    documents: Sequence[str] = ()
    initials: Mapping[str, Any] | None = None
    opened_at: datetime | None = None
    opened_ip: str = ""
    refused_codes: Sequence[datetime] = ()
    fields: Sequence[ProofField] = ()


@dataclass(frozen=True)
class ProofSeal:
    """The seal of a document. ``timestamped_at`` is None where no timestamp authority could be reached; ``qualified``:
    whether its certificate states that its seals are qualified electronic seals."""

    algorithm: str
    key_id: str
    sealed_at: datetime
    timestamped_at: datetime | None = None
    timestamp_authority: str = ""
    timestamp_policy_oid: str = ""
    qualified: bool = False


@dataclass(frozen=True)
class ProofDocument:
    """One document with the SHA-256 digests (hexadecimal) of the uploaded and of the signed file."""

    document_id: int
    name: str
    page_count: int
    uploaded_sha256: str
    signed_sha256: str
    seal: ProofSeal


@dataclass(frozen=True)
class JournalLine:
    """One entry of the audit journal. ``signer`` is the full name, "" where the entry is about no single signer;
    ``title``: what this entry is called, "" for the title of its type (:attr:`ProofContent.event_titles`)."""

    position: int
    event_type: str
    at: datetime
    signer: str = ""
    ip: str = ""
    user_agent: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""


@dataclass(frozen=True)
class ProofContent:
    """Everything that the proof states. All times are aware.

    - ``environment``: "sandbox" or "production"; ``mode``: as in rule 2.2;
    - ``journal_hash``: the hash of the last entry of ``journal``, in hexadecimal;
    - ``evidence``: plain JSON, attached as evidence.json;
    - ``locale``: the language of headings and sentences, one of :data:`paraph.words.LOCALES`; English for others;
    - ``event_titles``: what an event is called, by its ``event_type``; without a title the type is shown;
    - ``sender_events``: the event types that are attributed to the organization where no signer is named; others are
      attributed to the service;
    - ``logo``: that of the branding profile;
    - ``verify_page``: the address of the page that verifies files for anybody, "" where there is none.
    """

    request_id: int
    organization: str
    environment: str
    mode: str
    created_at: datetime
    completed_at: datetime
    issued_at: datetime
    signers: Sequence[ProofSigner]
    documents: Sequence[ProofDocument]
    journal: Sequence[JournalLine]
    journal_hash: str
    evidence: Mapping[str, Any] = field(default_factory=dict)
    locale: str = "en"
    event_titles: Mapping[str, str] = field(default_factory=dict)
    sender_events: Collection[str] = ()
    logo: LogoPicture | None = None
    verify_page: str = ""


def proof(content: ProofContent) -> bytes:
    """Typeset the proof as PDF/A-3b with evidence.json attached. The same content gives the same bytes."""
    return typeset("proof", template_data(content), standard="a-3b", at=content.issued_at.replace(microsecond=0))


def template_data(content: ProofContent) -> dict[str, Any]:
    """Return plain JSON for templates/proof.typ."""
    words = words_of("proof", content.locale)
    # The QR code, with the quiet zone around it that cameras need (ISO/IEC 18004).
    code = make(content.verify_page, image_factory=SvgPathImage).to_string()
    return {
        "title": words["title"],
        "label": words,
        "language": words["locale"],
        "direction": direction(words["locale"]),
        "sandbox": content.environment == "sandbox",
        "heading": template_text(content.organization),
        "logo": _logo(content.logo),
        "request_id": str(content.request_id),
        "issued": f"{content.issued_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC",
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
        "page": {"text": words["step_page"], "address": content.verify_page, "code": str(code, "ascii")},
        "evidence_name": EVIDENCE,
        "evidence": json.dumps(content.evidence, ensure_ascii=False, sort_keys=True, indent=1) + "\n",
    }


def _logo(logo: LogoPicture | None) -> dict[str, Any] | None:
    """Return the logo for the template, with sizes in points; None where there is no logo."""
    if logo is None:
        return None
    width, height = (side * _LOGO for side in logo.shown)
    return {"png": list(logo.png), "width": width, "height": height, "ground": logo.ground}


def _document(document: ProofDocument, words: Words) -> dict[str, Any]:
    seal, stamped_at = document.seal, document.seal.timestamped_at
    return {
        "name": template_text(document.name),
        "note": words["transliterated"] if glyph_fallback(document.name).transliterated else "",
        "id": str(document.document_id),
        "pages": str(document.page_count),
        "uploaded": document.uploaded_sha256,
        "signed": document.signed_sha256,
        "algorithm": template_text(seal.algorithm),
        "key": template_text(seal.key_id),
        "sealed_at": milliseconds(seal.sealed_at),
        "qualified": words["qualified_seal"] if seal.qualified else "",
        "timestamp": milliseconds(stamped_at) if stamped_at else "",
        "no_timestamp": words["no_timestamp"],
        "authority": template_text(seal.timestamp_authority) if stamped_at else "",
        "policy": seal.timestamp_policy_oid if stamped_at else "",
    }


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


def verdict(content: ProofContent, words: Words) -> str:
    """Return the sentences of the verdict in the language of ``words``."""
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
    return {"signers": [_signer(signer, pictures, words) for signer in content], "drawings": pictures.pictures}


def _signer(signer: ProofSigner, pictures: SignaturePictures, words: Words) -> dict[str, Any]:
    readable, note = readable_name(signer.name, signer.email), ""
    if written_otherwise(signer.name, signer.email):
        note = words["transliterated" if readable == signer.name else "address_instead"]
    name = clean(readable) or NAMELESS
    is_drawn = signer.signature is not None and pictures.number(signer.signature) is not None
    return {
        "order": str(signer.order),
        "name": template_text(readable),
        "note": note,
        "email": template_text(signer.email),
        "channel": named(words, "channel", signer.channel),
        "destination": template_text(signer.destination),
        "signed_at": milliseconds(signer.signed_at),
        "ip": template_text(signer.ip),
        "user_agent": template_text(signer.user_agent),
        "signed": words["signed" if signer.signature else "approved"],
        "signature": words["drawn" if is_drawn else "typed"] if signer.signature else words["approver"],
        "mark": mark_of(name, signer.signature, pictures) if signer.signature else None,
        "initials": mark_of(initials_of(name), signer.initials, pictures) if signer.initials else None,
        "opened": milliseconds(signer.opened_at) if signer.opened_at else "",
        "opened_ip": template_text(signer.opened_ip),
        "refused_codes": list(map(milliseconds, signer.refused_codes)),
        "documents": [template_text(name) for name in signer.documents],
    }


def filled_fields(content: Sequence[ProofSigner], words: Words) -> list[dict[str, Any]]:
    """Return the values of each signer and document, with labels, and who filled them in and when."""
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
