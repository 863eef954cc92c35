"""One-time codes: bound to signer and documents, usable only after being sent; guesses counted exactly: per code, per
signer and day, per destination and per organization."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from paraph.counts.models import Count
from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.messaging.gateways import destination_hash
from paraph.otp import codes, guesses
from paraph.otp.guesses import GuessRefusedError
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Channel, Signer
from tests.factories import scene
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
MINUTES = timedelta(minutes=10)


class Clock:
    """A clock that stands still until it is moved."""

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


def wrong_guesses(signer: Signer, count: int) -> None:
    """Make so many wrong guesses, at as many codes as they need."""
    for number in range(count):
        if number % 5 == 0:
            wrong = wrong_for(issued(signer))
        answer = refusal(signer, wrong)
        assert answer and answer.code == "invalid_otp", (number, answer)


def limits(settings: Any, destination: int = 10**6, organization: int = 10**6) -> None:
    update = {"wrong_codes_per_destination": destination, "wrong_codes_per_organization": organization}
    settings.PARAPH = settings.PARAPH.model_copy(update=update)


def said(signer: Signer, code: str) -> str:
    """The code of the refusal; "" when the guess was right."""
    refused = refusal(signer, code)
    return refused.code if refused else ""


def test_a_code_of_one_signer_is_not_one_of_another() -> None:
    made = scene(signers=2)
    one, other = made.signers
    code = issued(one)
    issued(other)
    OneTimeCode.objects.filter(signer=other).update(code_hash=OneTimeCode.objects.get(signer=one).code_hash)
    assert said(other, code) == "invalid_otp"
    assert said(one, code) == ""


def test_a_code_is_for_the_documents_as_they_were() -> None:
    made = scene(documents=2)
    code = issued(made.signers[0])
    document = Document.objects.get(pk=made.request_documents[1].document_id)
    document.sha256 = bytes(32)
    document.save(update_fields=["sha256"])
    assert said(made.signers[0], code) == "invalid_otp"


def test_a_code_counts_only_once_its_sending_is_told() -> None:
    signer = scene().signers[0]
    code = codes.issue(signer, Channel.EMAIL, "a@example.com")
    assert said(signer, code.code) == "invalid_otp"
    codes.mark_sent(signer, code)
    assert said(signer, code.code) == ""


def test_a_code_is_used_once() -> None:
    signer = scene().signers[0]
    guessed = codes.guess(signer, issued(signer))
    codes.consume(signer, guessed)
    with pytest.raises(DomainError, match="invalid_otp"):
        codes.consume(signer, guessed)


def test_who_has_signed_gets_no_code() -> None:
    signer = scene().signers[0]
    Signer.objects.filter(pk=signer.pk).update(status="signed")
    with pytest.raises(DomainError, match="already_signed"):
        codes.issue(signer, Channel.EMAIL, "a@example.com")


@pytest.mark.django_db(transaction=True)
def test_a_hundred_guesses_at_once_consume_exactly_five_attempts() -> None:
    signer = scene().signers[0]
    right = issued(signer)
    answers = beside_each_other(*[partial(said, signer, wrong_for(right))] * 100, threads=20)
    assert sorted(set(answers)) == ["invalid_otp", "too_many_attempts"]
    assert answers.count("invalid_otp") == 5
    assert OneTimeCode.objects.get().attempts == 5
    assert said(signer, right) == "too_many_attempts"


def test_five_guesses_for_each_code_and_a_new_one_gives_five_more(time: Clock) -> None:
    signer = scene().signers[0]
    for _ in range(3):
        right = issued(signer)
        told = [refusal(signer, wrong_for(right)) for _ in range(5)]
        assert [(answer.code, answer.attempts_left, answer.retry_after) for answer in told if answer] == [
            ("invalid_otp", left, 0) for left in (4, 3, 2, 1, 0)
        ]
        void = refusal(signer, right)
        assert void and (void.code, void.attempts_left, void.retry_after) == ("too_many_attempts", 0, 0)
        assert "ask for a new one" in str(void)
    assert refusal(signer, issued(signer)) is None  # at once, within the ten minutes of the first


def test_the_time_of_a_code_does_not_begin_anew_with_a_guess(time: Clock) -> None:
    signer = scene().signers[0]
    right = issued(signer)
    time.moment += MINUTES - timedelta(milliseconds=1)
    assert refusal(signer, wrong_for(right)) and refusal(signer, right) is None
    time.moment += timedelta(milliseconds=1)
    late = refusal(signer, right)
    assert late and (late.code, late.attempts_left) == ("invalid_otp", None)


def test_a_right_guess_is_an_attempt_and_no_wrong_one(time: Clock) -> None:
    signer = scene().signers[0]
    right = issued(signer)
    assert [refusal(signer, right) for _ in range(5)] == [None] * 5
    used_up = refusal(signer, right)
    assert used_up and used_up.code == "too_many_attempts"
    assert OneTimeCode.objects.get().wrong_guesses == 0 and not Count.objects.exists()


def test_twenty_wrong_guesses_in_a_day_lock_a_signer_for_the_next(time: Clock, settings: Any) -> None:
    limits(settings)
    signer = scene().signers[0]
    wrong_guesses(signer, 15)
    time.moment += DAY - timedelta(seconds=1)
    right = issued(signer)
    told = [refusal(signer, wrong_for(right)) for _ in range(5)]
    began = time.moment
    assert [answer.locked for answer in told if answer] == [False] * 4 + [True]
    assert told[-1] and (told[-1].code, told[-1].retry_after) == ("invalid_otp", DAY.total_seconds())
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
    OneTimeCode.objects.update(sends=0)
    wrong_guesses(signer, 19)
    assert guesses.locked_until(signer) is None
    assert OneTimeCode.objects.get().wrong_guesses == 39


def test_nineteen_wrong_guesses_are_forgotten_after_a_day(time: Clock, settings: Any) -> None:
    limits(settings)
    signer = scene().signers[0]
    for day in range(3):
        wrong_guesses(signer, 19)
        assert guesses.locked_until(signer) is None, day
        time.moment += DAY
    assert (OneTimeCode.objects.get().wrong_guesses, OneTimeCode.objects.get().recent_wrong_guesses) == (57, 19)
    assert refusal(signer, issued(signer)) is None


@pytest.mark.thorough
def test_nobody_finds_a_code_in_ninety_days_by_more_guesses_than_the_documentation_says(
    time: Clock, settings: Any
) -> None:
    """The quickest attack with a signing link is to guess wrong until the signer is locked, again and again."""
    limits(settings)
    signer, end = scene().signers[0], time.moment + 90 * DAY
    while time.moment < end:
        OneTimeCode.objects.update(sends=0)
        until = guesses.locked_until(signer)
        if until:
            time.moment = until
            continue
        wrong_guesses(signer, 5)
        time.moment += timedelta(minutes=1)
    assert OneTimeCode.objects.get().wrong_guesses <= 1820


def test_a_destination_is_counted_across_requests_and_organizations(time: Clock, settings: Any) -> None:
    limits(settings, destination=7)
    one, two, three, other = (scene().signers[0] for _ in range(4))
    production = scene(environment="production").signers[0]
    first, second = issued(one, "Ada@Example.com"), issued(two, " ada@example.com ")
    right, elsewhere = issued(three), issued(other, "grace@example.com")
    told = [refusal(one, wrong_for(first)) for _ in range(5)] + [refusal(two, wrong_for(second)) for _ in range(5)]
    assert [answer.code for answer in told if answer] == ["invalid_otp"] * 7 + ["too_many_attempts"] * 3
    assert Count.objects.filter(scope__endswith=destination_hash("ada@example.com")).exists()
    assert not Count.objects.filter(scope__icontains="ada@").exists()
    refused = refusal(three, right)
    assert refused and (refused.code, refused.retry_after, refused.locked) == ("too_many_attempts", 86400, False)
    with pytest.raises(GuessRefusedError, match="no code is sent or taken until") as unsent:
        issued(three)
    assert (unsent.value.retry_after, unsent.value.locked) == (86400, False)
    assert issued(scene().signers[0], "ada@example.com".replace("ada", "ida"))
    assert refusal(other, elsewhere) is None
    assert refusal(production, issued(production)) is None, "which counts apart"
    time.moment += DAY
    assert refusal(three, issued(three)) is None


def test_an_organization_is_counted_across_requests_and_addresses(time: Clock, settings: Any) -> None:
    limits(settings, organization=6)
    made, foreign = scene(signers=3), scene().signers[0]
    for number, wrong in ((0, 5), (1, 1)):
        code = issued(made.signers[number], f"{number}@example.com")
        for _ in range(wrong):
            refusal(made.signers[number], wrong_for(code))
    with pytest.raises(GuessRefusedError, match="no code is sent or taken until") as unsent:
        issued(made.signers[2], "2@example.com")
    assert (unsent.value.code, unsent.value.retry_after) == ("too_many_attempts", 3600)
    assert refusal(foreign, issued(foreign, "2@example.com")) is None
    time.moment += timedelta(hours=1)
    assert refusal(made.signers[2], issued(made.signers[2], "2@example.com")) is None


@pytest.mark.django_db(transaction=True)
def test_a_destination_guessed_at_through_many_requests_at_once(settings: Any) -> None:
    limits(settings, destination=12)
    signers = [scene().signers[0] for _ in range(8)]
    wrong = {signer.pk: wrong_for(issued(signer)) for signer in signers}

    def guess(number: int) -> str:
        signer = Signer.objects.select_related("request").get(pk=signers[number % 8].pk)
        return said(signer, wrong[signer.pk])

    answers = beside_each_other(*(partial(guess, number) for number in range(100)), threads=10)
    assert sorted(set(answers)) == ["invalid_otp", "too_many_attempts"]
    assert answers.count("invalid_otp") == 12


@pytest.mark.django_db(transaction=True)
def test_codes_asked_for_meanwhile_give_five_guesses_each_and_twenty_in_all(settings: Any) -> None:
    limits(settings)
    signer = scene().signers[0]
    issued(signer)

    def work(number: int) -> str:
        mine = Signer.objects.select_related("request").get(pk=signer.pk)
        if number % 20 == 0:
            OneTimeCode.objects.update(sends=0)
            with suppress(GuessRefusedError):
                issued(mine)
                return "sent"
            return "locked"
        answer = refusal(mine, "x")
        return "compared" if answer and answer.code == "invalid_otp" and answer.attempts_left is not None else ""

    answers = beside_each_other(*(partial(work, number) for number in range(200)), threads=10)
    assert 1 <= answers.count("sent") <= 10
    counted = OneTimeCode.objects.get()
    assert counted.wrong_guesses == answers.count("compared") <= 20 and counted.attempts <= 5


@pytest.mark.parametrize("back", [timedelta(hours=1), timedelta(hours=23), DAY, timedelta(days=400)])
def test_a_clock_set_back_blocks_nobody(time: Clock, settings: Any, back: timedelta) -> None:
    limits(settings, destination=20, organization=20)
    signer, neighbour = scene(signers=2).signers
    wrong_guesses(signer, 15)
    issued(signer)
    code = issued(neighbour)
    OneTimeCode.objects.update(sends=5)
    right = OneTimeCode.objects.get(signer=signer)
    for _ in range(5):
        refusal(signer, "x")
    assert guesses.locked_until(signer)
    time.moment -= back
    assert guesses.locked_until(signer) is None
    unsure = refusal(neighbour, code)  # its code seems to be valid for far too long
    assert unsure and unsure.code == "invalid_otp"
    assert refusal(neighbour, issued(neighbour)) is None
    assert refusal(signer, issued(signer)) is None
    assert OneTimeCode.objects.get(signer=signer).expires_at < right.expires_at


def test_a_clock_set_back_a_little_gives_no_more_attempts(time: Clock) -> None:
    signer = scene().signers[0]
    code = issued(signer)
    for _ in range(5):
        refusal(signer, wrong_for(code))
    time.moment -= timedelta(minutes=5)
    answer = refusal(signer, code)
    assert answer and answer.code == "too_many_attempts"
    for _ in range(3):
        OneTimeCode.objects.update(sends=0)
        wrong_guesses(signer, 5)
    assert guesses.locked_until(signer)


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
