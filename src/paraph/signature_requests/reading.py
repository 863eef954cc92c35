"""A signature request with its signers, as it is loaded to be shown (specification 2.2 and 2.3): from rows that are
at hand, or in the same round trip as the key look-up."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Case, OuterRef, QuerySet, Subquery, TextField, Value, When
from django.db.models.functions import Cast, Concat
from pydantic_core import from_json

from paraph.messaging.models import PutOffMail
from paraph.signature_requests.models import RequestDocument, SignatureRequest, Signer, SignerStatus
from paraph.signature_requests.values import LARGEST_ID
from paraph.tenants.admission import Prefetch
from paraph.tenants.models import BrandingProfile

# Of a signer; nobody reads a list for their strokes.
LARGE = ("signature_encrypted", "initials_encrypted")

# Organization *and* environment are those of the key's application, as in ``scoped``. Arrays, because their values are
# read into the tuples below by position; making models of them takes a third of the time of a read.
_READ = """(
    SELECT json_build_array(
        request.id, request.mode, request.status, request.validity_days, request.initials_required,
        request.notify_signers_on_completion, request.expires_at, request.created_at, request.finalized,
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
                signer.signed_at, encode(signer.token_salt, 'hex'),
                CASE WHEN signer.status = 'pending' THEN (
                    SELECT until FROM messaging_putoffmail WHERE name = 'invitation-' || signer.id
                ) END
            )
            FROM signature_requests_signer AS signer
            WHERE signer.request_id = request.id ORDER BY signer."order"
        )
    )
    FROM signature_requests_signaturerequest AS request
    WHERE request.id = $4 AND request.organization_id = application.organization_id
      AND request.environment = application.environment
)"""


class LoadedSigner(NamedTuple):
    """``put_off_until``: before when a ceiling of messages leaves no room for the invitation."""

    id: int
    first_name: str
    last_name: str
    email: str
    order: int
    status: str
    signed_at: datetime | None
    token_salt: bytes
    put_off_until: datetime | None


class LoadedRequest(NamedTuple):
    """``document_ids`` are in the order of the payload, ``signers`` in theirs."""

    id: int
    mode: str
    status: str
    validity_days: int
    initials_required: bool
    notify_signers_on_completion: bool
    expires_at: datetime
    created_at: datetime
    finalized: bool
    branding_profile: BrandingProfile | None
    document_ids: list[int]
    signers: list[LoadedSigner]


def reading(request_id: int) -> Prefetch | None:
    """Reads the caller's request, for :func:`prefetched_request`; None where no request can have that id."""
    return Prefetch(_READ, request_id) if request_id <= LARGEST_ID else None


def prefetched_request(prefetched: bytes) -> LoadedRequest:
    """The request that :func:`reading` has read."""
    *known, expires_at, created_at, finalized, profile, document_ids, signers = from_json(prefetched)
    moments = datetime.fromisoformat(expires_at), datetime.fromisoformat(created_at)
    branding = BrandingProfile(**profile) if profile else None
    loaded = [_prefetched_signer(signer) for signer in signers]
    return LoadedRequest._make((*known, *moments, finalized, branding, document_ids, loaded))


def with_put_off(rows: QuerySet[Signer]) -> QuerySet[Signer]:
    """Add to each signer until when the invitation is put off, for :func:`loaded_request`."""
    name: Any = Concat(Value("invitation-"), Cast(OuterRef("pk"), TextField()), output_field=TextField())
    until = Subquery(PutOffMail.objects.filter(name=name).values("until"))
    added: QuerySet[Signer] = rows.annotate(put_off_until=Case(When(status=SignerStatus.PENDING, then=until)))
    return added


def loaded_request(
    row: SignatureRequest, documents: Iterable[RequestDocument], signers: Iterable[Signer]
) -> LoadedRequest:
    """The request of rows that are in order and at hand, its branding profile too."""
    return LoadedRequest(
        row.pk,
        row.mode,
        row.status,
        row.validity_days,
        row.initials_required,
        row.notify_signers_on_completion,
        row.expires_at,
        row.created_at,
        row.finalized,
        row.branding_profile,
        [document.document_id for document in documents],
        [_loaded_signer(signer) for signer in signers],
    )


def _prefetched_signer(values: list[Any]) -> LoadedSigner:
    *known, signed_at, token_salt, put_off_until = values
    moment = datetime.fromisoformat(signed_at) if signed_at else None
    waits = datetime.fromisoformat(put_off_until) if put_off_until else None
    return LoadedSigner._make((*known, moment, bytes.fromhex(token_salt), waits))


def _loaded_signer(row: Signer) -> LoadedSigner:
    return LoadedSigner(
        row.pk,
        row.first_name,
        row.last_name,
        row.email,
        row.order,
        row.status,
        row.signed_at,
        bytes(row.token_salt),
        getattr(row, "put_off_until", None),
    )
