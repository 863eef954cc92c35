"""Guesses at codes: per signer and window, in a request's life, per destination and per organization."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from paraph.flow.sweep import sweep
from paraph.kernel import clock
from paraph.messaging.destination import destination_hash
from paraph.otp import codes, guesses
from paraph.otp.models import OneTimeCode, WrongGuesses
from paraph.otp.refusals import GuessRefusedError
from paraph.signature_requests.models import Channel, Signer
from tests.factories import scene

DAY = timedelta(days=1)
MINUTES = timedelta(minutes=10)


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = clock.now()

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Clock:
    still = Clock()
    monkeypatch.setattr(clock, "now", still.now)
    return still


def issued(signer: Signer, destination: str = "ada@example.com") -> str:
    code = codes.issue(signer, Channel.EMAIL, destination)
    codes.mark_sent(signer, code)
    return code.code


def wrong_for(code: str) -> str:
    return f"{(int(code) + 1) % 10**6:06d}"


def refusal(signer: Signer, code: str) -> GuessRefusedError | None:
    try:
        codes.guess(signer, code)
    except GuessRefusedError as error:
        return error
    return None


def wrong_guesses(signer: Signer, count: int, time: Clock) -> None:
    """So many wrong guesses, in as many windows as they take; the last window is over then."""
    for number in range(count):
        if number % 5 == 0:
            wrong = wrong_for(issued(signer))
        answer = refusal(signer, wrong)
        assert answer and answer.code == "invalid_otp", (number, answer)
        if number % 5 == 4:
            time.moment += MINUTES
    time.moment += MINUTES


def limits(settings: Any, destination: int = 10**6, organization: int = 10**6) -> None:
    update = {"wrong_codes_per_destination": destination, "wrong_codes_per_organization": organization}
    settings.PARAPH = settings.PARAPH.model_copy(update=update)


@pytest.mark.django_db
def test_five_attempts_in_ten_minutes_whatever_codes_are_sent_in_between(time: Clock) -> None:
    signer = scene().signers[0]
    answers = []
    for _ in range(5):
        wrong = wrong_for(issued(signer))
        answers += [refusal(signer, wrong) for _ in range(5)]
    assert [answer.code for answer in answers if answer] == ["invalid_otp"] * 5 + ["too_many_attempts"] * 20
    right = issued_later(signer, time, timedelta(minutes=9, seconds=59))
    late = refusal(signer, right)
    assert late and (late.code, late.retry_after, late.locked) == ("too_many_attempts", 1, False)
    time.moment += timedelta(seconds=1)
    assert refusal(signer, right) is None  # the newest code, asked for within the ten minutes


def issued_later(signer: Signer, time: Clock, later: timedelta) -> str:
    OneTimeCode.objects.update(sends=0)  # how often codes are sent is another limit
    time.moment += later
    return issued(signer)


@pytest.mark.django_db
def test_the_fifth_wrong_guess_voids_the_code_and_says_that_no_attempt_is_left(time: Clock) -> None:
    signer = scene().signers[0]
    early = issued(signer)
    for _ in range(3):
        refusal(signer, wrong_for(early))
    right = issued_later(signer, time, timedelta(minutes=8))
    told = [refusal(signer, wrong_for(right)) for _ in range(2)]
    assert [(answer.code, answer.retry_after) for answer in told if answer] == [
        ("invalid_otp", 0),
        ("invalid_otp", 120),
    ]
    time.moment += timedelta(minutes=3)  # within the ten minutes of the code
    void = refusal(signer, right)
    assert void and void.code == "invalid_otp"


@pytest.mark.django_db
def test_a_right_guess_is_an_attempt_and_no_wrong_one(time: Clock) -> None:
    signer = scene().signers[0]
    right = issued(signer)
    assert [refusal(signer, right) for _ in range(5)] == [None] * 5
    used_up = refusal(signer, right)
    assert used_up and used_up.code == "too_many_attempts"
    assert OneTimeCode.objects.get().wrong_guesses == 0 and not WrongGuesses.objects.exists()


@pytest.mark.django_db
def test_twenty_wrong_guesses_lock_a_signer_for_a_day_and_five_more_again(time: Clock, settings: Any) -> None:
    limits(settings)
    signer = scene().signers[0]
    wrong_guesses(signer, 15, time)
    right = issued(signer)
    told = [refusal(signer, wrong_for(right)) for _ in range(5)]
    began = time.moment
    assert [answer.locked for answer in told if answer] == [False] * 4 + [True]
    assert guesses.locked_until(signer) == began + DAY
    for later in (timedelta(0), MINUTES, DAY - timedelta(seconds=1)):
        time.moment = began + later
        answer = refusal(signer, right)
        assert answer and (answer.code, answer.locked) == ("too_many_attempts", True)
        assert answer.retry_after == (DAY - later).total_seconds()
        with pytest.raises(GuessRefusedError, match="none is sent or taken until"):
            issued(signer)
    time.moment = began + DAY
    assert guesses.locked_until(signer) is None
    wrong = wrong_for(issued(signer))
    again = [refusal(signer, wrong) for _ in range(5)]
    assert [answer.locked for answer in again if answer] == [False] * 4 + [True]
    assert OneTimeCode.objects.get().wrong_guesses == 25


@pytest.mark.django_db
def test_a_destination_is_counted_across_requests_and_organizations(time: Clock, settings: Any) -> None:
    limits(settings, destination=7)
    one, two, three, other = (scene().signers[0] for _ in range(4))
    first, second = issued(one, "Ada@Example.com"), issued(two, " ada@example.com ")
    right, elsewhere = issued(three), issued(other, "grace@example.com")
    told = [refusal(one, wrong_for(first)) for _ in range(5)] + [refusal(two, wrong_for(second)) for _ in range(5)]
    assert [answer.code for answer in told if answer] == ["invalid_otp"] * 7 + ["too_many_attempts"] * 3
    refused = refusal(three, right)
    assert refused and (refused.code, refused.retry_after, refused.locked) == ("too_many_attempts", 86400, False)
    assert refusal(other, elsewhere) is None
    time.moment += DAY
    assert refusal(three, issued(three)) is None


@pytest.mark.django_db
def test_sandbox_and_production_count_apart(time: Clock, settings: Any) -> None:
    limits(settings, destination=3)
    sandbox, production = scene().signers[0], scene(environment="production").signers[0]
    code = issued(sandbox)
    assert [bool(refusal(sandbox, wrong_for(code))) for _ in range(3)] == [True] * 3
    assert refusal(production, issued(production)) is None


@pytest.mark.django_db
def test_an_organization_is_counted_across_requests_and_addresses(time: Clock, settings: Any) -> None:
    limits(settings, organization=6)
    made, foreign = scene(signers=3), scene().signers[0]
    for number, wrong in ((0, 5), (1, 1)):
        code = issued(made.signers[number], f"{number}@example.com")
        for _ in range(wrong):
            refusal(made.signers[number], wrong_for(code))
    refused = refusal(made.signers[2], issued(made.signers[2], "2@example.com"))
    assert refused and (refused.code, refused.retry_after) == ("too_many_attempts", 3600)
    assert refusal(foreign, issued(foreign, "2@example.com")) is None
    time.moment += timedelta(hours=1)
    assert refusal(made.signers[2], issued(made.signers[2], "2@example.com")) is None


@pytest.mark.django_db(transaction=True)
def test_a_destination_guessed_at_through_many_requests_at_once(settings: Any) -> None:
    limits(settings, destination=12)
    signers = [scene().signers[0] for _ in range(8)]
    wrong = {signer.pk: wrong_for(issued(signer)) for signer in signers}

    def guess(number: int) -> str:
        try:
            signer = Signer.objects.select_related("request").get(pk=signers[number % 8].pk)
            answer = refusal(signer, wrong[signer.pk])
            return answer.code if answer else ""
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(guess, range(100)))
    assert sorted(set(answers)) == ["invalid_otp", "too_many_attempts"]
    assert answers.count("invalid_otp") == 12


@pytest.mark.django_db(transaction=True)
def test_codes_asked_for_meanwhile_give_no_more_attempts() -> None:
    signer = scene().signers[0]
    issued(signer)

    def work(number: int) -> str:
        try:
            mine = Signer.objects.select_related("request").get(pk=signer.pk)
            if number % 20 == 0:
                OneTimeCode.objects.update(sends=0)
                issued(mine)
                return "sent"
            answer = refusal(mine, "x")
            return answer.code if answer else ""
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(work, range(100)))
    assert answers.count("sent") == 5
    assert OneTimeCode.objects.get().wrong_guesses == OneTimeCode.objects.get().attempts == 5


@pytest.mark.django_db
def test_what_is_over_goes(time: Clock) -> None:
    signer = scene().signers[0]
    refusal(signer, wrong_for(issued(signer)))
    assert WrongGuesses.objects.count() == 2
    assert destination_hash("ada@example.com") in bytes(WrongGuesses.objects.earliest("-ends_at").scope)
    time.moment += timedelta(hours=2)
    sweep()
    assert WrongGuesses.objects.count() == 1
    time.moment += DAY
    sweep()
    assert not WrongGuesses.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(hours=23), DAY, timedelta(days=400)])
def test_a_clock_set_back_blocks_nobody(time: Clock, settings: Any, back: timedelta) -> None:
    limits(settings, destination=20, organization=20)
    signer, neighbour = scene(signers=2).signers
    wrong_guesses(signer, 15, time)
    issued(signer)
    code = issued(neighbour)
    OneTimeCode.objects.update(sends=5)
    right = OneTimeCode.objects.get(signer=signer)
    for _ in range(5):
        refusal(signer, "x")
    assert guesses.locked_until(signer)
    time.moment -= back
    assert guesses.locked_until(signer) is None
    unsure = refusal(neighbour, code)  # of a code that seems to be valid for far too long
    assert unsure and unsure.code == "invalid_otp"
    assert refusal(neighbour, issued(neighbour)) is None
    assert refusal(signer, issued(signer)) is None
    assert OneTimeCode.objects.get(signer=signer).expires_at < right.expires_at


@pytest.mark.django_db
def test_a_clock_set_back_a_little_gives_no_more_attempts(time: Clock) -> None:
    signer = scene().signers[0]
    code = issued(signer)
    for _ in range(5):
        refusal(signer, wrong_for(code))
    time.moment -= timedelta(minutes=5)
    answer = refusal(signer, code)
    assert answer and answer.code == "too_many_attempts"


@pytest.mark.django_db
def test_the_code_before_the_newest_is_called_replaced_and_counts(time: Clock) -> None:
    signer = scene().signers[0]
    early, newest = issued(signer), issued(signer)
    if early == newest:
        return  # once in a million runs
    told = refusal(signer, early)
    assert told and (told.code, told.attempts_left) == ("invalid_otp", None) and "replaced by a newer one" in str(told)
    wrong = next(code for code in ("000000", "000001", "000002") if code not in (early, newest))
    after = refusal(signer, wrong)
    assert after and after.attempts_left == 3
    assert refusal(signer, newest) is None


@pytest.mark.django_db
def test_until_when_no_code_is_taken(time: Clock) -> None:
    signer = scene().signers[0]
    assert guesses.refused_until(signer) is None
    wrong, began = wrong_for(issued(signer)), time.moment
    for _ in range(4):
        refusal(signer, wrong)
        assert guesses.refused_until(signer) is None
    refusal(signer, wrong)
    assert guesses.refused_until(signer) == began + MINUTES
    time.moment += MINUTES
    assert guesses.refused_until(signer) is None
    OneTimeCode.objects.update(locked_until=time.moment + DAY)
    assert guesses.refused_until(signer) == time.moment + DAY
