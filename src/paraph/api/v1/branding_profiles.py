"""Branding profiles, the same in both environments (rules 2.4 and 4.9)."""

from typing import Self

from django.db.models.functions import Lower
from django.http import HttpResponse
from pydantic import Field

from paraph.api.v1.endpoint import ApiRequest, operation
from paraph.api.v1.lists import PAGING, envelope
from paraph.api.v1.shapes import Color, Id, Name, Output, Pagination
from paraph.tenants import models
from paraph.tenants.scope import branding_profiles


class BrandingProfile(Output):
    """Colours of the signer's pages. Profiles are made, changed and deleted in the dashboard; the API reads them. A
    deleted one is listed no more and cannot be named in new requests; requests that have it keep it."""

    id: Id = Field(description="What `branding_profile_id` names.")
    name: Name = Field(description="The name that the list is sorted by.")
    background_color: Color = Field(description="Background of the signer's pages.", examples=["#f6f4ee"])
    text_color: Color = Field(description="Text on that background.", examples=["#1c1b19"])
    accent_color: Color = Field(description="Buttons and marks.", examples=["#1d4ed8"])

    @classmethod
    def of(cls, row: models.BrandingProfile) -> Self:
        return cls.build(**{name: getattr(row, name) for name in cls.model_fields})


class BrandingProfiles(Output):
    """A page of branding profiles."""

    data: list[BrandingProfile] = Field(max_length=100, description="The entries of the page, sorted by name.")
    pagination: Pagination


@operation(
    "listBrandingProfiles", "GET /branding_profiles", BrandingProfiles, "A page of branding profiles.", accepts=PAGING
)
def list_branding_profiles(request: ApiRequest) -> HttpResponse:
    """List branding profiles.

    Lists the organization's branding profiles by name, whichever environment the key is of.
    """
    rows = branding_profiles(request.scope).order_by(Lower("name"), "name", "id")
    return envelope(BrandingProfiles, rows, request.GET, BrandingProfile.of)
