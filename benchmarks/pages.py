"""Pages of the dashboard that grow with an organization's requests, and an owner who may see them."""

import time
from http.cookies import SimpleCookie


def page_addresses(organization: int) -> dict[str, str]:
    """The paths by title, with the request and the document in the middle of all."""
    requests, (request, document) = f"/app/{organization}/requests", _in_the_middle(organization)
    return {
        "home": f"/app/{organization}/",
        "requests": requests,
        "requests, oldest first": f"{requests}?order=asc",
        "requests, from the middle on": f"{requests}?following={request}",
        "requests, back from the middle": f"{requests}?previous={request}",
        "requests, pending": f"{requests}?status=pending",
        "requests, expired, from a day on": f"{requests}?status=expired&created_after={_day(100)}",
        "search, a name that all have": f"{requests}?q=ada",
        "search, that name, expired": f"{requests}?q=ada&status=expired",
        "search, the beginning of many names": f"{requests}?q=lovel",
        "search, one name in a thousand": f"{requests}?q=lovelace7",
        "search, two words": f"{requests}?q=ada+lovelace7",
        "search, an address": f"{requests}?q=ada{request}@example.com",
        "search, a file that all have": f"{requests}?q=contract.pdf",
        "search, a number": f"{requests}?q={request}",
        "search, no such word": f"{requests}?q=hopper",
        "a request": f"{requests}/{request}",
        "a request, verified": f"{requests}/{request}/verify",
        "documents": f"/app/{organization}/documents",
        "documents, from the middle on": f"/app/{organization}/documents?before={document}",
        "drafts": f"/app/{organization}/drafts",
    }


def owner_cookies(organization: int, environment: str = "sandbox") -> SimpleCookie:
    """The cookies of an owner who is logged in and has switched that environment on."""
    from django.test import Client

    from paraph.config.settings import SESSION_COOKIE_NAME
    from paraph.dashboard.account.sessions import cookie_of
    from paraph.tenants.models import Member, User

    user, _ = User.objects.get_or_create(email=f"owner-{organization}@example.com")
    Member.objects.get_or_create(organization_id=organization, user=user, role="owner")
    client = Client()
    client.force_login(user)
    client.cookies[SESSION_COOKIE_NAME] = cookie_of(client.cookies[SESSION_COOKIE_NAME].value)
    client.post(f"/app/{organization}/environment", {"to": environment})  # where the requests are
    return client.cookies


def _in_the_middle(organization: int) -> tuple[int, int]:
    from paraph.documents.models import Document
    from paraph.signature_requests.models import SignatureRequest

    request = SignatureRequest.objects.filter(organization_id=organization).order_by("-pk")
    document = Document.objects.filter(organization_id=organization, status="ready").order_by("-pk")
    return (
        request.values_list("pk", flat=True)[request.count() // 2],
        document.values_list("pk", flat=True)[document.count() // 2],
    )


def _day(ago: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() - ago * 86_400))
