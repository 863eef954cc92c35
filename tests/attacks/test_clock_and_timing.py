"""What a clock that was set back, and the time that answers take, give to an attacker: nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import psycopg
import pytest

from paraph.kernel import tokens
from paraph.postgres import embedded_url
from tests.attacks.conftest import Target
from tests.attacks.files import new_request, signing_urls
from tests.scenarios.people import code_for, sign, signer

pytestmark = pytest.mark.thorough

# As after a clock that was a day ahead has been set right: whatever was begun then lies in the future.
SET_BACK = """
    UPDATE otp_onetimecode SET created_at = created_at + interval '1 day', sent_at = sent_at + interval '1 day',
        expires_at = expires_at + interval '1 day', window_began_at = window_began_at + interval '1 day',
        locked_until = locked_until + interval '1 day';
    UPDATE counts_count SET ends_at = ends_at + interval '1 day', count = 1000000 WHERE seconds > 0;
    UPDATE organizations_usage SET minute = minute + 1440, hour = hour + 24,
        minute_calls = 1000000, hour_calls = 1000000;
"""


@pytest.fixture(scope="module")
def target(new_target: Callable[..., Target]) -> Target:
    """One of its own: the clock in its rows is never right again."""
    return new_target()


@pytest.fixture(scope="module")
def urls(target: Target) -> list[str]:
    """The signing links of a request with three signers."""
    return signing_urls(new_request(target.backend(), *map(signer, "abc")))


def otp(url: str) -> httpx.Response:
    return httpx.post(f"{url}/otp", json={"channel": "email"}, timeout=30)


def test_a_clock_set_back_a_day_keeps_nobody_from_signing(target: Target, urls: list[str]) -> None:
    used_up, guessed, calm = urls
    assert [otp(used_up).status_code for _ in range(6)] == [200] * 5 + [429]
    wrong = f"{(int(code_for(guessed)) + 1) % 10**6:06d}"
    assert [sign(guessed, wrong).status_code for _ in range(6)] == [422] * 5 + [429]
    early = code_for(calm)
    bad_key = target.backend("0" * 64)
    assert bad_key.call("GET", "documents").status_code == 401

    with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as connection:
        connection.execute("UPDATE otp_onetimecode SET locked_until = now() + interval '1 day' WHERE attempts = 5")
        connection.execute(SET_BACK)
    assert sign(calm, early).status_code == 422  # a code is not valid for a day instead
    assert target.backend().call("GET", "documents").status_code == 200
    assert bad_key.call("GET", "documents").status_code == 401
    for url in urls:
        signed = sign(url)
        assert signed.status_code == 200, signed.text
        assert datetime.fromisoformat(signed.json()["signed_at"]) <= datetime.now(UTC)


def test_an_answer_tells_nobody_which_signer_exists(target: Target, urls: list[str]) -> None:
    """The same status, body and headers; that they take the same work is seen in tests/signature_requests."""
    existing = tokens.from_base64url(urls[0].rpartition("/")[2])[:8]
    none = (2**40).to_bytes(8, "big")

    def answers(identity: bytes) -> list[Any]:
        url = f"{target.base_url}/sign/{tokens.base64url(identity + bytes(24))}"
        found = [httpx.get(url), otp(url), sign(url, "123456"), httpx.get(f"{url}/documents/1/pages/1.webp")]
        return [(answer.status_code, shape(answer)) for answer in found]

    assert answers(existing) == answers(none)
    assert {status for status, _ in answers(none)} == {404}


def shape(answer: httpx.Response) -> tuple[int, list[str]]:
    """What does not change from answer to answer: a page has another nonce each time, of the same length."""
    return len(answer.content), sorted(answer.headers)
