"""The filter above a list of deliveries."""

from datetime import UTC, date, datetime, time, timedelta

from django import forms
from django.utils.translation import gettext_lazy

from paraph.webhooks.deliveries import Filter
from paraph.webhooks.models import DeliveryStatus
from paraph.webhooks.payload import EVENTS, TEST_EVENT

STATES = {
    DeliveryStatus.HELD: gettext_lazy("On hold until the results are sealed"),
    DeliveryStatus.WAITING: gettext_lazy("Waiting"),
    DeliveryStatus.DELIVERED: gettext_lazy("Delivered"),
    DeliveryStatus.FAILED: gettext_lazy("Failed"),
    DeliveryStatus.CAUGHT: gettext_lazy("Kept, not sent"),
}
ANY = ("", gettext_lazy("Any"))
_DAY = forms.DateInput(attrs={"type": "date"})


class FilterForm(forms.Form):
    """The filter of a list of deliveries, whose days are those of UTC."""

    status = forms.ChoiceField(
        label=gettext_lazy("State"), required=False, choices=[ANY, *((state.value, STATES[state]) for state in STATES)]
    )
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
        until = _midnight(given.get("until"))
        return Filter(
            given.get("status", ""),
            given.get("event", ""),
            _midnight(given.get("since")),
            until + timedelta(days=1) if until else None,
            given.get("before"),
        )


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None
