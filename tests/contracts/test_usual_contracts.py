"""Usual contracts without a tag: every place of signature is found, for the right signer, and nothing else is."""

from functools import cache

from paraph.drafts.models import DraftSigner
from paraph.drafts.tags import wanted
from paraph.pdf.untrusted.page_reading import SignatureLine, list_signature_lines
from paraph.signature_requests.values import HEIGHTS
from tests.contracts.usual import DENIZ, MARTA, Contract, Place, usual_contracts

SIGNERS = [DraftSigner(index, str(index), *name) for index, name in enumerate((MARTA, DENIZ))]


@cache
def read() -> list[tuple[Contract, list[SignatureLine]]]:
    return [(contract, list_signature_lines(contract.pdf)) for contract in usual_contracts()]


def is_at(place: Place, line: SignatureLine) -> bool:
    return (
        line.page_number == place.page
        and abs(line.y - place.y) <= 6
        and place.x - 4 <= line.x <= place.x + 12
        and place.width * 0.8 <= line.width <= place.width + 8
    )


def test_there_are_twenty_of_them_in_three_languages() -> None:
    names = [contract.name for contract, _ in read()]
    assert len(set(names)) == 20
    assert all(sum(f", {language})" in name for name in names) >= 5 for language in ("en", "de", "fr"))


def test_every_place_is_offered_to_the_right_signer_and_no_other() -> None:
    wrong = []
    for contract, lines in read():
        offered = [(line, signer.position) for line, signer, _ in wanted(lines, SIGNERS)]
        missed = [p for p in contract.places if not any(is_at(p, line) and p.signer == who for line, who in offered)]
        false = [line for line, _ in offered if not any(is_at(place, line) for place in contract.places)]
        if missed or false:
            wrong.append((contract.name, missed, false))
    assert wrong == []


def test_whoever_is_named_there_is_clear() -> None:
    for contract, lines in read():
        clear = [each.is_clear for each in wanted(lines, SIGNERS)]
        assert clear == [contract.named] * 2, contract.name


def test_a_stamp_has_room_over_each() -> None:
    for contract, lines in read():
        assert [line.room >= HEIGHTS[0] for line in lines if line.is_for_signature] == [True] * 2, contract.name


def test_headings_tables_and_amounts_are_no_places_but_blanks_are_known() -> None:
    """An underlined heading has no room for a signature; the blank of a date is known because fields snap to it."""
    for contract, lines in read():
        headings = [line for line in lines if line.y > 770 and line.y < 790]
        assert headings == [], contract.name
    _, lines = read()[0]
    assert {line.label for line in lines if not line.is_for_signature and line.page_number == 1} >= {"Date of birth"}
