"""A signature request as the API shows it (rules 2.2, 2.3 and 4.7): the shape, and the one statement that names each
value as the shape does."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema
from pydantic_core import from_json

from paraph.api.v1.branding_profiles import BrandingProfile
from paraph.api.v1.endpoint import existing
from paraph.api.v1.shapes import LINK_SECONDS, Email, FullName, Id, Name, Output, Pagination, Timestamp, Url, sometimes
from paraph.database.base import one_row
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.evidence.sealed_files import proof_name
from paraph.kernel import clock
from paraph.pdf.asic import signed_name
from paraph.signature_requests.fields.entry import decrypted
from paraph.signature_requests.fields.input import MOST_FIELDS, FieldKind, FieldName, Label
from paraph.signature_requests.fields.kinds import LONGEST_TEXT
from paraph.signature_requests.input import MOST_COPIES, MOST_DAYS_BETWEEN, MOST_DOCUMENTS, MOST_REMINDERS, MOST_SIGNERS
from paraph.signature_requests.links import url_of
from paraph.signature_requests.models import Role
from paraph.signature_requests.values import LARGEST_ID, LONGEST_REASON, METADATA, MOST_ORDER, MOST_VALIDITY_DAYS
from paraph.storage import store
from paraph.tenants.scope import TenantScope
from paraph.words import LOCALES


class FailedDelivery(Output):
    """A message that was refused for good, or for three days: nothing more is sent there by itself."""

    reason: str = Field(min_length=1, max_length=300, description="What is refused, and what the gateway said.")
    at: Timestamp = Field(description="When it was refused.")


class Delivery(Output):
    """What became of a message that is not out: one of both is present."""

    put_off_until: Timestamp = sometimes(description="A ceiling is reached: when the invitation is tried again.")
    failed: FailedDelivery = sometimes(
        description="The address or number refuses messages. Correct the signer, or remind them to send again."
    )


class FilledField(Output):
    """A field of a signer, and what was signed in it."""

    document_id: Id = Field(description="The document that it stands on.")
    name: FieldName = Field(description="As given at creation.")
    type: FieldKind = Field(description="As given at creation.")
    label: Label = Field(description="What the signer reads.")
    value: Annotated[str, Field(max_length=LONGEST_TEXT)] | bool | None = Field(
        description="A date as `YYYY-MM-DD`, a number with a point, of a checkbox whether it is ticked. Null until the "
        "signer has signed, where nothing was entered, and once the signer's data are erased."
    )


class Copy(Output):
    """A person who gets a copy."""

    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    email: Email
    delivery: Delivery = sometimes(description="Present only where the mail with the copy was refused for good.")


class Signer(Output):
    """A signer of a request. The `ref` given at creation is not kept and not returned."""

    id: Id = Field(description="Identifies the signer; what `signer_id` of the audit log names.")
    first_name: Name = Field(description="As given at creation.")
    last_name: Name = Field(description="As given at creation.")
    full_name: FullName
    email: Email
    order: int = Field(description="Signing order; in `parallel` mode the position at creation.", ge=1, le=MOST_ORDER)
    status: Literal["pending", "notified", "signed"] = Field(
        description="`notified` once the invitation was really sent by e-mail; `signed` once the signer has signed."
    )
    signed_at: Timestamp | None = Field(description="Null until the signer has signed.")
    signing_url: Url | None = Field(
        description="Personal address of the signing page, valid until the request expires or the way to the "
        "signer is corrected; null once signed. "
        "It must reach this signer and nobody else."
    )
    delivery: Delivery | None = Field(description="Null unless the invitation is put off, or a message was refused.")
    role: Literal["signer", "approver"] = sometimes(
        description="An `approver` confirms the documents and draws nothing. Present only where the request has one."
    )
    language: Literal[LOCALES] = sometimes(  # type: ignore[valid-type]  # a tuple of constants
        description="The language that was given for the signer. Present only where one was."
    )
    fields: list[FilledField] = sometimes(
        max_length=MOST_FIELDS * MOST_DOCUMENTS,
        description="The fields of the signer, by document. Present only where the request has fields.",
    )


class Reminders(Output):
    """How the service reminds signers whose turn it is."""

    every_days: int = Field(ge=1, le=MOST_DAYS_BETWEEN, description="Days after the invitation or the one before.")
    at_most: int = Field(ge=1, le=MOST_REMINDERS, description="The most for each signer.")


class CreatedSignatureRequest(Output):
    """A signature request as creation answers it."""

    id: Id = Field(description="Identifies the request in its environment.")
    mode: Literal["sequential", "parallel"] = Field(description="Whether signers sign in turn or in any order.")
    status: Literal["pending", "completed", "expired"] = Field(
        description="`completed` once everybody has signed. The results come later: see `finalized`."
    )
    validity_days: int = Field(ge=1, le=MOST_VALIDITY_DAYS, description="As given at creation.")
    initials_required: bool = Field(description="Whether each signer also puts initials on each page.")
    notify_signers_on_completion: bool = Field(description="Whether signers get a summary by e-mail at completion.")
    expires_at: Timestamp = Field(
        description="From this second on nobody can sign: `created_at` plus `validity_days`, or later once extended."
    )
    created_at: Timestamp = Field(description="When the request was created.")
    document_ids: list[Id] = Field(
        min_length=1, max_length=MOST_DOCUMENTS, description="The documents, in the order given at creation."
    )
    signers: list[Signer] = Field(min_length=1, max_length=MOST_SIGNERS, description="The signers, by `order`.")
    branding_profile: BrandingProfile | None = Field(description="Null when the default colours are used.")
    external_id: Name | None = Field(description="As given at creation; null where none was.")
    metadata: Annotated[dict[str, str], WithJsonSchema(METADATA)] = Field(
        description="As given at creation; empty where none was."
    )
    redirect_url: Url | None = Field(description="As given at creation; null where none was.")
    reminders: Reminders | None = Field(description="As given at creation; null where none were asked for.")
    ended_early: bool = Field(
        description="Whether its sender, an application of yours, a signer who declined or the service's operator "
        "ended it before its time."
    )
    ended_reason: str | None = Field(
        min_length=1, max_length=LONGEST_REASON, description="Why it was ended early; null where it was not."
    )
    copies: list[Copy] = sometimes(
        min_length=1, max_length=MOST_COPIES, description="Who else gets a copy. Present only where there are some."
    )
    decline_allowed: Literal[True] = sometimes(description="A signer may decline. Present only where this is so.")
    declined_by: Id = sometimes(description="The signer who declined, for `ended_reason`. Present only where one did.")


class ListedSignatureRequest(CreatedSignatureRequest):
    """A signature request as lists show it."""

    finalized: bool = Field(
        description="True once the sealed documents and the proof file can be downloaded. Wait for this, not for "
        "`status`."
    )


class DownloadUrls(Output):
    """Where the results of one document lie. Reading the request again gives fresh addresses."""

    document_id: Id = Field(description="The document as uploaded.")
    signed_url: Url = Field(description="Presigned address of the sealed PDF.")
    certificate_url: Url = Field(description="Presigned address of the proof file; the same in every entry.")
    expires_in: Literal[900] = Field(description="Seconds for which both addresses work.")


class SignatureRequest(ListedSignatureRequest):
    """A signature request read by its id."""

    download_urls: list[DownloadUrls] = sometimes(
        max_length=MOST_DOCUMENTS,
        description="One entry per document, in their order. Present only when the request is `completed` and "
        "`finalized`; empty once the files are deleted by the organization's retention.",
    )


class SignatureRequests(Output):
    """A page of signature requests."""

    data: list[ListedSignatureRequest] = Field(
        max_length=100, description="The entries of the page; empty beyond the last."
    )
    pagination: Pagination


Answer = dict[str, Any]

_ISO = """'YYYY-MM-DD"T"HH24:MI:SS"Z"'"""
_FAILED = """json_build_object('failed', json_build_object('reason', CASE undelivered->>'channel'
    WHEN 'sms' THEN 'The SMS gateway refuses this number: ' ELSE 'The mail server refuses this address: '
END || (undelivered->>'answer'), 'at', undelivered->>'at'))"""
# Python then replaces ``signing_url`` and ``value`` by what only it knows, and drops ``replaced_links``, ``entered``
# and what only some answers have, where a request has none of it.
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
            'replaced_links', signer.replaced_links,
            'delivery', CASE WHEN undelivered IS NOT NULL THEN {_FAILED} WHEN signer.status = 'pending' THEN (
                SELECT json_build_object('put_off_until', to_char(until AT TIME ZONE 'UTC', {_ISO}))
                FROM messaging_putoffmail
                WHERE name = concat('invitation-', signer.id, '-' || nullif(signer.replaced_links, 0))
                    AND until > %(now)s
            ) END,
            'role', signer.role, 'language', signer.language,
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
        SELECT json_strip_nulls(json_build_object('first_name', first_name, 'last_name', last_name, 'email', email,
            'delivery', CASE WHEN undelivered IS NOT NULL THEN {_FAILED} END))
        FROM signature_requests_copyrecipient WHERE request_id = request.id ORDER BY position
    ) ELSE '{{}}' END,
    'decline_allowed', request.decline_allowed, 'declined_by', request.declined_by_id,
    'finalized', request.finalized
))::text
FROM signature_requests_signaturerequest AS request
WHERE request.id = ANY(%(ids)s::bigint[]) AND request.organization_id = %(organization_id)s
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
    row = one_row(_READ, {**scope.columns, "ids": asked, "now": clock.now()})
    found = {answer["id"]: _completed(answer) for answer in from_json(row[0])} if row and row[0] else {}
    return [found[request_id] for request_id in asked if request_id in found]


def own(scope: TenantScope, request_id: int) -> Answer:
    """Return one of the caller's requests, as lists show it. Raise ``not_found``."""
    found = existing(read(scope, [request_id]) if request_id <= LARGEST_ID else [])
    return found[0]


def size_of_fields(ids: list[int]) -> int:
    """Return about how many bytes the fields of these requests take in an answer."""
    [size] = one_row(_SIZE, {"ids": ids}) or [0]
    return int(size)


def download_urls(request_id: int) -> list[DownloadUrls]:
    """Return fresh addresses of a finalized request's results, in the order of its documents; none once its files are
    deleted. Two queries."""
    proof = ProofFile.objects.only("object_key").filter(request_id=request_id).first()
    if proof is None:
        return []
    certificate_url = store.presign(proof.object_key, proof_name(request_id), LINK_SECONDS)
    columns = ("request_document__document_id", "request_document__document__name", "object_key")
    sealed = SealedDocument.objects.filter(request_document__request_id=request_id).values_list(*columns)
    return [
        DownloadUrls.build(
            document_id=document_id,
            signed_url=store.presign(key, signed_name(name), LINK_SECONDS),
            certificate_url=certificate_url,
            expires_in=LINK_SECONDS,
        )
        for document_id, name, key in sealed.order_by("request_document__position")
    ]


def _completed(answer: Answer) -> Answer:
    """Return the answer with what the database cannot know, and without what this request does not have."""
    signers = answer["signers"]
    for signer in signers:
        salt, replaced = signer["signing_url"], signer.pop("replaced_links")
        signer["signing_url"] = url_of(signer["id"], bytes.fromhex(salt), replaced) if salt else None
        entered = signer.pop("entered")
        values = decrypted(signer["id"], bytes.fromhex(entered)) if entered else {}
        if not signer["language"]:
            del signer["language"]
        for field in signer["fields"]:
            field["value"] = values.get(field["value"])
    for name, nothing in (("role", Role.SIGNER), ("fields", [])):
        if all(signer[name] == nothing for signer in signers):
            for signer in signers:
                del signer[name]
    for name in ("copies", "decline_allowed", "declined_by"):
        if not answer[name]:
            del answer[name]
    return answer
