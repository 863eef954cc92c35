"""Guessing one-time codes: a new code gives five more guesses, up to twenty in a day."""

from collections.abc import Callable, Iterator

import httpx
import psycopg
import pytest

from paraph.postgres import embedded_url
from tests.attacks.conftest import Target
from tests.attacks.files import new_request, signing_urls
from tests.scenarios.people import signer

pytestmark = pytest.mark.thorough

A_DAY_LATER = "UPDATE otp_onetimecode SET locked_until = now(), recent_end_at = now(), sends = 0"


class Page:
    """What a signing page posts, over few connections."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def send(self, url: str) -> httpx.Response:
        return self._client.post(f"{url}/otp", json={"channel": "email"})

    def code(self, url: str) -> str:
        answer = self.send(url)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["sandbox_code"])

    def sign(self, url: str, code: str) -> httpx.Response:
        return self._client.post(f"{url}/signature", json={"code": code, "consent": True})

    def five_wrong(self, url: str) -> list[str]:
        """What becomes of five guesses at a new code."""
        wrong = wrong_for(self.code(url))
        return [outcome(self.sign(url, wrong)) for _ in range(5)]


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with httpx.Client(timeout=30) as client:
        yield Page(client)


@pytest.fixture(scope="module")
def attacked(new_target: Callable[..., Target]) -> Target:
    return new_target()


def wrong_for(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06d}"


def outcome(answer: httpx.Response) -> str:
    return "signed" if answer.status_code == 200 else str(answer.json()["error"]["code"])


def test_a_new_code_works_after_five_wrong_ones(attacked: Target, page: Page) -> None:
    [url] = signing_urls(new_request(attacked.backend(), signer("five")))
    for _ in range(3):
        assert page.five_wrong(url) == ["invalid_otp"] * 5
    code = page.code(url)
    wrong = [outcome(page.sign(url, wrong_for(code))) for _ in range(4)]
    assert wrong == ["invalid_otp"] * 4 and outcome(page.sign(url, code)) == "signed"


def test_twenty_wrong_guesses_lock_and_everybody_is_told(attacked: Target, page: Page) -> None:
    backend = attacked.backend()
    made = new_request(backend, signer("twenty"), signer("calm"))
    url, other = signing_urls(made)
    for _ in range(4):
        wrong = wrong_for(code := page.code(url))
        answers = [page.sign(url, wrong) for _ in range(5)]
        assert [outcome(answer) for answer in answers] == ["invalid_otp"] * 5
    assert answers[-1].json()["error"]["locked"] is True

    for answer in (page.sign(url, code), page.send(url)):
        assert (answer.status_code, outcome(answer)) == (429, "too_many_attempts")
        assert 86_000 < int(answer.headers["Retry-After"]) <= 86_400
    shown = httpx.get(url, timeout=30).text
    assert "Too many wrong codes" in shown and "please contact First organization" in shown and "<form" not in shown

    journal = backend.journal(made["id"])
    told = [entry["metadata"].get("wrong_codes") for entry in journal if entry["event_type"] == "signer.otp_sent"]
    assert told[:-1] == [None] * 3 and told[-1]["count"] == 20 and told[-1]["locked_until"]
    state = attacked.command("request", "show", str(made["id"]))
    assert state["signers"][0]["wrong_codes"] == told[-1] and "No code is sent to" in state["why"]
    figures = httpx.get(f"{attacked.base_url}/metrics", timeout=30).text
    assert "paraph_signers_locked_total 0.0" not in figures and 'paraph_guesses_total{result="wrong"}' in figures
    assert outcome(page.sign(other, page.code(other))) == "signed"
    with psycopg.connect(embedded_url(attacked.data_dir, None), autocommit=True) as connection:
        connection.execute(A_DAY_LATER)
    assert outcome(page.sign(url, page.code(url))) == "signed"
