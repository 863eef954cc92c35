"""Organizations, applications and their keys, branding profiles."""

import hashlib
from datetime import timedelta

import pytest

from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.admission import admit
from paraph.tenants.applications import webhook_secret
from paraph.tenants.models import ApiKey, Application, Organization
from paraph.tenants.organizations import create_organization
from tests.tenancy import (
    create_application,
    create_branding_profile,
    revoke_application,
    revoke_key,
    rotate,
    update_application,
    update_organization,
)

pytestmark = pytest.mark.django_db
COLORS = {"background_color": "#ffffff", "text_color": "#1A2b3c", "accent_color": "#000000"}


@pytest.fixture
def pro() -> Organization:
    return create_organization(OPERATOR, "  Acme Œuvres ", "pro")


def test_a_key_is_64_hex_digits_and_only_its_hash_is_kept(pro: Organization) -> None:
    made = create_application(pro.pk, "sandbox", "backend", "https://acme.example/hook")
    assert pro.name == "Acme Œuvres"
    assert len(made.api_key) == 64
    assert set(made.api_key) <= set("0123456789abcdef")
    key = ApiKey.objects.get(application=made.application)
    assert bytes(key.sha256) == hashlib.sha256(made.api_key.encode()).digest()


def test_the_webhook_secret_is_encrypted_and_comes_back(pro: Organization) -> None:
    made = create_application(pro.pk, "production", "backend")
    stored = Application.objects.get(pk=made.application.pk)
    assert made.webhook_secret.encode() not in bytes(stored.webhook_secret_encrypted)
    assert webhook_secret(bytes(stored.webhook_secret_encrypted)) == made.webhook_secret


def test_production_on_free_may_be_made_for_its_calls_say_402() -> None:
    free = create_organization(OPERATOR, "Free", "free")
    assert create_application(free.pk, "production", "x").application.environment == "production"


def test_revoking_ends_all_keys_once(pro: Organization) -> None:
    application = create_application(pro.pk, "sandbox", "x").application
    assert revoke_application(application.pk) == 1
    assert revoke_application(application.pk) == 0
    assert ApiKey.objects.filter(revoked_at=None).count() == 0
    with pytest.raises(DomainError, match="no application 999999"):
        revoke_application(999999)


@pytest.mark.parametrize(("plan", "limit"), [("free", 0), ("pro", 2), ("enterprise", 10)])
def test_branding_profiles_up_to_the_plans_limit(plan: str, limit: int) -> None:
    organization = create_organization(OPERATOR, "x", plan)
    for number in range(limit):
        create_branding_profile(organization.pk, f"Profile {number}", **COLORS)
    with pytest.raises(DomainError, match=f"allows {limit} branding profiles") as refusal:
        create_branding_profile(organization.pk, "one more", **COLORS)
    assert refusal.value.code == "forbidden"


@pytest.mark.parametrize("color", ["fff", "#fff", "#12345g", "red", "#1234567", "#١٢٣٤٥٦"])
def test_colours_are_hexadecimal(pro: Organization, color: str) -> None:
    with pytest.raises(DomainError, match="accent_color must be a colour"):
        create_branding_profile(pro.pk, "x", **{**COLORS, "accent_color": color})


@pytest.mark.parametrize("url", ["acme.example", "ftp://acme.example", "https://", "https://a b", "https://a:x/"])
def test_webhook_urls_are_web_addresses(pro: Organization, url: str) -> None:
    with pytest.raises(DomainError, match="webhook_url "):
        create_application(pro.pk, "sandbox", "x", url)


def test_mistakes_get_a_sentence(pro: Organization) -> None:
    with pytest.raises(DomainError, match="plan must be one of free, pro, enterprise, not 'gold'"):
        create_organization(OPERATOR, "x", "gold")
    with pytest.raises(DomainError, match="environment must be one of sandbox, production"):
        create_application(pro.pk, "test", "x")
    with pytest.raises(DomainError, match="no organization 999999"):
        create_application(999999, "sandbox", "x")
    for name in ("", "  ", "x" * 201, "a\0b", "a\nb"):
        with pytest.raises(DomainError, match="name must have"):
            create_organization(OPERATOR, name, "free")


def test_production_is_a_second_application(pro: Organization) -> None:
    """With a key of its own: nothing makes a production key of a sandbox one."""
    sandbox = create_application(pro.pk, "sandbox", "backend")
    production = create_application(pro.pk, "production", "backend")
    assert sandbox.api_key != production.api_key
    assert sandbox.application.pk != production.application.pk
    assert (
        Application.objects.get(keys__sha256=hashlib.sha256(sandbox.api_key.encode()).digest()).environment == "sandbox"
    )


def test_an_application_has_one_webhook_url(pro: Organization) -> None:
    made = create_application(pro.pk, "sandbox", "backend", "https://acme.example/hook")
    with pytest.raises(DomainError, match="webhook_url "):
        create_application(pro.pk, "sandbox", "backend", "https://a.example/hook https://b.example/hook")
    assert Application.objects.get(pk=made.application.pk).webhook_url == "https://acme.example/hook"


def test_what_is_not_named_stays_as_it_is(pro: Organization) -> None:
    update_organization(pro.pk, refuse_changeable_documents=True)
    update_organization(pro.pk, contact_email=" contracts@acme.example ")
    kept = Organization.objects.get(pk=pro.pk)
    assert kept.refuse_changeable_documents and kept.contact_email == "contracts@acme.example"
    update_organization(pro.pk, contact_email="")
    assert Organization.objects.get(pk=pro.pk).contact_email == ""


@pytest.mark.parametrize("address", ["acme", "a@b@c", "a@acme.example\nBcc: x@y.example", "x" * 400 + "@acme.example"])
def test_a_contact_that_is_no_address_is_refused(pro: Organization, address: str) -> None:
    with pytest.raises(DomainError, match="contact_email must be an e-mail address"):
        update_organization(pro.pk, contact_email=address)


def test_an_organization_changes_its_name_and_plan(pro: Organization) -> None:
    changed = update_organization(pro.pk, name=" Acme & Söhne ", plan="free")
    assert (changed.name, changed.plan) == ("Acme & Söhne", "free")
    with pytest.raises(DomainError, match="plan must be one of"):
        update_organization(pro.pk, plan="gold")


def test_an_application_changes_its_name_and_webhook_url_alone(pro: Organization) -> None:
    made = create_application(pro.pk, "sandbox", "shop", "https://a.example/hook", ["https://a.example"]).application
    update_application(made.pk, name="store", webhook_url="https://b.example/hook")
    made.refresh_from_db()
    assert (made.name, made.webhook_url, made.frame_origins) == ("store", "https://b.example/hook", "https://a.example")
    with pytest.raises(DomainError, match="webhook_url"):
        update_application(made.pk, webhook_url="gopher://a.example")


def test_one_key_is_revoked_and_the_other_holds(pro: Organization) -> None:
    made = create_application(pro.pk, "sandbox", "shop")
    rotated = rotate(made.application.pk, timedelta(hours=1))
    first = ApiKey.objects.order_by("pk")[0]
    assert revoke_key(first.pk).revoked_at is not None
    assert (admit(made.api_key), admit(rotated.api_key) is not None) == (None, True)
    with pytest.raises(DomainError, match="no key 999999"):
        revoke_key(999999)
