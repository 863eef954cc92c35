"""Reading signature requests as the API answers them (rules 2.2, 2.3 and 4.7): all of them by one statement, which
names each value as the answer does (:mod:`paraph.api.v1.signature_requests.output`)."""

from collections.abc import Iterable
from typing import Any

from pydantic_core import from_json

from paraph.api.v1.problems import not_found
from paraph.api.v1.shapes import LINK_SECONDS
from paraph.api.v1.signature_requests.output import DownloadUrls
from paraph.database.planned import one_row
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.record import proof_name, signed_name
from paraph.kernel import clock
from paraph.signature_requests.fields.store import decrypted
from paraph.signature_requests.models import Role
from paraph.signature_requests.signing_token import url_of
from paraph.signature_requests.values import LARGEST_ID
from paraph.storage import store
from paraph.tenants.scope import TenantScope

Answer = dict[str, Any]

_ISO = """'YYYY-MM-DD"T"HH24:MI:SS"Z"'"""
# Python puts what it alone knows in the place of ``signing_url`` and of ``value``, takes ``entered`` out, and whatever
# is only in the answers that have it.
_READ = f"""
SELECT json_agg(json_build_object(
    'id', request.id, 'mode', request.mode, 'status', request.status, 'validity_days', request.validity_days,
    'initials_required', request.initials_required,
    'notify_signers_on_completion', request.notify_signers_on_completion,
    'expires_at', to_char(request.expires_at AT TIME ZONE 'UTC', {_ISO}),
    'created_at', to_char(request.created_at AT TIME ZONE 'UTC', {_ISO}),
    'document_ids', ARRAY(
        SELECT document.document_id FROM signature_requests_requestdocument AS document
        WHERE document.request_id = request.id ORDER BY document.position
    ),
    'signers', ARRAY(
        SELECT json_build_object(
            'id', signer.id, 'first_name', signer.first_name, 'last_name', signer.last_name,
            'full_name', signer.first_name || ' ' || signer.last_name, 'email', signer.email,
            'order', signer."order", 'status', signer.status,
            'signed_at', to_char(signer.signed_at AT TIME ZONE 'UTC', {_ISO}),
            'signing_url', CASE WHEN signer.status <> 'signed' THEN encode(signer.token_salt, 'hex') END,
            'delivery', CASE WHEN signer.status = 'pending' THEN (
                SELECT json_build_object('put_off_until', to_char(until AT TIME ZONE 'UTC', {_ISO}))
                FROM messaging_putoffmail WHERE name = 'invitation-' || signer.id AND until > %(now)s
            ) END,
            'role', signer.role,
            'fields', CASE WHEN request.has_fields THEN ARRAY(
                SELECT json_build_object(
                    'document_id', document.document_id, 'name', field.name, 'type', field.type, 'label', field.label,
                    'value', field.id
                )
                FROM signature_requests_field AS field
                JOIN signature_requests_requestdocument AS document ON document.id = field.request_document_id
                WHERE field.signer_id = signer.id ORDER BY document.position, field.position
            ) ELSE '{{}}' END,
            'entered', CASE WHEN signer.status = 'signed' THEN encode(signer.fields_encrypted, 'hex') END
        )
        FROM signature_requests_signer AS signer
        WHERE signer.request_id = request.id ORDER BY signer."order"
    ),
    'branding_profile', (
        SELECT json_build_object(
            'id', id, 'name', name, 'background_color', background_color, 'text_color', text_color,
            'accent_color', accent_color
        )
        FROM organizations_brandingprofile WHERE id = request.branding_profile_id
    ),
    'external_id', nullif(request.external_id, ''), 'metadata', coalesce(request.metadata, '{{}}'),
    'redirect_url', nullif(request.redirect_url, ''),
    'reminders', CASE WHEN request.remind_every_days IS NOT NULL THEN json_build_object(
        'every_days', request.remind_every_days, 'at_most', request.reminders_at_most
    ) END,
    'ended_early', request.ended_early_at IS NOT NULL, 'ended_reason', nullif(request.ended_reason, ''),
    'copies', CASE WHEN request.has_copies THEN ARRAY(
        SELECT json_build_object('first_name', first_name, 'last_name', last_name, 'email', email)
        FROM signature_requests_copyrecipient WHERE request_id = request.id ORDER BY position
    ) ELSE '{{}}' END,
    'decline_allowed', request.decline_allowed, 'declined_by', request.declined_by_id,
    'finalized', request.finalized
))::text
FROM signature_requests_signaturerequest AS request
WHERE request.id = ANY(%(ids)s::bigint[]) AND request.organization_id = %(organization)s
    AND request.environment = %(environment)s
"""  # noqa: S608  constants of this file
_SIZE = """
SELECT coalesce(sum(octet_length(signer.fields_encrypted)), 0) + (
    SELECT coalesce(sum(octet_length(field.name) + octet_length(field.label) + 150), 0)
    FROM signature_requests_field AS field
    JOIN signature_requests_signer AS whose ON whose.id = field.signer_id
    WHERE whose.request_id = ANY(%(ids)s::bigint[])
)
FROM signature_requests_signer AS signer WHERE signer.request_id = ANY(%(ids)s::bigint[])
"""


def read(scope: TenantScope, ids: Iterable[int]) -> list[Answer]:
    """Return those of the requests that the caller may see, as lists show them, in the order of ``ids``."""
    asked = list(ids)
    tenant = {"organization": scope.organization_id, "environment": scope.environment}
    row = one_row(_READ, {**tenant, "ids": asked, "now": clock.now()})
    found = {answer["id"]: _completed(answer) for answer in from_json(row[0])} if row and row[0] else {}
    return [found[request_id] for request_id in asked if request_id in found]


def own(scope: TenantScope, request_id: int) -> Answer:
    """Return one of the caller's requests, as lists show it. Raises ``not_found``."""
    found = read(scope, [request_id]) if request_id <= LARGEST_ID else []
    if not found:
        raise not_found()
    return found[0]


def size_of_fields(ids: list[int]) -> int:
    """Return about how many bytes an answer tells of the fields of these requests."""
    [size] = one_row(_SIZE, {"ids": ids}) or [0]
    return int(size)


def download_urls(request_id: int) -> list[DownloadUrls]:
    """Return fresh addresses of a finalized request's results, in the order of its documents; none once its files are
    deleted. Two queries."""
    proof = ProofFile.objects.only("object_key").filter(request_id=request_id).first()
    if proof is None:
        return []
    certificate_url = store.presign(proof.object_key, proof_name(request_id), LINK_SECONDS)
    sealed = SealedDocument.objects.filter(request_document__request_id=request_id).order_by(
        "request_document__position"
    )
    return [
        DownloadUrls.build(
            document_id=document_id,
            signed_url=store.presign(key, signed_name(name), LINK_SECONDS),
            certificate_url=certificate_url,
            expires_in=LINK_SECONDS,
        )
        for document_id, name, key in sealed.values_list(
            "request_document__document_id", "request_document__document__name", "object_key"
        )
    ]


def _completed(answer: Answer) -> Answer:
    """Return the answer with what the database does not know, and without what this request does not have."""
    signers = answer["signers"]
    for signer in signers:
        if salt := signer["signing_url"]:
            signer["signing_url"] = url_of(signer["id"], bytes.fromhex(salt))
        entered = signer.pop("entered")
        values = decrypted(signer["id"], bytes.fromhex(entered)) if entered else {}
        for field in signer["fields"]:
            field["value"] = values.get(field["value"])
    has = {
        "role": any(signer["role"] == Role.APPROVER for signer in signers),
        "fields": any(signer["fields"] for signer in signers),
    }
    for name in (name for name, some in has.items() if not some):
        for signer in signers:
            del signer[name]
    for name in ("copies", "decline_allowed", "declined_by"):
        if not answer[name]:
            del answer[name]
    return answer
