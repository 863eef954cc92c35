"""Who gets in (rule 5.1), and fixed windows per minute and hour (rule 8), where the clock stands still or is moved."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from paraph.kernel import clock
from paraph.tenants.models import Usage
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, payload
from tests.api.v1.test_endpoint import paths
from tests.production import Client
from tests.tenancy import create_application, revoke_application
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db


def test_no_valid_key_is_401_everywhere() -> None:
    revoked = api_client()
    assert revoked.organization
    revoke_application(revoked.organization.applications.get().pk)
    key = str(api_client().api_key)
    wrong = {"unknown": "0" * 64, "malformed": "not a key", "absent": None}
    wrong |= {"in capitals": key.upper(), "short": key[:-1], "long": key + "0", "padded": f" {key}x"}
    for kind, client in {"revoked": revoked, **{kind: ApiClient(key) for kind, key in wrong.items()}}.items():
        for path in ("/health", "/documents", "/signature_requests/1", "/no-such-route"):
            response = client.get(path)
            assert "X-Api-Key" in error(response, 401, "invalid_api_key"), kind
            assert response["WWW-Authenticate"] == "ApiKey"
            assert "X-RateLimit-Limit" not in response


def test_a_signing_token_is_no_api_key(owner: ApiClient) -> None:
    url = owner.create(payload(owner.document())).json()["signers"][0]["signing_url"]
    error(ApiClient(url.rpartition("/")[2]).get("/health"), 401, "invalid_api_key")
    assert Client().get(f"/sign/{owner.api_key}").status_code == 404


def test_production_on_free_is_402_on_every_route_and_counted() -> None:
    free = api_client("free", "production")
    for path in ("/health", "/documents", "/signature_requests", "/branding_profiles", "/nowhere"):
        response = free.get(path)
        assert "paid plan" in error(response, 402, "payment_required")
        assert response["X-RateLimit-Limit"] == "120"
    assert Usage.objects.get().hour_calls == 5


START = datetime(2026, 3, 1, 10, 0, 20, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    moved = Clock()
    monkeypatch.setattr(clock, "now", moved)
    yield moved


def used(client: ApiClient, minute: int, hour: int) -> None:
    """Set the counters of the current windows, as if so many calls had been made."""
    client.get("/health")
    Usage.objects.filter(organization=client.organization).update(minute_calls=minute, hour_calls=hour)


def headers(response: object) -> tuple[int, int, int, int]:
    names = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After")
    return tuple(int(response[name]) for name in names)  # type: ignore[index,return-value]


def test_every_route_counts_and_tells(owner: ApiClient, time: Clock) -> None:
    for method, path in paths():
        used(owner, 0, 0)
        for remaining in (119, 118):
            assert headers(owner.send(method, path)) == (120, remaining, START.timestamp() + 40, 0)
        used(owner, 120, 120)
        response = owner.send(method, path)
        error(response, 429, "rate_limited")
        assert headers(response) == (120, 0, START.timestamp() + 40, 40)


def test_whatever_the_answer_the_call_counts(owner: ApiClient, time: Clock) -> None:
    document = owner.document()
    assert owner.create(payload(document)).status_code == 201
    error(owner.get("/documents/9"), 404, "not_found")
    invalid(owner.create({}))
    assert Usage.objects.get(organization=owner.organization).minute_calls == 4


def test_the_call_after_the_last_is_429(owner: ApiClient, time: Clock) -> None:
    used(owner, 119, 119)
    last = owner.get("/health")
    assert last.status_code == 200
    assert headers(last) == (120, 0, START.timestamp() + 40, 40)  # the next allowed call is in the next minute
    response = owner.get("/health")
    assert "40 seconds" in error(response, 429, "rate_limited")
    assert headers(response) == (120, 0, START.timestamp() + 40, 40)
    time.move(seconds=40)
    assert headers(owner.get("/health"))[:2] == (120, 119)


def test_the_hour_constrains_when_less_is_left_of_it(owner: ApiClient, time: Clock) -> None:
    used(owner, 1, 2990)
    assert headers(owner.get("/health")) == (3000, 9, START.timestamp() + 3580, 0)
    used(owner, 1, 3000)
    response = owner.get("/health")
    error(response, 429, "rate_limited")
    assert headers(response) == (3000, 0, START.timestamp() + 3580, 3580)
    used(owner, 120, 3000)
    assert headers(owner.get("/health"))[3] == 3580  # the later reset
    time.move(seconds=60)
    error(owner.get("/health"), 429, "rate_limited")
    time.move(hours=1)
    assert owner.get("/health").status_code == 200


def test_limits_of_the_plans(db: None, time: Clock) -> None:
    for plan, environment, per_minute, per_hour in (
        ("free", "sandbox", 120, 3000),
        ("pro", "sandbox", 120, 3000),
        ("enterprise", "sandbox", 120, 3000),
        ("pro", "production", 500, 10000),
        ("enterprise", "production", 1200, 60000),
    ):
        scope = api_client(plan, environment)
        assert headers(scope.get("/health"))[0] == per_minute
        used(scope, 1, per_hour)
        assert headers(scope.get("/health"))[0] == per_hour


def test_keys_of_one_environment_share_the_count_and_others_do_not(owner: ApiClient, time: Clock) -> None:
    assert owner.organization
    second = ApiClient(create_application(owner.organization.pk, "sandbox", "second").api_key)
    production = api_client("pro", "production", owner.organization)
    owner.get("/health")
    assert headers(second.get("/health"))[1] == 118
    assert headers(production.get("/health"))[1] == 499
    assert headers(api_client().get("/health"))[1] == 119


def test_an_address_with_too_many_bad_keys_is_429_and_good_keys_pass(owner: ApiClient, time: Clock) -> None:
    bad = ApiClient("0" * 64)
    for _ in range(60):
        error(bad.get("/health"), 401, "invalid_api_key")
    response = bad.get("/health")
    error(response, 429, "rate_limited")
    assert headers(response) == (60, 0, START.timestamp() + 40, 40)
    assert owner.get("/health").status_code == 200
    time.move(minutes=1)
    error(bad.get("/health"), 401, "invalid_api_key")


@pytest.mark.django_db(transaction=True)
def test_the_count_is_exact_under_concurrency(time: Clock) -> None:
    scope = api_client()

    statuses = beside_each_other(*[lambda: int(scope.get("/health").status_code)] * 140, threads=8)
    assert statuses.count(200) == 120
    assert statuses.count(429) == 20
