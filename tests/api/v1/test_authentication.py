"""Who gets in (specification 5.1)."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from paraph.kernel import clock, tokens
from paraph.organizations.models import ApiKey, Usage
from paraph.organizations.registration import create_application
from tests.api.v1.cast import Someone, error, keyless, someone

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("kind", ["revoked", "unknown", "malformed", "absent"])
@pytest.mark.parametrize("path", ["/health", "/documents", "/signature_requests/1", "/no-such-route"])
def test_no_valid_key_is_401_everywhere(kind: str, path: str) -> None:
    response = keyless()[kind].get(path)
    assert "X-Api-Key" in error(response, 401, "invalid_api_key")
    assert response["WWW-Authenticate"] == "ApiKey"
    assert "X-RateLimit-Limit" not in response


@pytest.mark.parametrize("spoiled", [str.upper, lambda key: key[:-1], lambda key: key + "0", lambda key: f" {key}x"])
def test_only_the_exact_key_opens(owner: Someone, spoiled: object) -> None:
    assert owner.api_key
    changed = Someone(spoiled(owner.api_key.replace("0", "a")[:-1] + "a"))  # type: ignore[operator]
    error(changed.get("/health"), 401, "invalid_api_key")


def test_revocation_holds_at_once(owner: Someone) -> None:
    assert owner.get("/health").status_code == 200
    ApiKey.objects.update(revoked_at=clock.now())
    error(owner.get("/health"), 401, "invalid_api_key")


def test_both_keys_work_while_they_are_rotated(owner: Someone) -> None:
    assert owner.organization
    second = Someone(create_application(owner.organization.pk, "sandbox", "new").api_key)
    document = owner.document()
    assert second.get(f"/documents/{document}").status_code == owner.get("/health").status_code == 200


def test_only_a_hash_of_the_key_is_stored(owner: Someone) -> None:
    assert owner.api_key
    stored = bytes(ApiKey.objects.get().sha256)
    assert stored == tokens.sha256(owner.api_key.encode())


def test_last_use_is_noted(owner: Someone) -> None:
    before = clock.now()
    owner.get("/health")
    used = ApiKey.objects.get().last_used_at
    assert used and before <= used <= clock.now()


def test_look_up_counters_and_last_use_cost_one_round_trip(owner: Someone) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert owner.get("/health").status_code == 200
    assert len(queries) == 1


@pytest.mark.parametrize("path", ["/health", "/documents", "/signature_requests", "/branding_profiles", "/nowhere"])
def test_production_on_free_is_402_on_every_route_and_counted(path: str) -> None:
    free = someone("free", "production")
    response = free.get(path)
    assert "paid plan" in error(response, 402, "payment_required")
    assert response["X-RateLimit-Limit"] == "120"
    assert Usage.objects.get().minute_calls == 1


def test_free_has_the_sandbox() -> None:
    assert someone("free").get("/health").status_code == 200
