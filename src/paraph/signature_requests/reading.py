"""A signature request with all that the API shows of it (specification 2.2), and how one is read in the same round
trip as the key look-up."""

import json
from functools import cache
from typing import NamedTuple

from paraph.database.json_row import JsonRow
from paraph.organizations.admission import Prefetch
from paraph.organizations.models import BrandingProfile
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.signature_requests.values import LARGEST_ID

# Of a signer; nobody reads a list for their strokes.
LARGE = ("signature", "initials", "signature_encrypted", "initials_encrypted")

_REQUEST = JsonRow(SignatureRequest, "request")
_PROFILE = JsonRow(BrandingProfile, "profile")
_SIGNER = JsonRow(Signer, "signer", without=LARGE)

# Organization *and* environment, as in ``scoped``: of whoever calls.
_READ = """(
    SELECT json_build_array(
        {request},
        (
            SELECT {profile} FROM organizations_brandingprofile AS profile
            WHERE profile.id = request.branding_profile_id
        ),
        ARRAY(
            SELECT document.document_id FROM signature_requests_requestdocument AS document
            WHERE document.request_id = request.id ORDER BY document.position
        ),
        ARRAY(
            SELECT {signer} FROM signature_requests_signer AS signer
            WHERE signer.request_id = request.id ORDER BY signer."order"
        )
    )
    FROM signature_requests_signaturerequest AS request
    WHERE request.id = $4 AND request.organization_id = caller.organization_id
      AND request.environment = caller.environment
)"""


class LoadedRequest(NamedTuple):
    """``row`` has its branding profile; documents are in the order of the payload, signers in theirs."""

    row: SignatureRequest
    document_ids: list[int]
    signers: list[Signer]


def reading(request_id: int) -> Prefetch | None:
    """Reads the caller's request, for :func:`prefetched_request`; None where no request can have that id."""
    return Prefetch(_expression(), request_id) if request_id <= LARGEST_ID else None


def prefetched_request(prefetched: bytes) -> LoadedRequest:
    """What :func:`reading` has read."""
    row, profile, document_ids, signers = json.loads(prefetched)
    request = _REQUEST.instance(row)
    request.branding_profile = _PROFILE.instance(profile) if profile else None
    return LoadedRequest(request, document_ids, [_SIGNER.instance(signer) for signer in signers])


def loaded(row: SignatureRequest) -> LoadedRequest:
    """A row of a list, whose signers and request documents are prefetched."""
    return LoadedRequest(row, [each.document_id for each in row.request_documents.all()], list(row.signers.all()))


@cache
def _expression() -> str:
    return _READ.format(request=_REQUEST.sql, profile=_PROFILE.sql, signer=_SIGNER.sql)
