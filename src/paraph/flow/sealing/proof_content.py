"""Gathering what the proof of a request states (rule 2.2, last paragraph)."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from paraph import words as catalog
from paraph.audit_trail.append import facts
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.models import SealedDocument
from paraph.kernel import clock, tokens
from paraph.otp.models import OneTimeCode, RefusedCode
from paraph.pdf.typesetting.proof import (
    JournalLine,
    ProofContent,
    ProofDocument,
    ProofField,
    ProofSeal,
    ProofSigner,
)
from paraph.signature_requests.fields.kinds import Value, shown_text
from paraph.signature_requests.fields.store import facts_of, fields_of
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import Field, FirstOpening, Role, SignatureRequest, Signer
from paraph.signature_requests.signed_documents import signed_names
from paraph.tenants.branding import logo_picture

SENDER_EVENTS: frozenset[str] = frozenset({EventType.CREATED, EventType.IDENTITY_DECLARED})
"""Events that the proof attributes to the organization; others without a signer are the service's."""


def event_titles(locale: str, *, approved: bool = False) -> Mapping[str, str]:
    """Return the titles in the language of a request, by the event's name. ``approved``: somebody approved it."""
    words = catalog.of("proof", locale)
    named = {event: f"event_{event.name.lower()}" for event in EventType}
    if approved:
        named[EventType.COMPLETED] = "event_signed_or_approved"
    return {event: words[name] for event, name in named.items()}


def own_title(event_type: str, metadata: Mapping[str, Any], locale: str) -> str:
    """Return the title of an event that its name does not tell: of a reminder, of an approval. "" for any other."""
    words = catalog.of("proof", locale)
    if event_type == EventType.SIGNER_NOTIFIED and metadata.get("reminder") is True:
        return str(words["event_reminded"])
    approved = event_type == EventType.SIGNED and metadata.get("role") == Role.APPROVER
    return str(words["event_approved"]) if approved else ""


@dataclass(frozen=True)
class FilledIn:
    """A field and its value as the journal has it. ``document``: the name of its document; ``text``: the value as it
    is printed, of a checkbox in a word."""

    field: Field
    document: str
    value: Value | None
    text: str

    def printed(self) -> ProofField:
        return ProofField(self.document, self.field.label, self.text)

    def evidence(self) -> dict[str, Any]:
        """Return what evidence.json has of it. ``printed`` is what ``paraph verify`` looks for on the pages."""
        return facts_of(self.field) | {"label": self.field.label, "value": self.value, "printed": self.text}


@dataclass(frozen=True)
class Visits:
    """When a signer opened the page first and entered wrong codes. ``opening`` is None where a program signed."""

    opening: FirstOpening | None
    refused_codes: Sequence[datetime]

    def evidence(self) -> dict[str, Any]:
        """Return what evidence.json adds to the signer."""
        refused = [clock.iso_milliseconds(moment) for moment in self.refused_codes]
        if self.opening is None:
            return {"refused_codes": refused}
        opening = {"at": clock.iso_milliseconds(self.opening.opened_at), "ip": self.opening.ip}
        return {"first_opening": opening, "refused_codes": refused}


def visits_of(request_id: int, signers: Sequence[Signer]) -> list[Visits]:
    """Return the visits of the signers, whose ``first_opening`` is loaded, in their order."""
    refused: dict[int, list[datetime]] = {signer.pk: [] for signer in signers}
    for code in RefusedCode.objects.filter(signer__request=request_id).order_by("id"):
        refused[code.signer_id].append(code.refused_at)
    return [Visits(getattr(signer, "first_opening", None), refused[signer.pk]) for signer in signers]


EVIDENCE_FORMAT = "paraph-evidence/3"
"""Since format 3 the journal's hashes cover commitments to personal values, whose salts are stated; since format 2 the
seals of proofs name their purpose."""


def proof_content(request: SignatureRequest, issued_at: datetime) -> ProofContent:
    """Return what the proof of a completed request states, with the journal as it is now. Every document must be
    sealed."""
    assert request.completed_at
    signers = list(request.signers.select_related("code", "first_opening").order_by("order"))
    journal = list(Entry.objects.filter(request=request).order_by("position"))
    documents = SealedDocument.objects.select_related("request_document__document")
    documents = documents.defer("request_document__document__preflight")
    sealed = list(documents.filter(request_document__request=request).order_by("request_document__position"))
    visits = visits_of(request.pk, signers)
    names = {row.request_document.document_id: row.request_document.document.name for row in sealed}
    filled = _filled_in(request, journal, names)
    return ProofContent(
        request_id=request.pk,
        organization=request.organization.name,
        environment=request.environment,
        mode=request.mode,
        created_at=_instant(journal, EventType.CREATED, request.created_at),
        completed_at=_instant(journal, EventType.COMPLETED, request.completed_at),
        issued_at=issued_at,
        signers=_signers(request.pk, signers, visits, filled, journal),
        documents=[_document(row) for row in sealed],
        journal=_lines(journal, signers, request.locale),
        journal_hash=bytes(journal[-1].hash).hex(),
        evidence=_evidence(request, _signers_evidence(signers, visits, filled), sealed, journal),
        locale=request.locale,
        event_titles=event_titles(request.locale, approved=any(signer.is_approver for signer in signers)),
        sender_events=SENDER_EVENTS,
        logo=logo_picture(request.branding_profile),
    )


def _instant(journal: Sequence[Entry], event: EventType, otherwise: datetime) -> datetime:
    """Return when the journal has the event: the request itself states some of its times in whole seconds."""
    return next((entry.created_at for entry in journal if entry.event_type == event), otherwise)


def _signers(
    request_id: int,
    signers: Sequence[Signer],
    visits: Sequence[Visits],
    filled: Mapping[int, Sequence[FilledIn]],
    journal: Sequence[Entry],
) -> list[ProofSigner]:
    documents = signed_names(request_id)
    signed_entries = {entry.signer_id: entry for entry in journal if entry.event_type == EventType.SIGNED}
    found = [
        _signer(
            signer, _code(signer, signed_entries[signer.pk]), visit, signed_entries[signer.pk], documents[signer.pk]
        )
        for signer, visit in zip(signers, visits, strict=True)
    ]
    return [
        replace(of_proof, fields=[each.printed() for each in filled.get(signer.pk, ())])
        for signer, of_proof in zip(signers, found, strict=True)
    ]


def _code(signer: Signer, signed_entry: Entry) -> OneTimeCode | None:
    """Return the code that the signer signed with, None for a sandbox act."""
    return None if signed_entry.metadata.get("sandbox_act") else signer.code


def _signer(
    signer: Signer, code: OneTimeCode | None, visits: Visits, signed_entry: Entry, documents: Sequence[str]
) -> ProofSigner:
    assert signer.signed_at
    return ProofSigner(
        name=signer.full_name,
        email=signer.email,
        order=signer.order,
        channel=code.channel if code else "",
        destination=code.destination if code else "",
        signed_at=signer.signed_at,
        ip=signed_entry.ip,
        user_agent=signed_entry.user_agent,
        signature=None if signer.is_approver else signature_of(signer),
        initials=initials_of(signer),
        documents=documents,
        opened_at=visits.opening.opened_at if visits.opening else None,
        opened_ip=visits.opening.ip if visits.opening else "",
        refused_codes=visits.refused_codes,
    )


def _document(row: SealedDocument) -> ProofDocument:
    document = row.request_document.document
    stamp = row.seal["timestamped_at"]
    stamped_at = datetime.fromisoformat(stamp) if stamp else None
    return ProofDocument(
        document_id=document.pk,
        name=document.name,
        page_count=len(document.pages),
        uploaded_sha256=bytes(document.sha256).hex(),
        signed_sha256=bytes(row.sha256).hex(),
        seal=ProofSeal(
            algorithm=row.seal["signing_algorithm"],
            key_id=row.seal["kms_key_id"],
            sealed_at=datetime.fromisoformat(row.seal["sealed_at"]),
            timestamped_at=stamped_at,
            timestamp_authority=row.seal["timestamp_authority"] or "",
            timestamp_policy_oid=row.seal["timestamp_policy_oid"] or "",
        ),
    )


def _lines(journal: Sequence[Entry], signers: Sequence[Signer], locale: str) -> list[JournalLine]:
    names = {signer.pk: signer.full_name for signer in signers}
    return [
        JournalLine(
            position=entry.position,
            event_type=entry.event_type,
            at=entry.created_at,
            signer=names[entry.signer_id] if entry.signer_id else "",
            ip=entry.ip,
            user_agent=entry.user_agent,
            metadata=entry.metadata,
            title=own_title(entry.event_type, entry.metadata, locale),
        )
        for entry in journal
    ]


def _evidence(
    request: SignatureRequest,
    signers: list[dict[str, Any]],
    sealed: Sequence[SealedDocument],
    journal: Sequence[Entry],
) -> dict[str, Any]:
    """Return evidence.json, with which programs can compute the journal's hashes and check the seals without the
    service. It holds each certificate once, DER in base64, under its SHA-256."""
    certificates: dict[str, str] = {}
    return {
        "format": EVIDENCE_FORMAT,
        "request": {
            "id": request.pk,
            "mode": request.mode,
            "environment": request.environment,
            "created_at": clock.iso_milliseconds(_instant(journal, EventType.CREATED, request.created_at)),
            "expires_at": clock.iso_milliseconds(request.expires_at),
        },
        "signers": signers,
        "documents": [_document_evidence(row, certificates) for row in sealed],
        "certificates": certificates,
        "journal": [_entry_evidence(entry) for entry in journal],
    }


def _signers_evidence(
    signers: Sequence[Signer], visits: Sequence[Visits], filled: Mapping[int, Sequence[FilledIn]]
) -> list[dict[str, Any]]:
    return [
        {
            "id": signer.pk,
            "full_name": signer.full_name,
            "email": signer.email,
            "order": signer.order,
            **({"role": signer.role} if signer.is_approver else {}),
            **visit.evidence(),
            **({"fields": [each.evidence() for each in filled[signer.pk]]} if signer.pk in filled else {}),
        }
        for signer, visit in zip(signers, visits, strict=True)
    ]


def _entry_evidence(entry: Entry) -> dict[str, Any]:
    salts = {path: known["salt"] for path, known in (entry.salts or {}).items()}
    return {**facts(entry), **({"salts": salts} if salts else {}), "hash": bytes(entry.hash).hex()}


def _document_evidence(row: SealedDocument, certificates: dict[str, str]) -> dict[str, Any]:
    """Add the document's certificates to ``certificates``, and name them in the order of their chains."""
    seal = dict(row.seal)
    chains = seal.pop("certificates")
    certificates |= {_digest(link): link for chain in chains.values() for link in chain}
    return {
        "id": row.request_document.document_id,
        "name": row.request_document.document.name,
        "uploaded_sha256": bytes(row.request_document.document.sha256).hex(),
        "seal": seal,
        "certificates": {kind: [_digest(link) for link in chain] for kind, chain in chains.items()},
    }


def _digest(encoded: str) -> str:
    return tokens.sha256(base64.b64decode(encoded)).hex()


def _filled_in(
    request: SignatureRequest, journal: Sequence[Entry], documents: Mapping[int, str]
) -> dict[int, list[FilledIn]]:
    """Return the fields of each signer (by id) who has some, in the order of the journal. ``documents``: names by
    id."""
    signed = {
        entry.signer_id: entry.metadata["fields"]
        for entry in journal
        if entry.signer_id and entry.event_type == EventType.SIGNED and entry.metadata.get("fields")
    }
    if not signed:
        return {}
    known = {(row.signer_id, row.request_document.document_id, row.name): row for row in fields_of(request.pk)}
    return {
        signer_id: [
            _filled_field(known[signer_id, each["document_id"], each["name"]], each["value"], documents, request.locale)
            for each in entered
        ]
        for signer_id, entered in signed.items()
    }


def _filled_field(field: Field, value: Value | None, documents: Mapping[int, str], locale: str) -> FilledIn:
    if isinstance(value, bool):
        text = str(catalog.of("proof", locale)["ticked" if value else "unticked"])
    else:
        text = shown_text(field, value, locale)
    return FilledIn(field, documents[field.request_document.document_id], value, text)
