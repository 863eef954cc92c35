"""``…/deliveries/{id}``: one delivery, its attempts, the bytes that are signed, and sending it again."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from paraph.audit_trail.models import EventType
from paraph.dashboard.applications.filter_form import STATES
from paraph.dashboard.applications.found import application_of
from paraph.dashboard.applications.verifiers import VERIFIERS
from paraph.dashboard.decorators import actor, member_page, see_other, show
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Application, Member
from paraph.tenants.rights import Right
from paraph.webhooks.deliveries import send_again, signed
from paraph.webhooks.models import Delivery, DeliveryStatus, Destination


@member_page(Right.BUILD)
def delivery(request: HttpRequest, member: Member, application_id: int, delivery_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    return _page(request, member, found, _delivery(found, delivery_id))


@member_page(Right.BUILD)
@require_POST
def resend(request: HttpRequest, member: Member, application_id: int, delivery_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    row = _delivery(found, delivery_id)
    try:
        send_again(actor(request, member), found, row.pk)
    except DomainError as refusal:
        return _page(request, member, found, row, refusal.message)
    messages.success(request, _("It is on its way. Reload this page to see the result."))
    return see_other("delivery", member.organization_id, found.pk, row.pk)


@member_page(Right.BUILD)
def signed_body(request: HttpRequest, member: Member, application_id: int, delivery_id: int) -> HttpResponse:  # noqa: ARG001
    """``…/body``: the very bytes, as a file for the verifiers."""
    found = application_of(member, application_id)
    content = signed(found, _delivery(found, delivery_id), "")
    if content is None:
        raise Http404
    response = HttpResponse(content.body, content_type="application/json")
    response["Content-Disposition"] = 'attachment; filename="body.json"'
    return response


def _delivery(application: Application, delivery_id: int) -> Delivery:
    row = Delivery.objects.filter(application=application, pk=delivery_id).first()
    if row is None:
        raise Http404
    return row


def _page(request: HttpRequest, member: Member, found: Application, row: Delivery, problem: str = "") -> HttpResponse:
    attempts = list(row.attempts.order_by("-started_at"))
    sent = signed(found, row, str(attempts[0].pk) if attempts else _("different at every attempt"))
    content = {
        "application": found,
        "delivery": row,
        "state": STATES[DeliveryStatus(row.status)],
        "is_waiting": row.status == DeliveryStatus.WAITING,
        "is_held": row.status == DeliveryStatus.HELD,
        "is_caught": row.destination == Destination.CATCHER,
        "attempts": attempts,
        "headers": sent.headers.items() if sent else (),
        "body": sent.body.decode() if sent else "",
        "has_fresh_links": row.event_type == EventType.COMPLETED,
        "signature": sent.headers["X-Service-Signature"] if sent else "",
        "verifiers": VERIFIERS,
        "problem": problem,
    }
    status = 422 if problem else 200
    return show(request, "applications/delivery.html", content, member=member, status=status)
