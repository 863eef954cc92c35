"""Logos of branding profiles (docs/decisions/logos.md)."""

from paraph.kernel.appearance import LogoPicture
from paraph.kernel.errors import AwayError
from paraph.storage import store
from paraph.tenants.branding import theme
from paraph.tenants.models import BrandingProfile, Logo


def logo_of(profile: BrandingProfile | None) -> Logo | None:
    return Logo.objects.filter(profile=profile).first() if profile else None


def logo_picture(profile: BrandingProfile | None) -> LogoPicture | None:
    """Return the logo on the profile's background. None where there is none, and where the store does not give it now:
    a mail or a proof does without rather than wait."""
    logo = logo_of(profile)
    if logo is None:
        return None
    try:
        png = store.get(logo.object_key)
    except (FileNotFoundError, AwayError):
        return None
    return LogoPicture(png, logo.width, logo.height, str(theme(profile)["background"]))
