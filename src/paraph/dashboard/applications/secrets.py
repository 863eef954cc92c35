"""The one page that shows a key and a webhook secret."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from paraph.dashboard.decorators import show
from paraph.tenants.applications import NewApplication, Rotated
from paraph.tenants.models import Member


def show_secrets(request: HttpRequest, member: Member, made: NewApplication | Rotated) -> HttpResponse:
    """Renders the secrets into the answer to the form that made them: no address leads to them, nothing keeps them.

    The page has no form, because browsers send forms of a page without referrer as if from nowhere.
    """
    content = {
        "application": made.application,
        "api_key": made.api_key,
        "webhook_secret": made.webhook_secret,
        "is_first": isinstance(made, NewApplication),
        "ends_at": made.ends_at if isinstance(made, Rotated) else None,
        "base_url": f"{settings.PARAPH.public_url}/api/v1",
    }
    response = show(request, "applications/secrets.html", content, member=member)
    response["Cache-Control"] = "no-store"
    response["Referrer-Policy"] = "no-referrer"
    return response
