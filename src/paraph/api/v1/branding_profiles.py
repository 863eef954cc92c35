"""Branding profiles, the same in both environments (specification 4.9)."""

from django.db.models.functions import Lower
from django.http import HttpResponse

from paraph.api.v1 import serialize
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.pagination import envelope
from paraph.tenants.scope import branding_profiles


def list_branding_profiles(request: ApiRequest) -> HttpResponse:
    """Lists the organization's branding profiles by name."""
    rows = branding_profiles(request.caller).order_by(Lower("name"), "name", "id")
    return envelope(rows, request.GET, serialize.branding_profile)
