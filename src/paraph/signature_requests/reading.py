"""Signature requests with their signers, as the API shows them (rules 2.2 and 2.3): each page of them by one statement,
and a new one from the rows at hand."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from pydantic_core import from_json

from paraph.database.one_row import one_row
from paraph.signature_requests.field_values import Value, decrypted
from paraph.signature_requests.models import CopyRecipient, Field, RequestDocument, SignatureRequest, Signer
from paraph.tenants.models import BrandingProfile
from paraph.tenants.scope import TenantScope

# Arrays, because their values are read into the tuples below by position; making models of them takes a third of the
# time of a read.
_READ = """
SELECT json_agg(json_build_array(
    request.id, request.mode, request.status, request.validity_days, request.initials_required,
    request.notify_signers_on_completion, request.external_id, request.metadata,
    request.redirect_url, request.remind_every_days, request.reminders_at_most,
    request.ended_early_at IS NOT NULL, request.ended_reason, request.decline_allowed, request.declined_by_id,
    CASE WHEN request.has_copies THEN ARRAY(
        SELECT json_build_array(first_name, last_name, email) FROM signature_requests_copyrecipient
        WHERE request_id = request.id ORDER BY position
    ) ELSE '{}' END,
    request.expires_at, request.created_at, request.finalized,
    (
        SELECT row_to_json(profile) FROM organizations_brandingprofile AS profile
        WHERE profile.id = request.branding_profile_id
    ),
    ARRAY(
        SELECT document.document_id FROM signature_requests_requestdocument AS document
        WHERE document.request_id = request.id ORDER BY document.position
    ),
    ARRAY(
        SELECT json_build_array(
            signer.id, signer.first_name, signer.last_name, signer.email, signer."order", signer.status,
            signer.role,
            CASE WHEN request.has_fields THEN ARRAY(
                SELECT json_build_array(document.document_id, field.name, field.type, field.label, field.id)
                FROM signature_requests_field AS field
                JOIN signature_requests_requestdocument AS document ON document.id = field.request_document_id
                WHERE field.signer_id = signer.id ORDER BY document.position, field.position
            ) ELSE '{}' END,
            CASE WHEN signer.status = 'signed' THEN encode(signer.fields_encrypted, 'hex') END,
            signer.signed_at, encode(signer.token_salt, 'hex'),
            CASE WHEN signer.status = 'pending' THEN (
                SELECT until FROM messaging_putoffmail WHERE name = 'invitation-' || signer.id
            ) END
        )
        FROM signature_requests_signer AS signer
        WHERE signer.request_id = request.id ORDER BY signer."order"
    )
))::text
FROM signature_requests_signaturerequest AS request
WHERE request.id = ANY(%(ids)s::bigint[]) AND request.organization_id = %(organization)s
    AND request.environment = %(environment)s
"""


_SIZE = """
SELECT coalesce(sum(octet_length(signer.fields_encrypted)), 0) + (
    SELECT coalesce(sum(octet_length(field.name) + octet_length(field.label) + 150), 0)
    FROM signature_requests_field AS field
    JOIN signature_requests_signer AS whose ON whose.id = field.signer_id
    WHERE whose.request_id = ANY(%(ids)s::bigint[])
)
FROM signature_requests_signer AS signer WHERE signer.request_id = ANY(%(ids)s::bigint[])
"""


class LoadedField(NamedTuple):
    """``value`` is None until its signer has signed, and where nothing was entered."""

    document_id: int
    name: str
    type: str
    label: str
    value: Value | None


class LoadedCopy(NamedTuple):
    first_name: str
    last_name: str
    email: str


class LoadedSigner(NamedTuple):
    """``fields`` are in the order of the payload. ``put_off_until``: before when a ceiling of messages leaves no room
    for the invitation."""

    id: int
    first_name: str
    last_name: str
    email: str
    order: int
    status: str
    role: str
    fields: list[LoadedField]
    signed_at: datetime | None
    token_salt: bytes
    put_off_until: datetime | None


class LoadedRequest(NamedTuple):
    """``document_ids`` are in the order of the payload, ``signers`` in theirs. ``external_id`` and ``redirect_url`` are
    "" and ``metadata`` is None where none was given."""

    id: int
    mode: str
    status: str
    validity_days: int
    initials_required: bool
    notify_signers_on_completion: bool
    external_id: str
    metadata: dict[str, str] | None
    redirect_url: str
    remind_every_days: int | None
    reminders_at_most: int | None
    ended_early: bool
    ended_reason: str
    decline_allowed: bool
    declined_by: int | None
    copies: list[LoadedCopy]
    expires_at: datetime
    created_at: datetime
    finalized: bool
    branding_profile: BrandingProfile | None
    document_ids: list[int]
    signers: list[LoadedSigner]


def read(scope: TenantScope, ids: Iterable[int]) -> list[LoadedRequest]:
    """Return those of the requests that the caller may see, in the order of ``ids``."""
    asked = list(ids)
    row = one_row(_READ, {"ids": asked, "organization": scope.organization_id, "environment": scope.environment})
    rows = from_json(row[0]) if row and row[0] else []
    found = {request.id: request for request in map(_loaded, rows)}
    return [found[request_id] for request_id in asked if request_id in found]


def size_of_fields(ids: list[int]) -> int:
    """Return about how many bytes an answer tells of the fields of these requests."""
    row = one_row(_SIZE, {"ids": ids})
    return int(row[0] or 0) if row else 0


def from_rows(
    row: SignatureRequest,
    documents: Iterable[RequestDocument],
    signers: Iterable[Signer],
    fields: Iterable[Field] = (),
    copies: Iterable[CopyRecipient] = (),
) -> LoadedRequest:
    """Return a new request whose rows are at hand and in order, its branding profile too."""
    of_signers: dict[int, list[LoadedField]] = {}
    for field in fields:
        document_id = field.request_document.document_id
        shown = LoadedField(document_id, field.name, field.type, field.label, None)
        of_signers.setdefault(field.signer_id, []).append(shown)
    return LoadedRequest(
        row.pk,
        row.mode,
        row.status,
        row.validity_days,
        row.initials_required,
        row.notify_signers_on_completion,
        row.external_id,
        row.metadata,
        row.redirect_url,
        row.remind_every_days,
        row.reminders_at_most,
        row.ended_early_at is not None,
        row.ended_reason,
        row.decline_allowed,
        row.declined_by_id,
        [LoadedCopy(copy.first_name, copy.last_name, copy.email) for copy in copies],
        row.expires_at,
        row.created_at,
        row.finalized,
        row.branding_profile,
        [document.document_id for document in documents],
        [
            LoadedSigner(
                signer.pk,
                signer.first_name,
                signer.last_name,
                signer.email,
                signer.order,
                signer.status,
                signer.role,
                of_signers.get(signer.pk, []),
                signer.signed_at,
                bytes(signer.token_salt),
                None,
            )
            for signer in signers
        ],
    )


def _loaded(values: list[Any]) -> LoadedRequest:
    *known, copies, expires_at, created_at, finalized, profile, document_ids, signers = values
    moments = datetime.fromisoformat(expires_at), datetime.fromisoformat(created_at)
    branding = BrandingProfile(**profile) if profile else None
    several = [LoadedCopy(*copy) for copy in copies]
    return LoadedRequest._make(
        (*known, several, *moments, finalized, branding, document_ids, list(map(_signer, signers)))
    )


def _signer(values: list[Any]) -> LoadedSigner:
    *known, fields, entered, signed_at, token_salt, put_off_until = values
    signed = datetime.fromisoformat(signed_at) if signed_at else None
    until = datetime.fromisoformat(put_off_until) if put_off_until else None
    signed_values = decrypted(values[0], bytes.fromhex(entered)) if entered else {}
    filled = [LoadedField._make((*shown, signed_values.get(field_id))) for *shown, field_id in fields]
    return LoadedSigner._make((*known, filled, signed, bytes.fromhex(token_salt), until))
