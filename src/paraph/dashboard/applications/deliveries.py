"""``…/applications/{id}/deliveries`` and ``/app/{o}/deliveries``: what webhooks were sent; ``…/deliveries/{id}``: one
delivery, its attempts, the bytes that are signed, and sending it again; ``…/applications/{id}/first-call``: from a
sandbox key to a sealed PDF, and the webhooks on the way."""

import json
import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.audit_trail.models import EventType
from paraph.dashboard.applications.applications import application_of, is_new
from paraph.dashboard.decorators import (
    actor,
    attached,
    done,
    end_of_day,
    member_page,
    scope,
    show,
    shown_scope,
    start_of_day,
)
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import LARGE, RequestStatus, SignatureRequest, Signer
from paraph.signature_requests.signing import SigningEligibility, signing_eligibility
from paraph.tenants.members import Right
from paraph.tenants.models import Application, Environment, Member, User
from paraph.tenants.scope import scoped
from paraph.webhooks.deliveries import Filter, deliveries_page, for_request, send_again, send_test, signed
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination
from paraph.webhooks.outbox import EVENTS, TEST_EVENT, Signed


class Verifier(NamedTuple):
    """A program that checks a delivery, to paste: it reads the body from ``body.json``, and the secret and the header
    ``X-Service-Signature`` from the environment; it prints ``genuine``, or ``forged`` and ends with status 1."""

    name: str
    language: str
    program: str


_CURL = """\
# WEBHOOK_SECRET, SIGNATURE; RECEIVER (optional): where to send the delivery to, to try your own code
expected="sha256=$(openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r body.json | cut -d ' ' -f 1)"
if [ "$expected" = "$SIGNATURE" ]; then echo genuine; else echo forged; exit 1; fi
if [ -n "$RECEIVER" ]; then
  curl --fail --data-binary @body.json -H "Content-Type: application/json" \\
    -H "X-Service-Signature: $SIGNATURE" "$RECEIVER"
fi
"""
_PYTHON = """\
import hashlib, hmac, os, sys

body = open("body.json", "rb").read()
digest = hmac.new(os.environ["WEBHOOK_SECRET"].encode(), body, hashlib.sha256).hexdigest()
genuine = hmac.compare_digest(f"sha256={digest}", os.environ["SIGNATURE"])
print("genuine" if genuine else "forged")
sys.exit(not genuine)
"""
_NODE = """\
const crypto = require("node:crypto");
const fs = require("node:fs");

const body = fs.readFileSync("body.json");
const digest = crypto.createHmac("sha256", process.env.WEBHOOK_SECRET).update(body).digest("hex");
const expected = Buffer.from("sha256=" + digest), given = Buffer.from(process.env.SIGNATURE);
const genuine = expected.length === given.length && crypto.timingSafeEqual(expected, given);
console.log(genuine ? "genuine" : "forged");
process.exit(genuine ? 0 : 1);
"""
_PHP = """\
<?php
$body = file_get_contents("body.json");
$expected = "sha256=" . hash_hmac("sha256", $body, getenv("WEBHOOK_SECRET"));
$genuine = hash_equals($expected, getenv("SIGNATURE"));
echo $genuine ? "genuine\\n" : "forged\\n";
exit($genuine ? 0 : 1);
"""
VERIFIERS = [
    Verifier("curl and openssl", "sh", _CURL),
    Verifier("Python", "python", _PYTHON),
    Verifier("Node", "javascript", _NODE),
    Verifier("PHP", "php", _PHP),
]


STATES = dict(DeliveryStatus.choices) | {"held": gettext_lazy("On hold until the results are sealed")}
ANY = ("", gettext_lazy("Any"))
_DAY = forms.DateInput(attrs={"type": "date"})


class FilterForm(forms.Form):
    """The filter of a list of deliveries, whose days are those of UTC."""

    status = forms.ChoiceField(label=gettext_lazy("State"), required=False, choices=[ANY, *STATES.items()])
    event = forms.ChoiceField(
        label=gettext_lazy("Event"), required=False, choices=[ANY, *((name, name) for name in (*EVENTS, TEST_EVENT))]
    )
    since = forms.DateField(label=gettext_lazy("From"), required=False, widget=_DAY)
    until = forms.DateField(label=gettext_lazy("Until"), required=False, widget=_DAY)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def asked(self) -> Filter:
        """Return the filter, without what could not be read."""
        self.is_valid()
        given = self.cleaned_data
        since, until = given.get("since"), given.get("until")
        first, last = since and start_of_day(since), until and end_of_day(until)
        return Filter(given.get("status", ""), given.get("event", ""), first, last, given.get("before"))


@member_page(Right.BUILD, application_id=application_of)
def deliveries(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    return _list_page(request, member, found)


@member_page(Right.BUILD, post_only=True, application_id=application_of)
def test_webhook(request: HttpRequest, member: Member, found: Application) -> HttpResponse:
    try:
        delivery = send_test(actor(request, member), found)
    except DomainError as refusal:
        return _list_page(request, member, found, refusal.message)
    sentence = _("A test is on its way. Reload this page to see the result.")
    return done(request, sentence, "delivery", member.organization_id, found.pk, delivery.pk)


def _list_page(request: HttpRequest, member: Member, found: Application, problem: str = "") -> HttpResponse:
    content = _listed(request, Application.objects.filter(pk=found.pk)) | {
        "application": found,
        "catches": found.environment == Environment.SANDBOX and not found.webhook_url,
        "problem": problem,
    }
    status = 422 if problem else 200  # a filter that cannot be read is left out
    page = "applications/deliveries.html"
    return show(request, page, content, member=member, status=status, environment=found.environment)


@member_page(Right.BUILD)
def all_deliveries(request: HttpRequest, member: Member) -> HttpResponse:
    content = _listed(request, scoped(Application, shown_scope(request, member)))
    return show(request, "applications/all_deliveries.html", content, member=member)


def _listed(request: HttpRequest, applications: QuerySet[Application]) -> dict[str, Any]:
    form = FilterForm(request.GET)
    asked = form.asked()
    rows, older = deliveries_page(applications, asked)
    with_states = [(row, STATES[row.status]) for row in rows]
    return {"form": form, "is_filtered": any(asked), "rows": with_states, "older": older}


@member_page(Right.BUILD, application_id=application_of)
def delivery(request: HttpRequest, member: Member, found: Application, delivery_id: int) -> HttpResponse:
    return _page(request, member, found, _delivery(found, delivery_id))


@member_page(Right.BUILD, post_only=True, application_id=application_of)
def resend_delivery(request: HttpRequest, member: Member, found: Application, delivery_id: int) -> HttpResponse:
    row = _delivery(found, delivery_id)
    try:
        send_again(actor(request, member), found, row.pk)
    except DomainError as refusal:
        return _page(request, member, found, row, refusal.message)
    sentence = _("It is on its way. Reload this page to see the result.")
    return done(request, sentence, "delivery", member.organization_id, found.pk, row.pk)


@member_page(Right.BUILD, application_id=application_of)
def signed_body(request: HttpRequest, member: Member, found: Application, delivery_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/body``: the bytes that are signed, as a file for the verifiers."""
    content = signed(found, _delivery(found, delivery_id), "")
    if content is None:
        raise Http404
    return attached(HttpResponse(content.body, content_type="application/json"), "body.json")


def _delivery(application: Application, delivery_id: int) -> Delivery:
    return get_object_or_404(Delivery, application=application, pk=delivery_id)


def _page(request: HttpRequest, member: Member, found: Application, row: Delivery, problem: str = "") -> HttpResponse:
    attempts = list(row.attempts.order_by("-started_at"))
    sent = signed(found, row, str(attempts[0].pk) if attempts else _("different at every attempt"))
    content = {
        "application": found,
        "delivery": row,
        "state": STATES[row.status],
        "attempts": attempts,
        "headers": sent.headers.items() if sent else (),
        "body": sent.body.decode() if sent else "",
        "has_fresh_links": row.event_type == EventType.COMPLETED,
        "signature": sent.headers["X-Service-Signature"] if sent else "",
        "verifiers": VERIFIERS,
        "problem": problem,
    }
    return show(request, "applications/delivery.html", content, member=member, environment=found.environment)


_LATEST_REQUESTS = 200  # of the sandbox, among which the application's newest is looked for
_MOST_WEBHOOKS = 20
_WATCHED = timedelta(hours=1)
_ID = """python3 -c 'import json, sys; print(json.load(sys.stdin)["id"])'"""
_DOCUMENT = "DOCUMENT"


@dataclass(frozen=True)
class Webhook:
    """``sent`` is None while the results that it links to are not sealed."""

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
    # Only the application's own deliveries, sent or caught, the oldest first.
    rows = for_request(scope(member, Environment.SANDBOX), newest.pk).exclude(destination=Destination.CALLBACK)
    attempt = _("different at every attempt")
    webhooks = [Webhook(row, STATES[row.status], signed(application, row, attempt)) for row in rows[:_MOST_WEBHOOKS]]
    return Progress(used_at, newest, next(may_sign, None), webhooks, watched)


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
