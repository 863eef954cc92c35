"""The activity log in the dashboard: who sees what of it, filters, pages, and an export that anybody can check."""

import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from django.db import connection
from django.test import Client

from paraph.cli.activity import verify
from paraph.dashboard.activity_words import WORDS
from paraph.flow.signing.ask import ask
from paraph.kernel import clock
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import OPERATOR
from paraph.tenants.admin_log.export import check_log
from paraph.tenants.admin_log.log import note
from paraph.tenants.admin_log.models import Activity
from paraph.tenants.admin_log.read_export import check_export
from paraph.tenants.models import Member, Organization, Role
from tests.dashboard.conftest import MemberClient
from tests.dashboard.proof import proved
from tests.factories import scene
from tests.tenancy import create_organization

LogIn = Callable[..., MemberClient]


def listed(client: Client, member: Member, query: str = "") -> list[int]:
    page = client.get(f"/app/{member.organization_id}/activity{query}").content.decode()
    return [int(position) for position in re.findall(r'<tr data-id="(\d+)"', page)]


def exported(client: Client, member: Member) -> bytes:
    answer = proved(client).post(f"/app/{member.organization_id}/activity/export")
    assert answer.status_code == 200 and answer.headers["Content-Disposition"].endswith('.json"')
    return b"".join(answer.streaming_content)  # type: ignore[attr-defined]


def test_members_see_their_own_acts_and_the_others_all(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    for number in range(2):
        client.post(f"/app/{owner.organization_id}/members", {"email": f"{number}@example.com", "role": "member"})
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    for role in (Role.OWNER, Role.ADMIN, Role.OBSERVER):
        assert listed(log_in(role)[1], owner) == [3, 2, 1]
    member, own = log_in(Role.MEMBER)
    assert listed(own, member) == []
    assert proved(own).post(f"/app/{owner.organization_id}/activity/export").status_code == 403


def test_acts_are_filtered_by_person_action_and_time(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    client.post(f"/app/{owner.organization_id}/members", {"email": "bob@example.com", "role": "member"})
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    today, tomorrow = clock.now().date(), clock.now().date() + timedelta(days=1)
    assert listed(client, owner, f"?who={owner.user.email.upper()}") == [1]
    assert listed(client, owner, "?who=operator") == [2]
    assert listed(client, owner, "?action=member.invited") == [1]
    assert listed(client, owner, f"?since={today}&until={today}") == [2, 1]
    assert listed(client, owner, f"?since={tomorrow}") == []
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


def test_an_export_is_checked_without_the_service(log_in: LogIn, tmp_path: Path, organization: Organization) -> None:
    owner, client = log_in(Role.OWNER)
    client.post(f"/app/{organization.pk}/members", {"email": "bob@example.com", "role": "member"})
    content = exported(client, owner)
    check = check_export(content)
    assert check.ok and (check.organization_id, check.entries) == (organization.pk, 2)
    assert json.loads(content)["entries"][-1]["action"] == "activity.exported"
    file = tmp_path / "export.json"
    file.write_bytes(content)
    good = CliRunner().invoke(verify, [str(file), "--json"])
    assert good.exit_code == 0 and json.loads(good.output)["valid"] is True
    file.write_bytes(content.replace(b"bob@example.com", b"eve@example.com"))
    bad = CliRunner().invoke(verify, [str(file)])
    assert bad.exit_code == 1 and "Entry 1 was altered." in bad.output


@pytest.mark.parametrize("change", ["altered", "left out", "moved", "of another organization"])
def test_no_act_can_be_altered_left_out_or_moved(log_in: LogIn, change: str) -> None:
    owner, client = log_in(Role.OWNER)
    for number in range(3):
        note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED, after={"name": f"Name {number}"})
    export = json.loads(exported(client, owner))
    entries = export["entries"]
    if change == "altered":
        entries[1]["after"]["name"] = "Another"
    elif change == "left out":
        del entries[1]
    elif change == "moved":
        entries[1], entries[2] = entries[2], entries[1]
    else:
        export["organization_id"] += 1
    check = check_export(json.dumps(export).encode())
    assert not check.ok and check.entries < 3


def test_an_earlier_export_shows_that_the_log_was_cut_or_made_anew(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    earlier = check_export(exported(client, owner))
    note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    assert check_log(owner.organization_id, earlier).ok and check_log(owner.organization_id).entries == 3
    with connection.cursor() as cursor:  # as somebody could who owns the database
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("DELETE FROM activity_activity WHERE position > 1")
        cursor.execute("SET LOCAL session_replication_role = origin")
    assert check_log(owner.organization_id).ok
    assert not check_log(owner.organization_id, earlier).ok
    other = create_organization("Elsewhere", "free")
    assert not check_log(other.pk, earlier).ok


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"format": "paraph-activity/1", "entries": 1}', b"\xff\xfe"])
def test_what_is_no_export_is_not_valid(content: bytes) -> None:
    assert not check_export(content).ok


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


def test_acts_are_told_in_words(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    assert set(WORDS) == set(Action)
    note(owner.organization_id, OPERATOR, Action.MEMBER_ROLE_CHANGED)
    answer = client.get(f"/app/{owner.organization_id}/activity", headers={"Accept-Language": "de"})
    page = answer.content.decode()
    assert "Rolle geändert<br><small><code>member.role_changed</code>" in page
    assert '<option value="member.role_changed">Rolle geändert</option>' in page


def test_an_act_that_a_newer_version_has_noted_stands_there_by_its_code(log_in: LogIn) -> None:
    owner, client = log_in(Role.OWNER)
    entry = note(owner.organization_id, OPERATOR, Action.ORGANIZATION_UPDATED)
    row = Activity(**{**{field.attname: getattr(entry, field.attname) for field in Activity._meta.fields}, "pk": None})
    row.position, row.action = 2, "moon.landed"
    row.save(force_insert=True)
    page = client.get(f"/app/{owner.organization_id}/activity")
    assert page.status_code == 200 and "moon.landed" in page.content.decode()
