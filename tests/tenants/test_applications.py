"""Organizations, branding profiles, applications: their keys, secrets and the sites that may frame their pages."""

import hashlib
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants import organizations
from paraph.tenants.admin_log import OPERATOR
from paraph.tenants.applications import NewApplication, frame_origins, webhook_secret
from paraph.tenants.limits import admit
from paraph.tenants.models import ApiKey, Application, Organization
from paraph.webhooks.delivery_queue import record_outcomes
from paraph.webhooks.outbox import signature
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


@pytest.fixture
def shop(pro: Organization) -> NewApplication:
    return create_application(pro.pk, "sandbox", "shop", "https://a.example/hook", ["https://a.example"])


def test_a_key_is_64_hex_digits_and_only_its_hash_is_kept(pro: Organization, shop: NewApplication) -> None:
    """The webhook secret is encrypted. Production needs an application of its own: no sandbox key becomes its key."""
    production = create_application(pro.pk, "production", "shop")
    assert pro.name == "Acme Œuvres" and shop.api_key != production.api_key
    for made, environment in ((shop, "sandbox"), (production, "production")):
        assert len(made.api_key) == 64 and set(made.api_key) <= set("0123456789abcdef")
        stored = Application.objects.get(keys__sha256=hashlib.sha256(made.api_key.encode()).digest())
        assert (stored.pk, stored.environment) == (made.application.pk, environment)
        assert made.webhook_secret.encode() not in bytes(stored.webhook_secret_encrypted)
        assert webhook_secret(bytes(stored.webhook_secret_encrypted)) == made.webhook_secret
    free = create_organization("Free", "free")
    assert create_application(free.pk, "production", "x").application.environment == "production", "its calls say 402"


def test_revoking_ends_all_keys_once_or_one_of_them(pro: Organization, shop: NewApplication) -> None:
    rotated = rotate(shop.application.pk, timedelta(hours=1))
    first = ApiKey.objects.order_by("pk")[0]
    assert revoke_key(first.pk).revoked_at is not None
    assert (admit(shop.api_key), admit(rotated.api_key) is not None) == (None, True)
    assert revoke_application(shop.application.pk) == 1
    assert revoke_application(shop.application.pk) == 0
    assert ApiKey.objects.filter(revoked_at=None).count() == 0
    with pytest.raises(DomainError, match="no application 999999"):
        revoke_application(999999)
    with pytest.raises(DomainError, match="no key 999999"):
        revoke_key(999999)


@pytest.mark.parametrize(("plan", "limit"), [("free", 0), ("pro", 2), ("enterprise", 10)])
def test_branding_profiles_up_to_the_plans_limit(plan: str, limit: int) -> None:
    organization = organizations.create_organization(OPERATOR, "x", plan)
    for number in range(limit):
        create_branding_profile(organization.pk, f"Profile {number}", **COLORS)
    with pytest.raises(DomainError, match=f"allows {limit} branding profiles") as refusal:
        create_branding_profile(organization.pk, "one more", **COLORS)
    assert refusal.value.code == "forbidden"


def test_mistakes_get_a_sentence(pro: Organization, shop: NewApplication) -> None:
    def organization(name: str, plan: str) -> object:
        return organizations.create_organization(OPERATOR, name, plan)

    acts: list[tuple[str, Callable[[], object]]] = [
        ("plan must be one of free, pro, enterprise, not 'gold'", lambda: organization("x", "gold")),
        ("plan must be one of", lambda: update_organization(pro.pk, plan="gold")),
        ("environment must be one of sandbox, production", lambda: create_application(pro.pk, "test", "x")),
        ("no organization 999999", lambda: create_application(999999, "sandbox", "x")),
        ("There is no application 0", lambda: update_application(0, [])),
        ("accent_color must be a", partial(create_branding_profile, pro.pk, "x", **COLORS | {"accent_color": "red"})),
        ("webhook_url ", lambda: create_application(pro.pk, "sandbox", "x", "ftp://acme.example")),
        ("webhook_url", lambda: update_application(shop.application.pk, webhook_url="gopher://a.example")),
    ]
    acts += [("name must have", partial(organization, name, "free")) for name in ("", "  ", "x" * 201, "a\0b", "a\nb")]
    acts += [
        ("contact_email must be an e-mail address", partial(update_organization, pro.pk, contact_email=address))
        for address in ("acme", "a@b@c", "a@acme.example\nBcc: x@y.example", "x" * 400 + "@acme.example")
    ]
    acts += [
        ("at most 90 days", partial(rotate, shop.application.pk, overlap))
        for overlap in (timedelta(days=91), timedelta(seconds=-1))
    ]
    for sentence, act in acts:
        with pytest.raises(DomainError, match=sentence):
            act()
    assert ApiKey.objects.count() == Application.objects.count() == 1


def test_what_is_not_named_stays_as_it_is(pro: Organization, shop: NewApplication) -> None:
    update_organization(pro.pk, refuse_changeable_documents=True)
    update_organization(pro.pk, contact_email=" contracts@acme.example ")
    kept = Organization.objects.get(pk=pro.pk)
    assert kept.refuse_changeable_documents and kept.contact_email == "contracts@acme.example"
    assert update_organization(pro.pk, contact_email="").contact_email == ""
    changed = update_organization(pro.pk, name=" Acme & Söhne ", plan="free")
    assert (changed.name, changed.plan) == ("Acme & Söhne", "free")
    made = update_application(shop.application.pk, name="store", webhook_url="https://b.example/hook")
    made.refresh_from_db()
    assert (made.name, made.webhook_url, made.frame_origins) == ("store", "https://b.example/hook", "https://a.example")


def test_an_origin_is_kept_as_browsers_write_it_and_of_twenty_sites_at_most() -> None:
    for given, origin in (
        ("https://example.com", "https://example.com"),
        ("HTTPS://Shop.Example.com/", "https://shop.example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:8443", "https://example.com:8443"),
        ("https://exämple.com", "https://xn--exmple-cua.com"),
        ("https://10.0.0.7", "https://10.0.0.7"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
    ):
        assert frame_origins([given, given]) == [origin]
    sites = [f"https://{number}.example.com" for number in range(20)]
    assert frame_origins(sites) == sites
    with pytest.raises(DomainError, match="may name at most 20 sites, not 21"):
        frame_origins([*sites, "https://example.com"])


def test_what_is_no_origin_gets_one_sentence() -> None:
    for given in (
        "", "*", "null", "example.com", "http://example.com", "http://localhost.example.com", "https://*.example.com",
        "https://example.com/path", "https://example.com//", "https://example.com?", "https://example.com#a",
        "https://user@example.com", "https://example.com; script-src *", "https://example.com;script-src",
        "https://example.com,https://other.example", "https://example.com'none'", "https://exa%6dple.com",
        "https://[::1]", "https://example.com:0", "javascript:alert(1)", "https://example.com\nX: y", "x" * 5000,
    ):  # fmt: skip
        with pytest.raises(DomainError) as refused:
            frame_origins([given])
        assert refused.value.code == "validation_error"
        sentence = "is not the origin of a site, such as https://example.com (http only for localhost)."
        assert refused.value.message == f"frame_origin {given[:80]!r} {sentence}"


DAY = timedelta(days=1)


def test_both_keys_hold_until_the_overlap_ends(shop: NewApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotating again ends the current overlap; without an overlap, the key before ends at once."""

    def hold() -> list[bool]:
        return [admit(made.api_key) is not None for made in keys]

    keys = [shop, rotate(shop.application.pk, DAY)]
    assert hold() == [True, True]
    moment = clock.now() + DAY
    monkeypatch.setattr(clock, "now", lambda: moment)
    assert hold() == [False, True]
    keys.append(rotate(shop.application.pk, DAY))
    assert hold() == [False, True, True]
    keys.append(rotate(shop.application.pk, DAY))
    assert hold() == [False, False, True, True] and ApiKey.objects.filter(revoked_at=None).count() == 1
    keys.append(rotate(shop.application.pk, timedelta(0)))
    assert hold() == [False, False, False, False, True]


def test_webhooks_carry_both_signatures_during_the_overlap_and_then_the_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made, secret = told()

    def is_signed_with(*secrets: str) -> bool:
        record(made.request, "signer.notified", made.signers[0])
        [delivery] = prepared_deliveries()
        record_outcomes([(delivery.claimed.attempt_id, ACCEPTED)], clock.now())
        return _signatures(delivery.headers) == [signature(each, delivery.body) for each in secrets]

    second = rotate(application_id(made), DAY).webhook_secret
    assert is_signed_with(secret, second)
    third = rotate(application_id(made), DAY).webhook_secret
    assert is_signed_with(second, third)
    stored = Application.objects.get(pk=application_id(made))
    assert third.encode() not in bytes(stored.next_webhook_secret_encrypted or b"")
    moment = clock.now() + DAY
    monkeypatch.setattr(clock, "now", lambda: moment)
    assert is_signed_with(third)


def _signatures(headers: dict[str, str]) -> list[str]:
    return [headers[name] for name in ("X-Service-Signature", "X-Service-Signature-Next") if name in headers]


def application_id(made: Scene) -> int:
    assert made.request.application_id
    return made.request.application_id
