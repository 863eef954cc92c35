"""Gathering what the proof of a request states (rule 2.2, last paragraph)."""

import base64
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise, starmap
from typing import Any, NamedTuple

from django.conf import settings

from paraph import words as catalog
from paraph.audit_trail.journal import GENESIS, committed, facts, is_salt
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.models import SealedDocument
from paraph.kernel import clock, tokens
from paraph.otp.models import RefusedCode
from paraph.pdf.typesetting.proof import JournalLine, ProofContent, ProofDocument, ProofField, ProofSeal, ProofSigner
from paraph.signature_requests.fields.entry import facts_of, fields_of
from paraph.signature_requests.fields.kinds import Value, shown_text
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import Field, FirstOpening, Role, SignatureRequest, Signer
from paraph.signature_requests.signing import signed_names
from paraph.tenants.branding import logo_picture

_SENDER_EVENTS: frozenset[str] = frozenset({EventType.CREATED, EventType.IDENTITY_DECLARED, EventType.EXTENDED})
"""Events that the proof attributes to the organization; others without a signer are the service's."""

_EVIDENCE_FORMAT = "paraph-evidence/3"
"""Since format 3 the journal's hashes cover commitments to personal values, whose salts are stated; since format 2 the
seals of proofs name their purpose."""


class _SignerFacts(NamedTuple):
    """The facts about a signer that both the printed proof and evidence.json state. ``opening``: when the page was
    first opened, None where a program signed; ``fields``: each with its value as the journal has it, and as it is
    printed: for a checkbox, a word."""

    signer: Signer
    signed_entry: Entry
    opening: FirstOpening | None
    refused_codes: list[datetime]
    fields: list[tuple[Field, Value | None, str]]


def proof_content(request: SignatureRequest, issued_at: datetime) -> ProofContent:
    """Return what the proof of a completed request states, with the journal as it is now. Every document must be
    sealed."""
    assert request.completed_at
    journal = list(Entry.objects.filter(request=request).order_by("position"))
    documents = SealedDocument.objects.select_related("request_document__document", "shared")
    documents = documents.defer("request_document__document__preflight")
    sealed = list(documents.filter(request_document__request=request).order_by("request_document__position"))
    signers, listed = _signer_facts(request, journal), signed_names(request.pk)
    names = {row.request_document.document_id: row.request_document.document.name for row in sealed}
    return ProofContent(
        request_id=request.pk,
        organization=request.organization.name,
        environment=request.environment,
        mode=request.mode,
        created_at=_instant(journal, EventType.CREATED, request.created_at),
        completed_at=_instant(journal, EventType.COMPLETED, request.completed_at),
        issued_at=issued_at,
        signers=[_signer(each, listed[each.signer.pk], names) for each in signers],
        documents=[_document(row) for row in sealed],
        journal=_lines(journal, {each.signer.pk: each.signer.full_name for each in signers}, request.locale),
        journal_hash=bytes(journal[-1].hash).hex(),
        evidence=_evidence(request, signers, sealed, journal),
        locale=request.locale,
        event_titles=_event_titles(request.locale, approved=any(each.signer.is_approver for each in signers)),
        sender_events=_SENDER_EVENTS,
        logo=logo_picture(request.branding_profile),
        verify_page=f"{settings.PARAPH.public_url}/verify" if settings.PARAPH.verify_page else "",
    )


def _instant(journal: Sequence[Entry], event: EventType, otherwise: datetime) -> datetime:
    """Return when the event happened by the journal: the request itself states some of its times in whole seconds."""
    return next((entry.created_at for entry in journal if entry.event_type == event), otherwise)


def _signer_facts(request: SignatureRequest, journal: Sequence[Entry]) -> list[_SignerFacts]:
    signed = {entry.signer_id: entry for entry in journal if entry.event_type == EventType.SIGNED}
    refused = defaultdict[int, list[datetime]](list)
    for code in RefusedCode.objects.filter(signer__request=request.pk).order_by("id"):
        refused[code.signer_id].append(code.refused_at)
    rows = fields_of(request.pk) if any(entry.metadata.get("fields") for entry in signed.values()) else []
    known = {(row.signer_id, row.request_document.document_id, row.name): row for row in rows}
    return [
        _SignerFacts(
            signer,
            signed[signer.pk],
            getattr(signer, "first_opening", None),
            refused[signer.pk],
            [
                (field := known[signer.pk, each["document_id"], each["name"]], *_printed(field, each["value"], request))
                for each in signed[signer.pk].metadata.get("fields", [])
            ],
        )
        for signer in request.signers.select_related("code", "first_opening").order_by("order")
    ]


def _printed(field: Field, value: Value | None, request: SignatureRequest) -> tuple[Value | None, str]:
    if isinstance(value, bool):
        return value, str(catalog.of("proof", request.locale)["ticked" if value else "unticked"])
    return value, shown_text(field, value, request.locale)


def _signer(found: _SignerFacts, documents: Sequence[str], names: Mapping[int, str]) -> ProofSigner:
    signer, entry, opening = found.signer, found.signed_entry, found.opening
    assert signer.signed_at
    code = None if entry.metadata.get("sandbox_act") else signer.code  # a sandbox act needs none
    return ProofSigner(
        name=signer.full_name,
        email=signer.email,
        order=signer.order,
        channel=code.channel if code else "",
        destination=code.destination if code else "",
        signed_at=signer.signed_at,
        ip=entry.ip,
        user_agent=entry.user_agent,
        signature=None if signer.is_approver else signature_of(signer),
        initials=initials_of(signer),
        documents=documents,
        opened_at=opening.opened_at if opening else None,
        opened_ip=opening.ip if opening else "",
        refused_codes=found.refused_codes,
        fields=[
            ProofField(names[field.request_document.document_id], field.label, text) for field, _, text in found.fields
        ],
    )


def _document(row: SealedDocument) -> ProofDocument:
    document, facts = row.request_document.document, row.facts
    stamp = facts["timestamped_at"]
    return ProofDocument(
        document_id=document.pk,
        name=document.name,
        page_count=len(document.pages),
        uploaded_sha256=bytes(document.sha256).hex(),
        signed_sha256=bytes(row.sha256).hex(),
        seal=ProofSeal(
            algorithm=facts["signing_algorithm"],
            key_id=facts["kms_key_id"],
            sealed_at=datetime.fromisoformat(facts["sealed_at"]),
            timestamped_at=datetime.fromisoformat(stamp) if stamp else None,
            timestamp_authority=facts["timestamp_authority"] or "",
            timestamp_policy_oid=facts["timestamp_policy_oid"] or "",
            qualified=row.is_qualified,
        ),
    )


def _lines(journal: Sequence[Entry], names: Mapping[int, str], locale: str) -> list[JournalLine]:
    return [
        JournalLine(
            position=entry.position,
            event_type=entry.event_type,
            at=entry.created_at,
            signer=names[entry.signer_id] if entry.signer_id else "",
            ip=entry.ip,
            user_agent=entry.user_agent,
            metadata=entry.stated,
            title=_own_title(entry, locale),
        )
        for entry in journal
    ]


def _event_titles(locale: str, *, approved: bool) -> Mapping[str, str]:
    """Return the titles in the language of a request, by the event's name. ``approved``: somebody approved it."""
    words = catalog.of("proof", locale)
    titles = {event: words[f"event_{event.name.lower()}"] for event in EventType}
    return titles | ({EventType.COMPLETED: words["event_signed_or_approved"]} if approved else {})


def _own_title(entry: Entry, locale: str) -> str:
    """Return the title of an entry that its event alone does not tell: a reminder, an approval. "" for any other."""
    words = catalog.of("proof", locale)
    if entry.event_type == EventType.SIGNER_NOTIFIED and entry.metadata.get("reminder") is True:
        return str(words["event_reminded"])
    approved = entry.event_type == EventType.SIGNED and entry.metadata.get("role") == Role.APPROVER
    return str(words["event_approved"]) if approved else ""


def _evidence(
    request: SignatureRequest,
    signers: Sequence[_SignerFacts],
    sealed: Sequence[SealedDocument],
    journal: Sequence[Entry],
) -> dict[str, Any]:
    """Return evidence.json, with which programs can compute the journal's hashes and check the seals without the
    service. It holds each certificate once, DER in base64, under its SHA-256."""
    certificates: dict[str, str] = {}
    return {
        "format": _EVIDENCE_FORMAT,
        "request": {
            "id": request.pk,
            "mode": request.mode,
            "environment": request.environment,
            "created_at": clock.iso_milliseconds(_instant(journal, EventType.CREATED, request.created_at)),
            "expires_at": clock.iso_milliseconds(request.expires_at),
        },
        "signers": [_signer_evidence(each) for each in signers],
        "documents": [_document_evidence(row, certificates) for row in sealed],
        "certificates": certificates,
        "journal": journal_evidence(journal),
    }


def journal_evidence(journal: Sequence[Entry]) -> list[dict[str, Any]]:
    """Return the entries of a request's whole journal, from which programs can compute their hashes. An erased value is
    stated as its commitment, which is what the hash covers."""
    return list(starmap(_entry_evidence, pairwise([Entry(hash=GENESIS), *journal])))


def _signer_evidence(found: _SignerFacts) -> dict[str, Any]:
    """Return what evidence.json has of a signer. ``printed`` of a field is what ``paraph verify`` looks for on the
    pages."""
    signer, opening = found.signer, found.opening
    evidence: dict[str, Any] = {
        "id": signer.pk,
        "full_name": signer.full_name,
        "email": signer.email,
        "order": signer.order,
    }
    if signer.is_approver:
        evidence["role"] = signer.role
    if opening:
        evidence["first_opening"] = {"at": clock.iso_milliseconds(opening.opened_at), "ip": opening.ip}
    evidence["refused_codes"] = [clock.iso_milliseconds(moment) for moment in found.refused_codes]
    if found.fields:
        evidence["fields"] = [
            facts_of(field) | {"label": field.label, "value": value, "printed": text}
            for field, value, text in found.fields
        ]
    return evidence


def _entry_evidence(before: Entry, entry: Entry) -> dict[str, Any]:
    known = {path: salt for path, salt in (entry.salts or {}).items() if is_salt(salt)}
    erased = {path: commitment for path, commitment in (entry.salts or {}).items() if path not in known}
    shown = committed(facts(entry, before.hash), erased)
    return {**shown, **({"salts": known} if known else {}), "hash": entry.hash.hex()}


def _document_evidence(row: SealedDocument, certificates: dict[str, str]) -> dict[str, Any]:
    """Add the document's certificates to ``certificates``, and name them in the order of their chains."""
    chains, document = row.shared.content["certificates"], row.request_document.document
    certificates |= {_digest(link): link for chain in chains.values() for link in chain}
    return {
        "id": document.pk,
        "name": document.name,
        "uploaded_sha256": bytes(document.sha256).hex(),
        "seal": row.facts,
        "certificates": {kind: [_digest(link) for link in chain] for kind, chain in chains.items()},
    }


def _digest(encoded: str) -> str:
    return tokens.sha256(base64.b64decode(encoded)).hex()
