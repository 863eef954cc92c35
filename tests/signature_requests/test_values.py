"""Values of payloads: phone numbers, full names in the order of their script, and floods of problems."""

from typing import Any

import phonenumbers
import pytest
from phonenumbers import PhoneNumber, PhoneNumberFormat, PhoneNumberType

from paraph.signature_requests import input as shapes
from paraph.signature_requests import payload
from paraph.signature_requests.localized import full_name
from paraph.signature_requests.problems import MOST_NAMED, Problems
from paraph.signature_requests.values import Input, InvalidValueError, phone, sms_number
from paraph.tenants.limits import allowance

CHARGED = {
    PhoneNumberType.PREMIUM_RATE,
    PhoneNumberType.SHARED_COST,
    PhoneNumberType.TOLL_FREE,
    PhoneNumberType.PERSONAL_NUMBER,
    PhoneNumberType.PAGER,
    PhoneNumberType.UAN,
    PhoneNumberType.VOICEMAIL,
}


def written(number: PhoneNumber | None) -> str:
    assert number
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def examples(kind: int) -> dict[str, PhoneNumber]:
    found = {region: phonenumbers.example_number_for_type(region, kind) for region in phonenumbers.SUPPORTED_REGIONS}
    return {region: number for region, number in found.items() if number is not None}


def refused(read: Any, value: str) -> str:
    with pytest.raises(InvalidValueError) as caught:
        read(value)
    return str(caught.value)


@pytest.mark.parametrize("kind", [PhoneNumberType.MOBILE, PhoneNumberType.FIXED_LINE, PhoneNumberType.VOIP])
def test_numbers_of_every_country_are_taken(kind: int) -> None:
    numbers = list(map(written, examples(kind).values()))
    assert len(numbers) > 90
    assert [phone(number) for number in numbers] == numbers == [sms_number(number) for number in numbers]


def test_a_trunk_prefix_is_told_and_left_out() -> None:
    """Where numbers begin with 0 within their country, people write them as +CC 0 …."""
    tried = 0
    for region, number in examples(PhoneNumberType.MOBILE).items():
        plan = phonenumbers.PhoneMetadata.metadata_for_region(region)
        # Colombia's 0 begins the code of a carrier, so that more digits are a number there.
        if plan is not None and plan.national_prefix == "0" and region != "CO":
            wrong = f"+{number.country_code}0{phonenumbers.national_significant_number(number)}"
            if len(wrong) <= 16:
                tried += 1
                assert refused(phone, wrong).endswith(f"without it, it is {written(number)}."), region
    assert tried > 90
    assert refused(phone, "+330612345678") == (
        "“+330612345678” has a prefix after its country code that is dialled only within the country: "
        "without it, it is +33612345678."
    )
    for typed in ("+33 (0)612345678", "+33 (0)6 12 34 56 78", "+33(0)6.12.34.56.78"):
        assert refused(phone, typed).endswith("without it, it is +33612345678.")
    assert "E.164" in refused(phone, "+39 (0)236618300")
    for typed in ("+390236618300", "+3780549886377", "+2250123456789"):
        assert phone(typed) == typed, "its zeros belong to it"


def test_an_unassigned_country_code_is_told_as_that() -> None:
    assigned = set(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)
    for code in set(range(200, 1000)):
        if not {code, code // 10, code // 100} & assigned:
            number = f"+{code}123456789"
            assert refused(phone, number) == f"“{number}” begins with a country code that is not assigned."


def test_no_codes_go_to_numbers_of_services_nor_to_networks_of_no_country() -> None:
    """Satellite networks are among the latter."""
    for kind in sorted(CHARGED):
        numbers = [written(number) for number in examples(kind).values() if phonenumbers.number_type(number) == kind]
        assert numbers
        for number in numbers:
            phone(number)
            assert "is not a number to which codes are sent by SMS" in refused(sms_number, number)
    codes = phonenumbers.COUNTRY_CODES_FOR_NON_GEO_REGIONS
    numbers = [written(phonenumbers.example_number_for_non_geo_entity(code)) for code in codes]
    assert len(numbers) > 6 and "+33899123456" not in numbers
    for number in [*numbers, "+33899123456"]:
        assert phone(number) == number
        assert number in refused(sms_number, number)


@pytest.fixture
def read_texts(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The model of each JSON object that is read from a payload, in order."""
    read: list[Any] = []
    prepare = Input.without_nulls.__func__  # type: ignore[attr-defined]

    def watched(cls: type[Input], value: dict[str, Any]) -> dict[str, Any]:
        read.append(cls)
        found: dict[str, Any] = prepare(cls, value)
        return found

    monkeypatch.setattr(Input, "without_nulls", classmethod(watched))
    return read


def test_reading_ends_where_more_is_wrong_than_is_named(read_texts: list[Any]) -> None:
    problems, limits = Problems(), allowance("enterprise")
    documents = [{"id": 1, "signers": [{}] * limits.signers}] * limits.documents
    payload.read({"documents": documents}, limits, problems)
    assert problems.full
    assert read_texts.count(shapes.Assignment) <= MOST_NAMED + 1


def test_what_is_beyond_a_limit_costs_nothing(read_texts: list[Any]) -> None:
    problems, limits = Problems(), allowance("free")
    assigned = [{"signer_ref": "a", "stamps": [{"type": "magic_field", "value": {"tag": "x"}}]}] * 100_000
    draft = payload.read({"documents": [{"id": 1, "signers": assigned}] * 100_000}, limits, problems)
    assert len(draft.documents) == limits.documents + 1
    assert all(len(document.signers) <= limits.signers + 1 for document in draft.documents)
    assert len(read_texts) < 200


@pytest.mark.parametrize(
    ("first", "last", "locale", "name"),
    [
        ("Zoë", "Lindqvist", "en", "Zoë Lindqvist"),
        ("伟", "王", "en", "王伟"),
        ("민준", "김", "ko", "김민준"),
        ("太郎", "山田", "", "山田太郎"),
        ("さくら", "山田", "", "山田さくら"),
        ("ジョン", "スミス", "", "ジョン スミス"),
        ("Wei", "王", "en", "Wei 王"),
        ("Anna", "Nagy", "hu", "Nagy Anna"),
        ("Anna", "Nagy", "hu-HU", "Nagy Anna"),
        ("محمد", "الخالدي", "ar", "محمد الخالدي"),
        ("-", "1", "en", "- 1"),
    ],
)
def test_the_order_of_a_name(first: str, last: str, locale: str, name: str) -> None:
    assert full_name(first, last, locale) == name
