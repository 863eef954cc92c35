"""Applications and their keys: secrets shown once, sensitive changes after a recent log-in, uses side by side."""

import re

import pytest
from django.test import Client

from paraph.tenants.limits import admit
from paraph.tenants.models import Activity, Application, Organization, Role
from tests.api.v1.api_clients import ApiClient
from tests.columns import found_in
from tests.dashboard.conftest import PASSWORD, just_logged_in, proved, read
from tests.tenancy import create_application, create_organization

NEW = {"name": "backend", "environment": "sandbox", "webhook_url": "https://hooks.example/in"}


@pytest.fixture
def pages(organization: Organization) -> str:
    return f"/app/{organization.pk}/applications"


@pytest.fixture
def client(organization: Organization) -> Client:
    return just_logged_in(organization, Role.ADMIN, "ada@example.com")


def secret(page: str, name: str) -> str:
    [found] = re.findall(rf'data-secret="{name}">([0-9a-f]{{64}})<', page)
    return str(found)


def test_key_and_secret_stand_in_one_answer_and_nowhere_else(
    client: Client, pages: str, organization: Organization, capfd: pytest.CaptureFixture[str]
) -> None:
    made = client.post(f"{pages}/new", NEW)
    page = made.content.decode()
    key, webhook_secret = secret(page, "api_key"), secret(page, "webhook_secret")
    assert made.status_code == 200
    assert "no-store" in made["Cache-Control"] and made["Referrer-Policy"] == "no-referrer"
    assert f"curl -H &quot;X-Api-Key: {key}" in page or f'curl -H "X-Api-Key: {key}' in page
    assert "<form" not in page, "browsers would send it without an origin"
    assert admit(key) is not None
    application = Application.objects.get()
    address = f"{pages}/{application.pk}"
    later = [client.get(at) for at in (pages, f"{pages}/new", address, f"{address}/deliveries", "/app/", "/account/")]
    written = "".join(capfd.readouterr())
    for text in (key, webhook_secret):
        assert found_in({"it": [text]}) == set()
        assert not any(text in str(answer.content) + str(answer.headers) for answer in later)
        assert text not in written
    [act] = Activity.objects.filter(action="application.created")
    assert (act.subject, act.actor, act.after["environment"]) == ("backend", "ada@example.com", "sandbox")


def test_a_form_with_errors_makes_nothing(client: Client, pages: str) -> None:
    for changes, said in (
        ({"name": " ", "environment": "moon"}, 'role="alert"'),
        ({"webhook_url": "ftp://hooks.example/"}, 'href="#id_webhook_url">Webhook URL</a>: Must start with https://'),
    ):
        assert said in read(client.post(f"{pages}/new", NEW | changes), 422)
    assert not Application.objects.exists()


def test_settings_change_and_are_noted_with_what_they_were(
    client: Client, pages: str, organization: Organization
) -> None:
    made = create_application(organization.pk, "sandbox", "backend").application
    given = {"name": "shop", "webhook_url": "https://shop.example/", "frame_origins": "https://shop.example\n"}
    taken = client.post(f"{pages}/{made.pk}/settings", given)
    assert (taken.status_code, taken["Location"]) == (303, f"{pages}/{made.pk}")
    made.refresh_from_db()
    assert (made.name, made.webhook_url, made.frame_origins) == tuple(text.strip() for text in given.values())
    [act] = Activity.objects.filter(action="application.updated")
    assert act.before == {"name": "backend", "webhook_url": "", "frame_origins": []}
    assert "#id_frame_origins" in read(
        client.post(f"{pages}/{made.pk}/settings", given | {"frame_origins": "https://*.example"}), 422
    )


def test_a_log_in_counts_for_five_minutes_and_a_form_that_came_later_is_taken_after_the_password(
    client: Client, pages: str
) -> None:
    proved(client, 290)
    assert client.get(f"{pages}/new").status_code == 200
    proved(client, 301)
    assert client.get(pages).status_code == 200
    new = f"{pages}/new".replace("/", "%2F")
    assert client.get(f"{pages}/new")["Location"] == f"/account/reauthenticate/?next={new}"
    asked = client.post(f"{pages}/new", NEW)
    assert asked.status_code == 303
    assert client.post(asked["Location"], {"password": "wrong"}).status_code == 422
    shown = client.post(asked["Location"], {"password": PASSWORD})
    assert admit(secret(shown.content.decode(), "api_key"))
    assert "no-store" in shown["Cache-Control"] and shown["Referrer-Policy"] == "no-referrer"


def test_a_rotation_shows_both_keys_and_ends_the_silent_one(
    client: Client, pages: str, organization: Organization
) -> None:
    made = create_application(organization.pk, "sandbox", "backend")
    one = f"{pages}/{made.application.pk}"
    rotated = client.post(f"{one}/keys", {"overlap": "24"})
    key = secret(rotated.content.decode(), "api_key")
    assert "has not been used" in read(client.get(one))
    for _ in range(3):
        assert admit(made.api_key)
    page = read(client.get(one))
    assert "is still in use" in page and 'data-label="Calls in the last hour">3<' in page
    old, new = made.application.keys.order_by("pk")
    assert client.post(f"{one}/keys/{old.pk}/end").status_code == 303
    assert (admit(made.api_key), admit(key) is None) == (None, False)
    assert client.post(f"{pages}/{made.application.pk}/keys/{new.pk + 99}/end").status_code == 404


def test_revoking_wants_the_name_and_ends_every_key(client: Client, pages: str, organization: Organization) -> None:
    made = create_application(organization.pk, "sandbox", "backend")
    revoke = f"{pages}/{made.application.pk}/revoke"
    assert "Calls in the last hour" in read(client.post(revoke, {"application_name": "back"}), 422)
    assert admit(made.api_key) is not None
    assert client.post(revoke, {"application_name": "backend"}).status_code == 303
    assert admit(made.api_key) is None
    assert Activity.objects.filter(action="application.revoked").count() == 1


def test_a_key_that_was_found_is_known_by_its_hash_within_the_organization(
    client: Client, pages: str, organization: Organization
) -> None:
    made = create_application(organization.pk, "sandbox", "backend")
    other = create_application(create_organization("Other", "pro").pk, "sandbox", "theirs")
    found = client.post(f"{pages}/which", {"key": f" {made.api_key}\n"})
    key = made.application.keys.get()
    assert (found.status_code, found["Location"]) == (303, f"{pages}/{made.application.pk}#key-{key.pk}")
    for unknown in (other.api_key, "nonsense"):
        refused = read(client.post(f"{pages}/which", {"key": unknown}), 422)
        assert "This key does not belong" in refused and unknown not in refused
    assert found_in({"it": [made.api_key]}) == set()


def test_production_is_refused_on_the_plan_free_with_the_plans_named(
    client: Client, pages: str, organization: Organization
) -> None:
    Organization.objects.update(plan="free")
    page = read(client.post(f"{pages}/new", NEW | {"environment": "production"}), 422)
    assert "Production keys require the Pro or Enterprise plan. Your organization is on the Free plan." in page
    assert 'href="#id_environment"' in page and not Application.objects.exists()
    assert client.post(f"{pages}/new", NEW).status_code == 200, "the sandbox is for all plans"
    made = create_application(organization.pk, "production", "early")
    assert ApiClient(made.api_key).get("/health").status_code == 402
    Organization.objects.update(plan="pro")
    assert client.post(f"{pages}/new", NEW | {"environment": "production"}).status_code == 200
