"""Logos for tests, and requests that show them."""

import io

from PIL import Image

from paraph.flow.branding import keep_logo
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.models import BrandingProfile, Environment, Logo
from paraph.tenants.scope import TenantScope
from tests.factories import Scene
from tests.tenancy import COLORS

RED = (200, 0, 50, 255)


def png(width: int = 960, height: int = 240, color: tuple[int, ...] = RED) -> bytes:
    file = io.BytesIO()
    Image.new("RGBA", (width, height), color).save(file, "PNG")
    return file.getvalue()


def logo_for(profile: BrandingProfile, content: bytes = b"") -> Logo:
    scope = TenantScope(profile.organization_id, Environment.PRODUCTION, "pro", application_id=None, suspended=False)
    return keep_logo(scope, OPERATOR, profile, content or png())


def branded(made: Scene, *, logo: bool = True) -> BrandingProfile:
    """Give the request a branding profile, with a logo unless ``logo`` is false. Return the profile."""
    profile = BrandingProfile.objects.create(organization_id=made.request.organization_id, name="House", **COLORS)
    made.request.branding_profile = profile
    made.request.save(update_fields=["branding_profile"])
    for signer in made.signers:
        signer.request = made.request
    if logo:
        logo_for(profile)
    return profile
