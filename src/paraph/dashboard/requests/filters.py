"""What the list of requests is asked for: the filters of the API (rule 4.1), words and an environment."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from paraph.signature_requests.models import RequestStatus, SignatureRequest
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, scoped

_ANY = ("", _("Any"))
# The status "expired" holds all that ended without being completed.
_STATUSES = [
    (RequestStatus.PENDING.value, RequestStatus.PENDING.label),
    (RequestStatus.COMPLETED.value, RequestStatus.COMPLETED.label),
    (RequestStatus.EXPIRED.value, _("Ended (expired, declined or cancelled)")),
]
_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class Filters(forms.Form):
    """A bare date is the whole day in UTC."""

    use_required_attribute = False
    q = forms.CharField(
        label=_("Search"),
        required=False,
        max_length=200,
        widget=forms.TextInput(attrs={"type": "search", "placeholder": _("Title, name, e-mail, file or number")}),
    )
    status = forms.ChoiceField(label=_("Status"), required=False, choices=[_ANY, *_STATUSES])
    environment = forms.ChoiceField(label=_("Environment"), required=False, choices=[_ANY, *Environment.choices])
    created_after = forms.DateField(label=_("Created from"), required=False, widget=_DAY)
    created_before = forms.DateField(label=_("Created until"), required=False, widget=_DAY)
    order = forms.ChoiceField(
        label=_("Order"), required=False, choices=[("", _("Newest first")), ("asc", _("Oldest first"))]
    )

    @property
    def words(self) -> str:
        return str(self.cleaned_data["q"]).strip()

    @property
    def rising(self) -> bool:
        return bool(self.cleaned_data["order"])

    @property
    def environments(self) -> list[str]:
        chosen = self.cleaned_data["environment"]
        return [chosen] if chosen else [Environment.PRODUCTION.value, Environment.SANDBOX.value]

    def days(self) -> tuple[date, date]:
        return self.cleaned_data["created_after"] or date.min, self.cleaned_data["created_before"] or date.max

    def rows(self, scope: TenantScope) -> QuerySet[SignatureRequest]:
        """Return the caller's requests of this status and time, in no order."""
        asked = self.cleaned_data
        rows = scoped(SignatureRequest, scope)
        if asked["status"]:
            rows = rows.filter(status=asked["status"])
        if asked["created_after"]:
            rows = rows.filter(created_at__gte=_midnight(asked["created_after"]))
        if asked["created_before"] and asked["created_before"] < date.max:
            rows = rows.filter(created_at__lt=_midnight(asked["created_before"] + timedelta(days=1)))
        return rows

    def query(self) -> dict[str, Any]:
        """Return what is asked for, as a query string has it."""
        return {name: str(value) for name, value in self.cleaned_data.items() if value}


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
