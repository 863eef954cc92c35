"""Branding profiles, the same in both environments (specification 4.9)."""

from django.db.models.functions import Lower
from ninja import Router

from paraph.api.v1 import serialize
from paraph.api.v1.answers import Answer
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.openapi import schemas
from paraph.api.v1.openapi.parts import PAGED
from paraph.api.v1.pagination import envelope
from paraph.organizations.scope import branding_profiles

router = Router(tags=["Branding profiles"])


@router.get("", response=schemas.BrandingProfiles, operation_id="listBrandingProfiles", openapi_extra=PAGED)
def list_branding_profiles(request: ApiRequest) -> Answer:
    """Lists the organization's branding profiles by name."""
    rows = branding_profiles(request.caller).order_by(Lower("name"), "name", "id")
    return envelope(rows, request.GET, serialize.branding_profile)
