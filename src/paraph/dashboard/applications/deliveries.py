"""``…/applications/{id}/deliveries``: what webhooks were sent, and a test."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from paraph.dashboard.applications.filter_form import STATES, FilterForm
from paraph.dashboard.applications.found import application_of
from paraph.dashboard.decorators import actor, member_page, see_other, show
from paraph.kernel.errors import DomainError
from paraph.tenants.models import Application, Environment, Member
from paraph.tenants.rights import Right
from paraph.webhooks.deliveries import deliveries_page, send_test
from paraph.webhooks.models import DeliveryStatus


@member_page(Right.BUILD)
def deliveries(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    return _page(request, member, application_of(member, application_id))


@member_page(Right.BUILD)
@require_POST
def test_webhook(request: HttpRequest, member: Member, application_id: int) -> HttpResponse:
    found = application_of(member, application_id)
    try:
        delivery = send_test(actor(request, member), found)
    except DomainError as refusal:
        return _page(request, member, found, refusal.message)
    messages.success(request, _("A test is on its way. Reload this page to see the result."))
    return see_other("delivery", member.organization_id, found.pk, delivery.pk)


def _page(request: HttpRequest, member: Member, found: Application, problem: str = "") -> HttpResponse:
    form = FilterForm(request.GET)
    asked = form.asked()
    rows, older = deliveries_page(found, asked)
    further = request.GET.copy()
    further["before"] = str(older or "")
    content = {
        "application": found,
        "form": form,
        "is_filtered": any(asked),
        "rows": [(row, STATES[DeliveryStatus(row.status)]) for row in rows],
        "catches": found.environment == Environment.SANDBOX and not found.webhook_url,
        "older": further.urlencode() if older else "",
        "problem": problem,
    }
    status = 422 if problem else 200
    return show(request, "applications/deliveries.html", content, member=member, status=status)
