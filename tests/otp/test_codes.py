"""One-time codes: bound to signer and documents, attempts counted exactly, usable only once told."""

from functools import partial

import pytest

from paraph.documents.models import Document
from paraph.kernel.errors import DomainError
from paraph.otp import codes
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.models import Channel, Signer
from tests.factories import scene
from tests.threads import beside_each_other

pytestmark = pytest.mark.django_db


def refusal(signer: Signer, code: str) -> str:
    """The code of the refusal; "" when the guess was right."""
    try:
        codes.guess(signer, code)
    except DomainError as error:
        return error.code
    return ""


def issued(signer: Signer) -> codes.Issued:
    code = codes.issue(signer, Channel.EMAIL, "a@example.com")
    codes.mark_sent(signer, code)
    return code


@pytest.mark.django_db(transaction=True)
def test_a_hundred_guesses_at_once_consume_exactly_five_attempts() -> None:
    signer = scene().signers[0]
    right = issued(signer).code
    wrong = f"{(int(right) + 1) % 10**6:06d}"

    answers = beside_each_other(*[partial(refusal, signer, wrong)] * 100, threads=20)
    assert sorted(set(answers)) == ["invalid_otp", "too_many_attempts"]
    assert answers.count("invalid_otp") == 5
    assert OneTimeCode.objects.get().attempts == 5
    assert refusal(signer, right) == "too_many_attempts"


def test_a_code_of_one_signer_is_not_one_of_another() -> None:
    made = scene(signers=2)
    one, other = made.signers
    code = issued(one).code
    issued(other)
    OneTimeCode.objects.filter(signer=other).update(code_hash=OneTimeCode.objects.get(signer=one).code_hash)
    assert refusal(other, code) == "invalid_otp"
    assert refusal(one, code) == ""


def test_a_code_is_for_the_documents_as_they_were() -> None:
    made = scene(documents=2)
    code = issued(made.signers[0]).code
    document = Document.objects.get(pk=made.request_documents[1].document_id)
    document.sha256 = bytes(32)
    document.save(update_fields=["sha256"])
    assert refusal(made.signers[0], code) == "invalid_otp"


def test_a_code_counts_only_once_its_sending_is_told() -> None:
    signer = scene().signers[0]
    code = codes.issue(signer, Channel.EMAIL, "a@example.com")
    assert refusal(signer, code.code) == "invalid_otp"
    codes.mark_sent(signer, code)
    assert refusal(signer, code.code) == ""


def test_a_code_is_used_once() -> None:
    signer = scene().signers[0]
    code = issued(signer)
    codes.consume(signer, codes.guess(signer, code.code))
    with pytest.raises(DomainError, match="invalid_otp"):
        codes.consume(signer, code.code_hash)


def test_who_has_signed_gets_no_code() -> None:
    signer = scene().signers[0]
    Signer.objects.filter(pk=signer.pk).update(status="signed")
    with pytest.raises(DomainError, match="already_signed"):
        codes.issue(signer, Channel.EMAIL, "a@example.com")
