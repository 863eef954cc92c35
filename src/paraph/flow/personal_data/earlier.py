"""What is kept of addresses and numbers that signers had until they were corrected: somebody else may have them."""

from collections.abc import Iterator, Sequence

from paraph.audit_trail.commitments import EntryAbout, entries_about, erase_values
from paraph.audit_trail.models import Entry
from paraph.flow.events import lock_request
from paraph.flow.personal_data.place import Facts, Person, Place, among, pseudonym, rewrite_recorded, telling
from paraph.signature_requests.models import RequestStatus


def _entries(person: Person) -> Iterator[EntryAbout]:
    """Yield the journal's entries about messages to the person in the place of a signer who was corrected since."""
    sent = Entry.objects.filter(among(person, "metadata__recipient"), signer__replaced_links__gt=0)
    sent = sent.filter(**person.of("organization")).exclude(
        among(person, "signer__email") | among(person, "signer__phone")
    )
    addresses = {address.casefold() for address in person.addresses}
    for request_id, signer_id in sent.order_by("request", "signer").values_list("request", "signer").distinct():
        for found in entries_about({request_id}, {signer_id}, ()):
            if found.values and str(found.entry.metadata.get("recipient", "")).casefold() in addresses:
                yield found


def _erase(person: Person, found: Sequence[EntryAbout]) -> int:
    """Erase what the journal has, and the address in events and recorded webhooks. A request that is still to be proven
    keeps them until then, as its proof states all salts."""
    return sum(_erase_entry(person, each) for each in found)


def _erase_entry(person: Person, found: EntryAbout) -> int:
    request, signer = lock_request(found.entry.request_id), found.entry.signer
    if signer is None or (request.status != RequestStatus.EXPIRED and not request.finalized):
        return 0
    named = pseudonym(signer)
    erase_values([found], {(request.pk, found.entry.metadata["recipient"]): named})
    addresses = {address.casefold() for address in person.addresses}

    def anonymize(content: Facts) -> None:
        if content.get("signer", {}).get("email", "").casefold() in addresses:
            content["signer"]["email"] = named

    rewrite_recorded(request, anonymize)
    return 1


EARLIER: Place[Person, EntryAbout] = Place(
    "earlier addresses of signers",
    "journal_entry: ip user_agent metadata; webhooks_event: payload; webhooks_delivery: payload",
    _entries,
    telling(
        "entry.organization_id entry.environment request=entry.request_id event=entry.event_type at=entry.created_at",
        lambda found: {path.removeprefix("metadata/"): value for path, value in found.values.items()},
    ),
    _erase,
)
