"""Everything that is kept of a person, found by an address or number, in all organizations (GDPR, article 15)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model, Q, QuerySet

from paraph.flow.personal_data.of_account import OF_ACCOUNT
from paraph.flow.personal_data.of_signer import OF_SIGNER, person_of
from paraph.flow.personal_data.place import Facts, Place
from paraph.flow.personal_data.unsent import UNSENT, Person
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import Signer


@dataclass(frozen=True)
class Kept:
    """One thing that is kept in a place. ``erased_by``: the command that erases it, "" for none, and then ``stays``
    says why."""

    place: str
    facts: Facts
    erased_by: str
    stays: str


def show_person(address: str) -> list[Kept]:
    """Return what is kept, in the order of the places, each thing once. Raise ``DomainError`` for an empty address.

    What erasing reaches is listed from the places that erasing empties, so neither knows one that the other does not.
    What an organization has under a signer's name or further address is found as it is when the signer is erased; what
    both ways lead to is told once.
    """
    address = address.strip()
    if not address:
        raise DomainError("validation_error", "The address must not be empty.")
    signers = list(signers_with(address).select_related("request__organization"))
    person = Person(frozenset({address}))
    looks: list[tuple[Sequence[Place[Any, Any]], Any, str]] = [
        *((OF_SIGNER, signer, f"paraph erase signer {signer.pk}") for signer in signers),
        (UNSENT, person, f"paraph erase address {address}"),
        *((UNSENT, person_of(signer), f"paraph erase signer {signer.pk}") for signer in signers),
        (OF_ACCOUNT, person, ""),
    ]
    everywhere: list[Place[Any, Any]] = [*OF_SIGNER, *UNSENT, *OF_ACCOUNT]
    found: dict[str, dict[object, Kept]] = {place.name: {} for place in everywhere}
    for places, subject, command in looks:
        for place in places:
            for row in place.find(subject):
                kept = Kept(place.name, place.tell(row), command if place.erase else "", place.stays)
                found[place.name].setdefault(_identity(row), kept)
    return [kept for of_place in found.values() for kept in of_place.values()]


def signers_with(address: str) -> QuerySet[Signer]:
    """Return the signers that have this address or number, in the order in which they were made."""
    return Signer.objects.filter(Q(email__iexact=address) | Q(phone=address)).order_by("pk")


def _identity(row: Any) -> object:
    """Of an entry in the journal, each signer is told what is theirs."""
    return (type(row), row.pk) if isinstance(row, Model) else id(row)
