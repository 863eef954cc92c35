"""The activity log in the dashboard: who sees what of it, filters, pages, and the download of a log that only grows."""

import csv
import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils.functional import Promise

from paraph.flow.signing.decline_or_ask import ask
from paraph.kernel import clock
from paraph.tenants.admin_log import OPERATOR, Action, note
from paraph.tenants.models import Activity, Member, Organization, Role
from tests.dashboard.conftest import LogIn, proved, read, rows_of, scene
from tests.tenancy import create_organization


def listed(client: Client, member: Member, query: str = "") -> list[int]:
    """Return which entries of the log the page shows, counted from 1."""
    page = read(client.get(f"/app/{member.organization_id}/activity{query}"))
    log = list(Activity.objects.filter(organization_id=member.organization_id).values_list("pk", flat=True))
    return [log.index(number) + 1 for number in rows_of(page)]


def exported(client: Client, member: Member) -> str:
    answer: Any = proved(client).post(f"/app/{member.organization_id}/activity/export")
    assert answer.status_code == 200 and answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    name = f"activity-{member.organization_id}-{clock.now():%Y-%m-%d}.csv"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    content: str = answer.getvalue().decode()
    return content


def test_members_see_their_own_acts_and_the_others_all(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    for number in range(2):
        client.post(f"/app/{owner.organization_id}/members", {"email": f"{number}@example.com", "role": "member"})
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    for role in (Role.OWNER, Role.ADMIN, Role.OBSERVER):
        assert listed(log_in(role)[1], owner) == [3, 2, 1]
    member, own = log_in(Role.MEMBER)
    assert listed(own, member) == []


def test_acts_are_filtered_by_person_action_and_time(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    client.post(f"/app/{owner.organization_id}/members", {"email": "bob@example.com", "role": "member"})
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    today, tomorrow = clock.now().date(), clock.now().date() + timedelta(days=1)
    for query, found in {
        f"who={owner.user.email.upper()}": [1],
        "who=operator": [2],
        "action=member.invited": [1],
        f"since={today}&until={today}": [2, 1],
        f"since={tomorrow}": [],
        "until=9999-12-31": [2, 1],
    }.items():
        assert listed(client, owner, f"?{query}") == found, query
    assert client.get(f"/app/{owner.organization_id}/activity?since=never").status_code == 422


def test_pages_follow_each_other_without_gap(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    for _ in range(120):
        note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    seen, query = [], "?action=organization.updated"
    while query:
        seen += listed(client, owner, query)
        page = client.get(f"/app/{owner.organization_id}/activity{query}").content.decode()
        found = re.search(r'href="(\?[^"]*before=\d+)"', page)
        query = found[1].replace("&amp;", "&") if found else ""
    assert seen == list(range(120, 0, -1))


def test_the_download_has_every_entry_and_no_formula(log_in: LogIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraph.dashboard.activity._LINES_AT_ONCE", 2)
    owner, client = log_in(Role.OWNER)
    number = owner.organization_id
    client.post(f"/app/{number}/members", {"email": "bob@example.com", "role": "member"})
    note(create_organization("Elsewhere", "free").pk, OPERATOR, Action.ORGANIZATION_UPDATED)
    for name in ("=1+1", "Émile & Söhne"):
        note(number, OPERATOR, Action.ORGANIZATION_UPDATED, name, before={"name": "A"}, after={"name": name})
    entries = list(Activity.objects.filter(organization_id=number))
    lines = list(csv.DictReader(exported(client, owner).splitlines()))
    assert [int(line["id"]) for line in lines[:-1]] == [entry.pk for entry in entries]
    facts = ("id", "at", "actor_kind", "actor_id", "actor", "ip", "action", "subject", "before", "after")
    assert tuple(lines[0]) == facts
    assert lines[0]["at"] == clock.iso_milliseconds(entries[0].created_at)
    assert [lines[0][name] for name in facts[2:]] == [
        "member", str(owner.user_id), owner.user.email, "127.0.0.1", "member.invited", "bob@example.com", "",
        '{"role": "member"}',
    ]  # fmt: skip
    told = [(line["actor_kind"], line["actor_id"], line["subject"], line["after"]) for line in lines[1:3]]
    assert told == [
        ("operator", "", "'=1+1", '{"name": "=1+1"}'),
        ("operator", "", "Émile & Söhne", '{"name": "Émile & Söhne"}'),
    ]
    assert (lines[-1]["action"], lines[-1]["actor"]) == ("activity.exported", owner.user.email)
    assert "Export CSV" in read(client.get(f"/app/{number}/activity"))


def test_what_is_noted_during_a_download_is_left_to_the_next(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    answer: Any = proved(client).post(f"/app/{owner.organization_id}/activity/export")
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    assert b"organization.updated" not in answer.getvalue()
    assert "organization.updated" in exported(client, owner)


def test_the_database_refuses_to_change_the_log(organization: Organization) -> None:
    note(organization.pk, OPERATOR, Action.ORGANIZATION_UPDATED)
    for change in ("UPDATE {} SET subject = 'x'", "DELETE FROM {}", "TRUNCATE {}"):
        refused = pytest.raises(DatabaseError, match="the activity log is append-only")
        with refused, transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET CONSTRAINTS ALL IMMEDIATE; {change.format('activity_activity')}")
        assert Activity.objects.count() == 1


@pytest.mark.django_db
def test_what_signers_ask_stands_in_the_log_without_their_words() -> None:
    stage = scene()
    Organization.objects.update(contact_email="desk@example.com")
    signer = stage.signers[0]
    signer.request.organization.refresh_from_db()
    ask(signer, "question", "Where is my copy? I am Ada.")
    [entry] = Activity.objects.all()
    assert (entry.actor_kind, entry.action, entry.after) == ("signer", "signer.asked", {"kind": "question"})
    assert entry.subject == f"request {stage.request.pk}, signer {signer.pk}"
    assert "Ada" not in str(Activity.objects.values()) and signer.email not in str(Activity.objects.values())


def test_acts_are_told_in_words_and_those_of_a_newer_version_by_their_codes(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    assert [action for action in Action if not isinstance(action.label, Promise)] == []
    row = note(owner.organization_id, OPERATOR, Action.MEMBER_ROLE_CHANGED)
    row.pk, row.action = None, "moon.landed"
    row.save(force_insert=True)
    page = read(client.get(f"/app/{owner.organization_id}/activity", headers={"Accept-Language": "de"}))
    assert "Rolle geändert<br><small><code>member.role_changed</code>" in page and "moon.landed" in page
    assert '<option value="member.role_changed">Rolle geändert</option>' in page
