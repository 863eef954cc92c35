"""Encrypting what a signer enters into fields, for that signer alone, so that no other row can hold it.

Before the signature these are values as they were entered, so that nothing is lost; with it, what was signed.
"""

import json

from django.conf import settings

from paraph.signature_requests.models import Signer

PURPOSE = "fields"

Value = str | bool
"""A text, or whether a checkbox is ticked. A date is ``YYYY-MM-DD``, a number has a point."""

Values = dict[int, Value]
"""Values by the id of their field."""


def values_of(signer: Signer) -> Values:
    """Return what the signer entered, or signed; empty where there is nothing."""
    return {} if signer.fields_encrypted is None else decrypted(signer.pk, bytes(signer.fields_encrypted))


def decrypted(signer_id: int, encrypted: bytes) -> Values:
    """Return the values that the row of a signer holds."""
    content = settings.SECRETS.decrypt(PURPOSE, encrypted, context(signer_id))
    return {int(field_id): value for field_id, value in json.loads(content).items()}


def write(signer: Signer, values: Values) -> None:
    """Set ``fields_encrypted``, None for no values. Does not save the row."""
    content = json.dumps(values, separators=(",", ":")).encode()
    signer.fields_encrypted = settings.SECRETS.encrypt(PURPOSE, content, context(signer.pk)) if values else None


def context(signer_id: int) -> bytes:
    """Return what the values of a signer are encrypted for."""
    return f"fields of signer {signer_id}".encode()
