"""Erasing personal data of a signer, or of an address that never became one (docs/decisions/erasure.md)."""

from dataclasses import dataclass

from django.db import transaction

from paraph.flow.lock import lock_request
from paraph.flow.personal_data.of_signer import OF_SIGNER, person_of
from paraph.flow.personal_data.show_person import signers_with
from paraph.flow.personal_data.unsent import Person, erase_unsent
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer


@dataclass(frozen=True)
class Erased:
    """``journal_entries``: in how many entries of the journal values were replaced by this call."""

    organization_id: int
    request_id: int
    journal_entries: int


@dataclass(frozen=True)
class ErasedAddress:
    """``organization_ids``: whose data changed. ``signer_ids``: who has the address in a request."""

    organization_ids: list[int]
    signer_ids: list[int]


def erase_signer(signer_id: int) -> Erased:
    """Replaces name, address, number, IP and User-Agent of the signer by pseudonyms, in rows, journal and recorded
    webhooks, deletes signature, inquiries, captured messages and a title that names them, erases what the organization
    keeps of the person in what it never sent (:mod:`paraph.flow.personal_data.unsent`), and ends the signing link.

    Sealed files and the proof are evidence and stay until retention deletes them. Safe to repeat. Raises
    ``DomainError``: ``not_found``, ``conflict`` while the request is not over.
    """
    request_id = Signer.objects.filter(pk=signer_id).values_list("request_id", flat=True).first()
    if request_id is None:
        raise DomainError("not_found", f"There is no signer {signer_id}.")
    with transaction.atomic():
        request = lock_request(request_id)
        _require_over(request)
        signer = Signer.objects.select_related("request").get(pk=signer_id)
        places = [(place, place.erase, list(place.find(signer))) for place in OF_SIGNER if place.erase]
        changed = {place.name: erase(signer, found) for place, erase, found in places}
        erase_unsent(person_of(signer))
    return Erased(request.organization_id, request_id, changed["journal"])


def erase_address(address: str) -> ErasedAddress:
    """Erase what is kept of an address or number outside of requests, in all organizations: in rows of bulk sends and
    drafts that were never sent, the captured inbox, and the confirmed addresses. Signers that have it stay as they are,
    and are returned. Safe to repeat.
    """
    if not address.strip():
        raise DomainError("validation_error", "The address must not be empty.")
    with transaction.atomic():
        organizations = erase_unsent(Person(frozenset({address.strip()})))
    signers = signers_with(address.strip())
    return ErasedAddress(sorted(organizations), list(signers.values_list("pk", flat=True)))


def _require_over(request: SignatureRequest) -> None:
    if request.status == RequestStatus.PENDING:
        sentence = f"Request {request.pk} is not over: paraph request cancel ends it, then its signers can be erased."
        raise DomainError("conflict", sentence)
    if request.status == RequestStatus.COMPLETED and not request.finalized:
        raise DomainError("conflict", f"The files of request {request.pk} are not sealed yet: try again when they are.")
