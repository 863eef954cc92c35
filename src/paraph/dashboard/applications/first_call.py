"""``…/applications/{id}/first-call``: from a sandbox key to a sealed PDF, and the webhooks on the way."""

import json
import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from paraph.dashboard.applications.applications import application_of, is_new
from paraph.dashboard.applications.deliveries import STATES
from paraph.dashboard.decorators import member_page, scope, show
from paraph.kernel import clock
from paraph.signature_requests.models import LARGE, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.members import Right
from paraph.tenants.models import Application, Environment, Member, User
from paraph.tenants.scope import scoped
from paraph.webhooks.deliveries import Signed, for_request, signed
from paraph.webhooks.models import Delivery, Destination

_LATEST_REQUESTS = 200  # of the sandbox, among which the application's newest is looked for
_MOST_WEBHOOKS = 20
_WATCHED = timedelta(hours=1)
_ID = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""
_DOCUMENT = "DOCUMENT"


class Webhook(NamedTuple):
    """``sent`` is None while the results are not sealed that it links to."""

    row: Delivery
    state: Any
    sent: Signed | None

    @property
    def body(self) -> str:
        return self.sent.body.decode() if self.sent else ""


@dataclass(frozen=True)
class Progress:
    """How far the application has come. ``next_signer`` may sign now. ``watched``: something may still happen, so that
    the page asks again by itself."""

    used_at: datetime | None
    request: SignatureRequest | None
    next_signer: Signer | None
    webhooks: list[Webhook]
    watched: bool

    @property
    def mark(self) -> str:
        """Return a mark that changes whenever the page does."""
        found, signer = self.request, self.next_signer
        state = (found.pk, found.status, found.finalized) if found else ()
        newest = [f"{each.row.pk}{each.row.status}" for each in self.webhooks[-1:]]
        parts = (bool(self.used_at), *state, signer.pk if signer else 0, *newest, self.watched)
        return "-".join(str(part) for part in parts)


@member_page(Right.BUILD, application_id=application_of)
def first_call(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    """Show the page; answer its own script with the part that changes, and with 204 while nothing has."""
    if found.environment != Environment.SANDBOX:
        raise Http404
    progress = _progress(member, found)
    content: dict[str, Any] = {"application": found, "progress": progress}
    if request.headers.get("HX-Request") == "true":
        if request.GET.get("seen") == progress.mark:
            return HttpResponse(status=204)
        return show(request, "applications/progress.html", content, member=member)
    base_url = f"{settings.PARAPH.public_url}/api/v1"
    content |= {"base_url": base_url, "first_request": first_request(base_url, member.user)}
    return show(request, "applications/first_call.html", content, member=member, environment=found.environment)


@member_page(Right.BUILD, application_id=application_of)
def key_used(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    """``…/used``: when a key of the application was used last, for pages that ask until one was."""
    content = {"application": found, "used_at": _used_at(found), "watched": is_new(found)}
    return show(request, "applications/key_used.html", content, member=member)


def _progress(member: Member, application: Application) -> Progress:
    used_at, newest = _used_at(application), _newest_request(member, application)
    if newest is None:
        return Progress(used_at, None, None, [], watched=is_new(application))
    signers = list(newest.signers.defer(*LARGE).order_by("order", "pk"))
    may_sign = (signer for signer in signers if signing_eligibility(signer) is SigningEligibility.OPEN)
    is_over = newest.finalized or newest.status == RequestStatus.EXPIRED
    watched = not is_over and clock.now() - newest.created_at < _WATCHED
    return Progress(used_at, newest, next(may_sign, None), _webhooks(member, application, newest), watched)


def _webhooks(member: Member, application: Application, newest: SignatureRequest) -> list[Webhook]:
    """Return the application's own, sent or caught, the first at the beginning."""
    rows = for_request(scope(member, Environment.SANDBOX), newest.pk).exclude(destination=Destination.CALLBACK)
    attempt = _("different at every attempt")
    return [Webhook(row, STATES[row.status], signed(application, row, attempt)) for row in rows[:_MOST_WEBHOOKS]]


def _used_at(application: Application) -> datetime | None:
    used = application.keys.exclude(last_used_at=None).order_by("-last_used_at")
    return used.values_list("last_used_at", flat=True).first()


def _newest_request(member: Member, application: Application) -> SignatureRequest | None:
    rows = scoped(SignatureRequest, scope(member, Environment.SANDBOX)).order_by("-created_at", "-pk")
    latest = rows.values_list("pk", "application_id")[:_LATEST_REQUESTS]
    mine = next((pk for pk, application_id in latest if application_id == application.pk), None)
    return rows.select_related("application").filter(pk=mine).first() if mine else None


def first_request(base_url: str, user: User) -> str:
    """Return lines that upload ``contract.pdf`` and ask for a signature at the foot of its first page. The shell's
    variable ``KEY`` is the API key."""
    body = shlex.quote(json.dumps(_request(user), indent=2))
    body = body.replace(f'"id": "{_DOCUMENT}"', "\"id\": '$DOCUMENT'")
    return (
        f'DOCUMENT=$(curl -s "{base_url}/documents" -H "X-Api-Key: $KEY" \\\n'
        f'  -F "file=@contract.pdf;type=application/pdf" | {_ID})\n'
        f'curl "{base_url}/signature_requests" -H "X-Api-Key: $KEY" \\\n'
        f'  -H "Content-Type: application/json" -d {body}'
    )


def _request(user: User) -> dict[str, object]:
    first_name, _, last_name = user.name.strip().partition(" ")
    signer = {
        "ref": "me",
        "first_name": first_name or "Ada",
        "last_name": last_name.strip() or "Lovelace",
        "email": user.email,
        "order": 1,
    }
    stamp = {"type": "coordinates", "value": {"page_number": 1, "x": 60, "y": 60}}
    documents = [{"id": _DOCUMENT, "signers": [{"signer_ref": "me", "stamps": [stamp]}]}]
    asked = {"mode": "sequential", "validity_days": 30, "signers": [signer], "documents": documents}
    return {"signature_request": asked}
