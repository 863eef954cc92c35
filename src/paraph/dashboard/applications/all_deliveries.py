"""``/app/{o}/deliveries``: the webhooks of all applications, the newest first."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from paraph.dashboard.applications.filter_form import ANY, STATES, FilterForm
from paraph.dashboard.decorators import member_page, scope, show
from paraph.tenants.models import Environment, Member
from paraph.tenants.rights import Right
from paraph.webhooks.deliveries import deliveries_of_all
from paraph.webhooks.models import DeliveryStatus


class AllFilterForm(FilterForm):
    environment = forms.ChoiceField(
        label=gettext_lazy("Environment"), required=False, choices=[ANY, *Environment.choices]
    )

    field_order = ("environment", "status", "event", "since", "until")

    def environments(self) -> list[str]:
        """Return the environments that are asked for: all of them where none is, or where it could not be read."""
        chosen = self.cleaned_data.get("environment")
        return [chosen] if chosen else list(Environment)


@member_page(Right.BUILD)
def all_deliveries(request: HttpRequest, member: Member) -> HttpResponse:
    form = AllFilterForm(request.GET)
    asked = form.asked()
    rows, older = deliveries_of_all([scope(member, environment) for environment in form.environments()], asked)
    further = request.GET.copy()
    further["before"] = str(older or "")
    content = {
        "form": form,
        "is_filtered": any(asked) or len(form.environments()) == 1,
        "rows": [(row, STATES[DeliveryStatus(row.status)]) for row in rows],
        "older": further.urlencode() if older else "",
    }
    return show(request, "applications/all_deliveries.html", content, member=member)
