"""``GET …/logo.png``: the logo of the request's branding profile."""

from django.http import HttpRequest

from paraph.signature_requests.localized import translated
from paraph.signature_requests.models import Signer
from paraph.signer.authentication import got
from paraph.signer.described import described
from paraph.tenants.logos import logo_picture


@got(kept=86_400, media="image/png")  # another logo has another address
@described("GET /logo.png", "showLogo", "A picture.", "image/png")
def logo(_request: HttpRequest, signer: Signer) -> bytes:
    """Show the logo.

    The logo of the request's branding profile, at most 480 by 144 pixels, whatever the state of the request; 404
    without one. Browsers may keep it for a day.
    """
    picture = logo_picture(signer.request.branding_profile)
    if picture is None:
        raise translated("not_found", "link_unknown")
    return picture.png
