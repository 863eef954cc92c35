"""Settings of an organization, how long files are kept, and its deletion."""

from typing import Any

import pytest
from django.test import Client

from paraph.drafts.models import Draft
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.lifecycle import retention_days
from paraph.tenants.limits import admit
from paraph.tenants.models import Activity, BrandingProfile, Member, Organization, Retention, Role
from paraph.tenants.organizations import change_request_defaults
from tests.api.v1.api_clients import api_client
from tests.dashboard.conftest import LogIn, MemberClient, proved, read, scene
from tests.tenancy import create_application, create_branding_profile, create_organization

GIVEN = {"name": "Analytical Engines", "contact_email": "desk@example.com", "mails_copy_links": "on"}


@pytest.fixture
def log_in(log_in: LogIn) -> LogIn:
    """Like the shared fixture, but the members have just proved who they are."""

    def log_in_anew(*arguments: Any, **more: Any) -> MemberClient:
        member, client = log_in(*arguments, **more)
        return member, proved(client)

    return log_in_anew


def address(member: Member, rest: str = "") -> str:
    return f"/app/{member.organization_id}/settings{rest}"


def test_settings_are_changed_and_it_is_noted(log_in: LogIn) -> None:
    member, client = log_in(Role.ADMIN)
    saved = client.post(address(member), GIVEN)
    assert (saved.status_code, saved.headers["Location"]) == (303, address(member))
    assert 'value="desk@example.com"' in read(client.get(address(member)))
    [act] = Activity.objects.all()
    assert (act.action, act.actor, act.ip) == ("organization.updated", member.user.email, "127.0.0.1")
    assert (act.before, act.after) == ({"contact_email": ""}, {"contact_email": "desk@example.com"})
    client.post(address(member), GIVEN)
    assert Activity.objects.count() == 1, "nothing changed"


def test_an_application_hears_of_requests_sent_from_the_dashboard(log_in: LogIn) -> None:
    member, client = log_in()
    other = create_organization("Other", "pro").pk
    owners = ((member.organization_id, "production"), (member.organization_id, "sandbox"), (other, "production"))
    shop, *others = (
        create_application(owner, environment, environment).application.pk for owner, environment in owners
    )
    page = read(client.get(address(member)))
    assert '<option value="" selected>None</option>' in page and f'<option value="{shop}">production</option>' in page
    for foreign in others:
        assert f'<option value="{foreign}"' not in page
        assert client.post(address(member), GIVEN | {"web_application_id": foreign}).status_code == 422
    assert client.post(address(member), GIVEN | {"web_application_id": shop}).status_code == 303
    act = Activity.objects.latest("pk")
    assert (act.before["web_application_id"], act.after["web_application_id"]) == (None, shop)
    assert f'<option value="{shop}" selected>' in read(client.get(address(member)))
    _, reader = log_in(Role.OBSERVER)
    assert "<dd>production</dd>" in read(reader.get(address(member)))
    assert client.post(address(member), GIVEN).status_code == 303
    assert not Organization.objects.exclude(web_application=None).exists()


def test_members_read_them_alone(log_in: LogIn) -> None:
    member, client = log_in(Role.MEMBER)
    page = read(client.get(address(member)))
    assert "Analytical Engines" in page and "<button" not in page.partition("<main")[2].partition("</main>")[0]


DEFAULTS = {"locale": "de", "validity_days": "14", "remind_every_days": "3", "reminders_at_most": "5"}
DEFAULTS |= {"message": "Kind regards\r\nAda"}


def test_new_requests_begin_with_what_the_organization_wants(log_in: LogIn, organization: Organization) -> None:
    profile = create_branding_profile(organization.pk)
    member, client = log_in()
    saved = client.post(address(member, "/defaults"), DEFAULTS | {"branding_profile": str(profile.pk)})
    assert (saved.status_code, saved.headers["Location"]) == (303, address(member))
    assert "Kind regards\nAda</textarea>" in read(client.get(address(member)))
    client.post(f"/app/{organization.pk}/drafts")
    draft = Draft.objects.get()
    assert (draft.locale, draft.message) == ("de", "Kind regards\nAda")
    kept = ("validity_days", "reminders", "branding_profile_id", "decline_allowed")
    reminders = {"every_days": 3, "at_most": 5}
    assert [draft.content.get(name) for name in kept] == [14, reminders, profile.pk, True]
    BrandingProfile.objects.update(deleted_at=clock.now())
    client.post(f"/app/{organization.pk}/drafts/new")
    assert "branding_profile_id" not in Draft.objects.latest("pk").content
    [act] = Activity.objects.filter(action="organization.updated")
    assert act.before == dict.fromkeys(act.after, None) and act.after["default_message"] == "…"
    assert (act.after["default_locale"], act.after["default_validity_days"]) == ("de", 14)


def test_what_was_begun_and_what_programs_make_has_no_defaults(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in()
    client.post(f"/app/{organization.pk}/drafts")
    client.post(address(member, "/defaults"), DEFAULTS)
    program = api_client("pro", "production", organization)
    assert program.post("/drafts", {"signature_request": {}}).status_code == 201
    for draft in Draft.objects.all():
        assert (draft.locale, draft.message, draft.content["validity_days"]) == ("en", "", 30)


def test_a_default_that_no_request_may_have_is_refused(log_in: LogIn, organization: Organization) -> None:
    other = create_branding_profile(create_organization("Other", "pro").pk).pk
    member, client = log_in()
    create_branding_profile(organization.pk)
    wrong = {"validity_days": "91", "locale": "tlh", "branding_profile": str(other), "message": "x" * 5001}
    for name, value in wrong.items():
        assert client.post(address(member, "/defaults"), DEFAULTS | {name: value}).status_code == 422, name
    with pytest.raises(DomainError):
        change_request_defaults(organization.pk, OPERATOR, {"branding_profile_id": other})
    organization.refresh_from_db()
    assert organization.request_defaults is None and not Activity.objects.filter(action="organization.updated")


def test_owners_say_how_long_files_and_people_are_kept(log_in: LogIn, organization: Organization) -> None:
    Retention.objects.create(organization=organization, environment="sandbox", days=30)
    member, client = log_in()
    given = {"production": "3650", "sandbox": ""}
    assert client.post(address(member, "/retention"), given).status_code == 303
    assert retention_days(organization.pk) == {"sandbox": None, "production": 3650}
    assert [(act.before["days"], act.after["days"]) for act in Activity.objects.all()] == [(30, None), (None, 3650)]
    assert client.post(address(member, "/retention"), {"production": "0"}).status_code == 422
    given = {"production": "365", "production_people": "730", "sandbox": "30", "sandbox_people": ""}
    assert client.post(address(member, "/retention"), given).status_code == 303
    assert retention_days(organization.pk, "people_days") == {"sandbox": None, "production": 730}
    page = read(client.get(address(member)))
    assert 'name="production_people" value="730"' in page
    assert "Files name people" in read(
        client.post(address(member, "/retention"), given | {"production_people": "364"}), 422
    )
    refused = client.post(address(member, "/retention"), {"sandbox_people": "30"})
    assert refused.status_code == 422
    assert retention_days(organization.pk, "people_days") == {"sandbox": None, "production": 730}
    _, reader = log_in(Role.OBSERVER)
    page = read(reader.get(address(member)))
    assert "365 days" in page and "730 days" in page


def test_the_operator_can_keep_retention_to_themselves(log_in: LogIn, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"owners_set_retention": False})
    member, client = log_in()
    assert "only the operator can change" in read(client.get(address(member)))
    assert client.post(address(member, "/retention"), {"production": "1"}).status_code == 422
    assert set(retention_days(member.organization_id).values()) == {None}


def test_a_deleted_organization_is_gone_at_once_for_everybody(log_in: LogIn) -> None:
    stage = scene()
    organization = stage.request.organization
    made = create_application(organization.pk, "production", "Backend")
    owner, client = log_in(Role.OWNER, at=organization)
    _, other = log_in(Role.MEMBER, at=organization)
    typed = {"typed_name": organization.name}
    assert client.post(address(owner, "/delete"), {"typed_name": "Another"}).status_code == 422
    assert admit(made.api_key) is not None
    gone = client.post(address(owner, "/delete"), typed)
    assert (gone.status_code, gone.headers["Location"]) == (303, "/app/")
    assert admit(made.api_key) is None
    for rest in ("", "members", "activity", "plan", "settings"):
        for browser in (client, other):
            assert browser.get(f"/app/{organization.pk}/{rest}").status_code == 404
    assert "You belong to no organization" in read(client.get("/app/"))
    assert Client().get(stage.url()).status_code == 404
    stage.request.refresh_from_db()
    assert stage.request.status == "expired"
    acts = list(Activity.objects.filter(organization=organization))
    assert acts[-1].action == "organization.deleted" and acts[-1].actor == owner.user.email
