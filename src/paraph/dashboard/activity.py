"""``/app/{o}/activity``: who did what in the organization; members see their own entries, the other roles all of them;
``…/export``: the whole log as CSV."""

import json
from collections.abc import Iterator
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, csv_file, end_of_day, member_page, number_in, show, start_of_day
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.tenants.admin_log import Action, note
from paraph.tenants.members import Right, may
from paraph.tenants.models import Activity, ActorKind, Member

_AT_ONCE = 50
_LINES_AT_ONCE = 1000
_COLUMNS = ("id", "at", "actor_kind", "actor_id", "actor", "ip", "action", "subject", "before", "after")
_NOT_MEMBERS = (ActorKind.OPERATOR, ActorKind.SIGNER, ActorKind.SERVICE, ActorKind.API)
_DAY = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class FilterForm(forms.Form):
    who = forms.CharField(
        label=gettext_lazy("Who"), required=False, max_length=320, widget=forms.TextInput(attrs={"list": "people"})
    )
    action = forms.ChoiceField(
        label=gettext_lazy("Action"), required=False, choices=[("", gettext_lazy("Any")), *sorted(Action.choices)]
    )
    since = forms.DateField(label=gettext_lazy("From"), required=False, widget=_DAY)
    until = forms.DateField(label=gettext_lazy("To"), required=False, widget=_DAY)


@member_page(Right.SEE)
def activity(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the entries, the newest first, from ``before`` on."""
    sees_all = may(member.role, Right.AUDIT)
    form = FilterForm(request.GET)
    visible = Activity.objects.filter(organization_id=member.organization_id)
    if not sees_all:
        visible = visible.filter(actor=member.user.email, actor_kind=ActorKind.MEMBER, actor_id=member.user_id)
    entries = _filtered(visible, form.cleaned_data) if form.is_valid() else visible.none()
    if before := number_in(request.GET.get("before", "")):
        entries = entries.filter(pk__lt=before)
    rows = list(entries.order_by("-pk")[: _AT_ONCE + 1])
    words = dict(Action.choices)
    members = Member.objects.filter(organization_id=member.organization_id).order_by("user__email")
    content = {
        # A newer version of the service may have noted other actions.
        "rows": [(row, words.get(row.action, row.action), _changes(row)) for row in rows[:_AT_ONCE]],
        "older": rows[_AT_ONCE - 1].pk if len(rows) > _AT_ONCE else None,
        "form": form,
        "sees_all": sees_all,
        "people": [*_NOT_MEMBERS, *members.values_list("user__email", flat=True)] if sees_all else [],
        "filtered": any(request.GET.get(name) for name in form.fields),
    }
    return show(request, "activity.html", content, member=member, status=422 if form.errors else 200)


@member_page(Right.AUDIT, post_only=True, fresh=True)
def export_activity(request: HttpRequest, member: Member) -> Any:
    """``POST …/activity/export``: the whole log as CSV, sent as it is read, whose last line is this export."""
    last = note(member.organization_id, actor(request, member), Action.ACTIVITY_EXPORTED, member.organization.name)
    name = f"activity-{member.organization_id}-{clock.now():%Y-%m-%d}.csv"
    return csv_file(_lines(member.organization_id, last.pk), name)


def _lines(organization_id: int, last: int) -> Iterator[str]:
    """Yield a line for each entry of the organization up to the one with the id ``last``, never with many of them in
    memory."""
    yield csv_line(_COLUMNS)
    log = Activity.objects.filter(organization_id=organization_id, pk__lte=last)
    after = 0
    while rows := list(log.filter(pk__gt=after)[:_LINES_AT_ONCE]):
        yield from (csv_line(_cells(row)) for row in rows)
        after = rows[-1].pk


def _cells(row: Activity) -> list[str]:
    changes = (json.dumps(facts, ensure_ascii=False) if facts else "" for facts in (row.before, row.after))
    actor_id = "" if row.actor_id is None else str(row.actor_id)
    at = clock.iso_milliseconds(row.created_at)
    return [str(row.pk), at, row.actor_kind, actor_id, row.actor, row.ip, row.action, row.subject, *changes]


def _filtered(entries: QuerySet[Activity], asked: dict[str, Any]) -> QuerySet[Activity]:
    who = asked["who"].lower()
    if who in _NOT_MEMBERS:  # of these, operators alone have names
        entries = entries.filter(actor_kind=who, **({} if who == ActorKind.OPERATOR else {"actor": ""}))
    elif who:
        entries = entries.filter(actor=who)
    if asked["action"]:
        entries = entries.filter(action=asked["action"])
    if asked["since"]:
        entries = entries.filter(created_at__gte=start_of_day(asked["since"]))
    if asked["until"]:
        entries = entries.filter(created_at__lte=end_of_day(asked["until"]))
    return entries


def _changes(entry: Activity) -> list[tuple[str, Any, Any]]:
    """Return each field that the entry names, with its value before and after."""
    return [(name, entry.before.get(name), entry.after.get(name)) for name in {**entry.before, **entry.after}]
