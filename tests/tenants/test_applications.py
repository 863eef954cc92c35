"""Organizations, branding profiles, applications: their keys, secrets and the sites that may frame their pages."""

import hashlib
import hmac
from datetime import timedelta

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants import organizations
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.admission import admit
from paraph.tenants.applications import frame_origins, webhook_secret
from paraph.tenants.models import ApiKey, Application, Organization
from paraph.webhooks.delivery_queue import record_outcomes
from tests.factories import Scene
from tests.tenancy import (
    create_application,
    create_branding_profile,
    create_organization,
    revoke_application,
    revoke_key,
    rotate,
    update_application,
    update_organization,
)
from tests.webhooks.parties import ACCEPTED, prepared_deliveries, record, told

pytestmark = pytest.mark.django_db
COLORS = {"background_color": "#ffffff", "text_color": "#1A2b3c", "accent_color": "#000000"}


@pytest.fixture
def pro() -> Organization:
    return organizations.create_organization(OPERATOR, "  Acme Œuvres ", "pro")


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
    free = organizations.create_organization(OPERATOR, "Free", "free")
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
    organization = organizations.create_organization(OPERATOR, "x", plan)
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
        organizations.create_organization(OPERATOR, "x", "gold")
    with pytest.raises(DomainError, match="environment must be one of sandbox, production"):
        create_application(pro.pk, "test", "x")
    with pytest.raises(DomainError, match="no organization 999999"):
        create_application(999999, "sandbox", "x")
    for name in ("", "  ", "x" * 201, "a\0b", "a\nb"):
        with pytest.raises(DomainError, match="name must have"):
            organizations.create_organization(OPERATOR, name, "free")


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


@pytest.mark.parametrize(
    ("given", "origin"),
    [
        ("https://example.com", "https://example.com"),
        ("HTTPS://Shop.Example.com/", "https://shop.example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("https://exämple.com", "https://xn--exmple-cua.com"),
        ("https://10.0.0.7", "https://10.0.0.7"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ],
)
def test_an_origin_is_kept_as_browsers_write_it(given: str, origin: str) -> None:
    assert frame_origins([given, given]) == [origin]


@pytest.mark.parametrize(
    "given",
    [
        "",
        "*",
        "null",
        "example.com",
        "http://example.com",
        "http://localhost.example.com",
        "https://*.example.com",
        "https://example.com/path",
        "https://example.com//",
        "https://example.com?",
        "https://example.com#a",
        "https://user@example.com",
        "https://example.com; script-src *",
        "https://example.com;script-src",
        "https://example.com,https://other.example",
        "https://example.com'none'",
        "https://exa%6dple.com",
        "https://[::1]",
        "https://example.com:0",
        "javascript:alert(1)",
        "https://example.com\nX: y",
        "x" * 5000,
    ],
)
def test_what_is_no_origin_gets_one_sentence(given: str) -> None:
    with pytest.raises(DomainError) as refused:
        frame_origins([given])
    assert refused.value.code == "validation_error"
    sentence = "is not the origin of a site, such as https://example.com (http only for localhost)."
    assert refused.value.message == f"frame_origin {given[:80]!r} {sentence}"


def test_twenty_at_most() -> None:
    sites = [f"https://{number}.example.com" for number in range(20)]
    assert frame_origins(sites) == sites
    with pytest.raises(DomainError, match="may name at most 20 sites, not 21"):
        frame_origins([*sites, "https://example.com"])


def test_an_application_names_them_and_may_take_them_back() -> None:
    organization = create_organization("Acme", "pro")
    made = create_application(organization.pk, "sandbox", "shop", origins=["https://a.example", "https://b.example"])
    assert made.application.frame_origins == "https://a.example https://b.example"
    assert update_application(made.application.pk, ["https://c.example"]).frame_origins == "https://c.example"
    with pytest.raises(DomainError):
        update_application(made.application.pk, ["https://d.example", "d"])
    assert Application.objects.get().frame_origins == "https://c.example"
    assert update_application(made.application.pk, []).frame_origins == ""
    with pytest.raises(DomainError, match="There is no application 0"):
        update_application(0, [])


DAY = timedelta(days=1)


def after(monkeypatch: pytest.MonkeyPatch, passed: timedelta) -> None:
    moment = clock.now() + passed
    monkeypatch.setattr(clock, "now", lambda: moment)


def holds(key: str) -> bool:
    return admit(key) is not None


def test_both_keys_hold_until_the_overlap_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop")
    rotated = rotate(made.application.pk, DAY)
    assert (holds(made.api_key), holds(rotated.api_key)) == (True, True)
    after(monkeypatch, DAY)
    assert (holds(made.api_key), holds(rotated.api_key)) == (False, True)


def test_rotating_again_ends_the_overlap_that_runs() -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop")
    first = rotate(made.application.pk, DAY)
    second = rotate(made.application.pk, DAY)
    assert [holds(key) for key in (made.api_key, first.api_key, second.api_key)] == [False, True, True]
    assert ApiKey.objects.filter(revoked_at=None).count() == 1


def test_without_an_overlap_the_key_before_ends_at_once() -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop")
    rotated = rotate(made.application.pk, timedelta(0))
    assert (holds(made.api_key), holds(rotated.api_key)) == (False, True)


def test_webhooks_carry_both_signatures_during_the_overlap_and_then_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, secret = told()
    following = rotate(application_id(made), DAY).webhook_secret
    record(made.request, "signer.notified", made.signers[0])
    [delivery] = prepared_deliveries()
    assert _signatures(delivery.headers) == [_hmac(secret, delivery.body), _hmac(following, delivery.body)]
    record_outcomes([(delivery.claimed.attempt_id, ACCEPTED)], clock.now())
    after(monkeypatch, DAY)
    record(made.request, "signer.notified", made.signers[0])
    [delivery] = prepared_deliveries()
    assert _signatures(delivery.headers) == [_hmac(following, delivery.body)]


def test_a_secret_that_is_rotated_twice_is_signed_with_the_last_two() -> None:
    made, _ = told()
    second = rotate(application_id(made), DAY).webhook_secret
    third = rotate(application_id(made), DAY).webhook_secret
    record(made.request, "signer.notified", made.signers[0])
    [delivery] = prepared_deliveries()
    assert _signatures(delivery.headers) == [_hmac(second, delivery.body), _hmac(third, delivery.body)]
    stored = Application.objects.get(pk=application_id(made))
    assert third.encode() not in bytes(stored.next_webhook_secret_encrypted or b"")


@pytest.mark.parametrize("overlap", [timedelta(days=91), timedelta(seconds=-1)])
def test_an_overlap_has_bounds(overlap: timedelta) -> None:
    made = create_application(create_organization("Acme", "pro").pk, "sandbox", "shop")
    with pytest.raises(DomainError, match="at most 90 days"):
        rotate(made.application.pk, overlap)
    assert ApiKey.objects.count() == 1


def _signatures(headers: dict[str, str]) -> list[str]:
    return [headers[name] for name in ("X-Service-Signature", "X-Service-Signature-Next") if name in headers]


def _hmac(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def application_id(made: Scene) -> int:
    assert made.request.application_id
    return made.request.application_id
