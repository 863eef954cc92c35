"""``/app/{o}/activity``: who did what in the organization; ``…/export`` all of it as CSV. Members see
their own entries, owners, admins and observers all."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from paraph.dashboard.decorators import actor, csv_file, member_page, number_in, show
from paraph.kernel import clock
from paraph.kernel.csv_lines import csv_line
from paraph.tenants.admin_log import Action, note
from paraph.tenants.models import Activity, ActorKind, Member
from paraph.tenants.rights import Right, may

WORDS = {
    Action.ORGANIZATION_CREATED: gettext_lazy("Organization created"),
    Action.ORGANIZATION_UPDATED: gettext_lazy("Organization changed"),
    Action.ORGANIZATION_SUSPENDED: gettext_lazy("Organization suspended"),
    Action.ORGANIZATION_RESUMED: gettext_lazy("Organization resumed"),
    Action.ORGANIZATION_DELETED: gettext_lazy("Organization deleted"),
    Action.MEMBER_INVITED: gettext_lazy("Member invited"),
    Action.INVITATION_RESENT: gettext_lazy("Invitation sent again"),
    Action.INVITATION_WITHDRAWN: gettext_lazy("Invitation withdrawn"),
    Action.MEMBER_JOINED: gettext_lazy("Member joined"),
    Action.MEMBER_ROLE_CHANGED: gettext_lazy("Role changed"),
    Action.MEMBER_REMOVED: gettext_lazy("Member removed"),
    Action.MEMBER_LEFT: gettext_lazy("Member left"),
    Action.APPLICATION_CREATED: gettext_lazy("Application created"),
    Action.APPLICATION_UPDATED: gettext_lazy("Application changed"),
    Action.APPLICATION_REVOKED: gettext_lazy("Application revoked"),
    Action.APPLICATION_ROTATED: gettext_lazy("Key and secret replaced"),
    Action.KEY_REVOKED: gettext_lazy("Key revoked"),
    Action.REQUEST_SENT: gettext_lazy("Request sent"),
    Action.REQUEST_ENDED_EARLY: gettext_lazy("Request withdrawn"),
    Action.REQUEST_EXTENDED: gettext_lazy("More time to sign"),
    Action.REQUEST_REWORDED: gettext_lazy("Message of a request changed"),
    Action.SIGNER_CORRECTED: gettext_lazy("Signer corrected"),
    Action.SIGNER_REMINDED: gettext_lazy("Signer reminded"),
    Action.SIGNER_ASKED: gettext_lazy("Signer wrote to you"),
    Action.SIGNER_DECLINED: gettext_lazy("Signer declined"),
    Action.SIGNER_ERASED: gettext_lazy("Signer erased"),
    Action.ADDRESS_ERASED: gettext_lazy("Address erased"),
    Action.SIGNING_LINK_SHOWN: gettext_lazy("Signing link shown"),
    Action.REQUESTS_EXPORTED: gettext_lazy("Requests exported"),
    Action.RETENTION_SET: gettext_lazy("Retention changed"),
    Action.PEOPLE_FORGOTTEN: gettext_lazy("People of ended requests forgotten"),
    Action.DELIVERY_SENT_AGAIN: gettext_lazy("Webhook sent again"),
    Action.WEBHOOK_TESTED: gettext_lazy("Webhook tested"),
    Action.BRANDING_CREATED: gettext_lazy("Branding profile created"),
    Action.BRANDING_UPDATED: gettext_lazy("Branding profile changed"),
    Action.BRANDING_DELETED: gettext_lazy("Branding profile deleted"),
    Action.DOCUMENT_UPLOADED: gettext_lazy("Document uploaded"),
    Action.DOCUMENT_DELETED: gettext_lazy("Document deleted"),
    Action.ACTIVITY_EXPORTED: gettext_lazy("Activity log exported"),
    Action.PASSWORD_CHANGED: gettext_lazy("Password changed"),
    Action.ADDRESS_CHANGED: gettext_lazy("Address of an account changed"),
    Action.SECOND_FACTOR_ADDED: gettext_lazy("Second factor added"),
    Action.SECOND_FACTOR_REMOVED: gettext_lazy("Second factor removed"),
    Action.TEMPLATE_SAVED: gettext_lazy("Template saved"),
    Action.TEMPLATE_CHANGED: gettext_lazy("Template changed"),
    Action.TEMPLATE_DELETED: gettext_lazy("Template deleted"),
    Action.BULK_SEND_STARTED: gettext_lazy("Bulk send started"),
    Action.BULK_SEND_CANCELLED: gettext_lazy("Bulk send cancelled"),
    Action.ADDRESS_ASKED: gettext_lazy("Confirmation of an address requested"),
    Action.ADDRESS_VOUCHED_FOR: gettext_lazy("Address confirmed by the operator"),
    Action.ADDRESS_WITHDRAWN: gettext_lazy("Confirmation of an address withdrawn"),
}


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
        label=gettext_lazy("Action"),
        required=False,
        choices=[("", gettext_lazy("Any")), *((each.value, WORDS[each]) for each in sorted(Action))],
    )
    since = forms.DateField(label=gettext_lazy("From"), required=False, widget=_DAY)
    until = forms.DateField(label=gettext_lazy("To"), required=False, widget=_DAY)


@member_page(Right.SEE)
def activity(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the entries, the newest first, from ``before`` on."""
    sees_all = may(member.role, Right.AUDIT)
    form = FilterForm(request.GET)
    visible = _visible(member, sees_all=sees_all)
    entries = _filtered(visible, form.cleaned_data) if form.is_valid() else visible.none()
    if before := number_in(request.GET.get("before", "")):
        entries = entries.filter(pk__lt=before)
    rows = list(entries.order_by("-pk")[: _AT_ONCE + 1])
    content = {
        "rows": [(row, _word(row.action), _changes(row)) for row in rows[:_AT_ONCE]],
        "older": rows[_AT_ONCE - 1].pk if len(rows) > _AT_ONCE else None,
        "form": form,
        "sees_all": sees_all,
        "people": [*_NOT_MEMBERS, *_addresses(member)] if sees_all else [],
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


def _visible(member: Member, *, sees_all: bool) -> QuerySet[Activity]:
    entries = Activity.objects.filter(organization_id=member.organization_id)
    own = {"actor": member.user.email, "actor_kind": ActorKind.MEMBER, "actor_id": member.user_id}
    return entries if sees_all else entries.filter(**own)


def _word(code: str) -> Any:
    """Return the words for the entry, or its code where a newer version of the service has noted it."""
    return WORDS[Action(code)] if code in list(Action) else code


def _filtered(entries: QuerySet[Activity], asked: dict[str, Any]) -> QuerySet[Activity]:
    who = asked["who"].strip().lower()
    if who in _NOT_MEMBERS:  # of these, operators alone have names
        entries = entries.filter(actor_kind=who, **({} if who == ActorKind.OPERATOR else {"actor": ""}))
    elif who:
        entries = entries.filter(actor=who)
    if asked["action"]:
        entries = entries.filter(action=asked["action"])
    if asked["since"]:
        entries = entries.filter(created_at__gte=datetime.combine(asked["since"], time(), UTC))
    if asked["until"]:
        entries = entries.filter(created_at__lt=datetime.combine(asked["until"], time(), UTC) + timedelta(days=1))
    return entries


def _addresses(member: Member) -> list[str]:
    members = Member.objects.filter(organization_id=member.organization_id)
    return list(members.order_by("user__email").values_list("user__email", flat=True))


def _changes(entry: Activity) -> list[tuple[str, Any, Any]]:
    """Return each field that the entry names, with its value before and after."""
    return [(name, entry.before.get(name), entry.after.get(name)) for name in {**entry.before, **entry.after}]
