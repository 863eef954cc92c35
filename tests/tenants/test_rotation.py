"""A new key and a new secret, while the ones before hold."""

import hashlib
import hmac
from datetime import timedelta

import pytest

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admission import admit
from paraph.tenants.models import ApiKey, Application
from paraph.webhooks.record_outcomes import record_outcomes
from tests.factories import Scene
from tests.tenancy import create_application, create_organization, rotate
from tests.webhooks.parties import ACCEPTED, prepared_deliveries, record, told

pytestmark = pytest.mark.django_db
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
