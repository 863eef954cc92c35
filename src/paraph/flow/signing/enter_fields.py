"""Keep what a signer has entered so far, until it is signed or the request is over."""

from collections.abc import Sequence

from django.db import transaction

from paraph.flow.lock import lock_signer
from paraph.signature_requests.fields import store as field_values
from paraph.signature_requests.fields.entry import Entry, with_entries
from paraph.signature_requests.fields.store import Values
from paraph.signature_requests.models import Signer
from paraph.signature_requests.signing_eligibility import require_open


def enter_fields(signer: Signer, entries: Sequence[Entry]) -> Values:
    """Keep the entries, right or wrong, beside those from before, and return all of them.

    Raise ``DomainError`` as :func:`require_open` does: only who may sign enters anything.
    """
    with transaction.atomic():
        locked = lock_signer(signer.pk)  # two devices at once lose nothing of each other
        require_open(locked)
        typed = with_entries(field_values.values_of(locked), entries)
        field_values.write(locked, typed)
        locked.save(update_fields=["fields_encrypted"])
    signer.fields_encrypted = locked.fields_encrypted
    return typed
