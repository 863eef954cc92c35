"""Guessing one-time codes: a new code gives five more guesses, up to twenty in a day; more requests, more organizations
and more at once give no more."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest

from paraph.postgres import embedded_url
from tests.attacks.conftest import Target
from tests.attacks.files import new_request, signing_urls
from tests.scenarios.people import Backend, signer

pytestmark = pytest.mark.thorough

OF_DESTINATION = 30  # out of the box
OF_ORGANIZATION = 40
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
    return new_target(PARAPH_WRONG_CODES_PER_ORGANIZATION=str(OF_ORGANIZATION))


@pytest.fixture(scope="module")
def backends(attacked: Target) -> list[Backend]:
    """Clients of two organizations."""
    return [attacked.backend(), attacked.backend(str(attacked.new_application()["api_key"]))]


@pytest.fixture(autouse=True)
def _nothing_was_guessed_before(attacked: Target) -> None:
    execute(attacked, "DELETE FROM counts_count")


def links(backend: Backend, *addresses: str) -> list[str]:
    """The signing links of a request with a signer for each address."""
    people = [signer(f"s{number}", email=address) for number, address in enumerate(addresses)]
    return signing_urls(new_request(backend, *people))


def wrong_for(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06d}"


def outcome(answer: httpx.Response) -> str:
    return "signed" if answer.status_code == 200 else str(answer.json()["error"]["code"])


def execute(target: Target, statement: str) -> None:
    with psycopg.connect(embedded_url(target.data_dir, None), autocommit=True) as connection:
        connection.execute(statement.encode())


def test_a_new_code_works_after_five_wrong_ones(backends: list[Backend], page: Page) -> None:
    [url] = links(backends[0], "five@example.com")
    for _ in range(3):
        assert page.five_wrong(url) == ["invalid_otp"] * 5
    code = page.code(url)
    wrong = [outcome(page.sign(url, wrong_for(code))) for _ in range(4)]
    assert wrong == ["invalid_otp"] * 4 and outcome(page.sign(url, code)) == "signed"


def test_a_hundred_guesses_at_once_are_five_for_each_code(backends: list[Backend], page: Page) -> None:
    [url] = links(backends[0], "hundred@example.com")
    wrong = wrong_for(page.code(url))

    def attack(number: int) -> str:
        with httpx.Client(timeout=30) as client:  # threads that share one leave connections open now and then
            mine = Page(client)
            if number in (20, 50, 80):
                return "sent" if mine.send(url).is_success else "unsent"
            answer = mine.sign(url, wrong)
        return "compared" if "attempts_left" in answer.text and answer.status_code == 422 else outcome(answer)

    with ThreadPoolExecutor(12) as pool:
        answers = Counter(pool.map(attack, range(100)))
    assert answers["sent"] + answers["unsent"] == 3 and "signed" not in answers
    assert 5 <= answers["compared"] <= 20
    assert answers["too_many_attempts"] + answers["invalid_otp"] == 100 - 3 - answers["compared"]


def test_twenty_wrong_guesses_lock_and_everybody_is_told(attacked: Target, backends: list[Backend], page: Page) -> None:
    backend = backends[0]
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
    execute(attacked, A_DAY_LATER)
    assert outcome(page.sign(url, page.code(url))) == "signed"


def test_more_requests_and_organizations_give_no_more_guesses_at_one_address(
    backends: list[Backend], page: Page
) -> None:
    victims = ["victim@example.com", "Victim@Example.com"] * 2
    victims_links = [url for backend in backends for url in links(backend, *victims)]
    codes = {url: page.code(url) for url in victims_links}
    answers = Counter(outcome(page.sign(url, wrong_for(codes[url]))) for url in victims_links[:-1] for _ in range(5))
    assert answers == {"invalid_otp": OF_DESTINATION, "too_many_attempts": 5}
    for refused in (page.sign(victims_links[-1], codes[victims_links[-1]]), page.send(victims_links[-1])):
        assert outcome(refused) == "too_many_attempts" and int(refused.headers["Retry-After"]) > 86_000
    [elsewhere] = links(backends[0], "bystander@example.com")
    assert outcome(page.sign(elsewhere, page.code(elsewhere))) == "signed"


def test_more_addresses_give_an_organization_no_more_guesses(backends: list[Backend], page: Page) -> None:
    attacker, other = backends
    own = links(attacker, *(f"{number}@example.org" for number in range(9)))
    last = page.code(own[-1])
    answers: Counter[str] = Counter()
    for url in own[:-1]:
        answers.update(page.five_wrong(url))
    assert answers == {"invalid_otp": OF_ORGANIZATION}
    assert outcome(page.sign(own[-1], last)) == outcome(page.send(own[-1])) == "too_many_attempts"
    [foreign] = links(other, "8@example.org")
    assert outcome(page.sign(foreign, page.code(foreign))) == "signed"
