"""Who gets in (rule 5.1)."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.kernel import clock, tokens
from paraph.tenants.models import ApiKey, Application, Usage
from tests.api.v1.api_clients import ApiClient, api_client, error, payload, rejected_clients
from tests.production import Client
from tests.tenancy import create_application, revoke_application

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["revoked", "unknown", "malformed", "absent"])
@pytest.mark.parametrize("path", ["/health", "/documents", "/signature_requests/1", "/no-such-route"])
def test_no_valid_key_is_401_everywhere(kind: str, path: str) -> None:
    response = rejected_clients()[kind].get(path)
    assert "X-Api-Key" in error(response, 401, "invalid_api_key")
    assert response["WWW-Authenticate"] == "ApiKey"
    assert "X-RateLimit-Limit" not in response


@pytest.mark.parametrize("spoiled", [str.upper, lambda key: key[:-1], lambda key: key + "0", lambda key: f" {key}x"])
def test_only_the_exact_key_opens(owner: ApiClient, spoiled: object) -> None:
    assert owner.api_key
    changed = ApiClient(spoiled(owner.api_key.replace("0", "a")[:-1] + "a"))  # type: ignore[operator]
    error(changed.get("/health"), 401, "invalid_api_key")


def test_revocation_holds_at_once(owner: ApiClient) -> None:
    assert owner.get("/health").status_code == 200
    ApiKey.objects.update(revoked_at=clock.now())
    error(owner.get("/health"), 401, "invalid_api_key")


def test_both_keys_work_while_they_are_rotated(owner: ApiClient) -> None:
    assert owner.organization
    second = ApiClient(create_application(owner.organization.pk, "sandbox", "new").api_key)
    document = owner.document()
    assert second.get(f"/documents/{document}").status_code == owner.get("/health").status_code == 200


def test_the_old_key_ends_and_the_new_one_goes_on(owner: ApiClient) -> None:
    assert owner.organization
    old = Application.objects.get(organization=owner.organization)
    new = ApiClient(create_application(owner.organization.pk, "sandbox", "new").api_key, owner.organization)
    revoke_application(old.pk)
    error(owner.get("/health"), 401, "invalid_api_key")
    assert new.get("/health").status_code == 200


def test_a_key_says_nothing_of_its_environment(owner: ApiClient) -> None:
    production = api_client("pro", "production", owner.organization)
    for scope, environment in ((owner, "sandbox"), (production, "production")):
        assert scope.api_key and re.fullmatch(r"[0-9a-f]{64}", scope.api_key)
        assert scope.get("/health").json()["environment"] == environment


def test_a_signing_token_is_no_api_key(owner: ApiClient) -> None:
    url = owner.create(payload(owner.document())).json()["signers"][0]["signing_url"]
    error(ApiClient(url.rpartition("/")[2]).get("/health"), 401, "invalid_api_key")
    assert Client().get(f"/sign/{owner.api_key}").status_code == 404


def test_only_a_hash_of_the_key_is_stored(owner: ApiClient) -> None:
    assert owner.api_key
    stored = bytes(ApiKey.objects.get().sha256)
    assert stored == tokens.sha256(owner.api_key.encode())


def test_each_use_is_noted_to_the_second(owner: ApiClient, monkeypatch: pytest.MonkeyPatch) -> None:
    moment = clock.now().replace(microsecond=400_000)
    for second, path in enumerate(("/health", "/documents/1", "/nowhere")):
        used_at = moment + timedelta(seconds=second)
        monkeypatch.setattr(clock, "now", lambda used_at=used_at: used_at)
        owner.get(path)
        assert ApiKey.objects.get().last_used_at == used_at


def test_look_up_counters_and_last_use_cost_one_round_trip(owner: ApiClient) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert owner.get("/health").status_code == 200
    assert len(queries) == 1


@pytest.mark.parametrize("path", ["/health", "/documents", "/signature_requests", "/branding_profiles", "/nowhere"])
def test_production_on_free_is_402_on_every_route_and_counted(path: str) -> None:
    free = api_client("free", "production")
    response = free.get(path)
    assert "paid plan" in error(response, 402, "payment_required")
    assert response["X-RateLimit-Limit"] == "120"
    assert Usage.objects.get().minute_calls == 1


def test_free_has_the_sandbox() -> None:
    assert api_client("free").get("/health").status_code == 200
