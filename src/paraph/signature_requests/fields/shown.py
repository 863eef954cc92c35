"""The values that a signer sees on the pages before signing: what is set, their own, and in a sequence what those
before them signed."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from paraph.signature_requests.fields.entry import judged, measure
from paraph.signature_requests.fields.kinds import is_entered, known_value
from paraph.signature_requests.fields.readers import Value
from paraph.signature_requests.fields.store import Values, values_of
from paraph.signature_requests.models import Field, Mode, Signer, SignerStatus


class ShownValue(NamedTuple):
    """``by``: who signed the value before; None for the signer's own fields, and for what the sender set."""

    field: Field
    value: Value
    by: Signer | None = None


def shown_values(signer: Signer, fields: Iterable[Field], typed: Values) -> list[ShownValue]:
    """Return what is there to be seen of ``fields``, which are those of the request on documents that the signer
    reads. ``typed``: what the signer has entered so far; what is wrong of it is not shown."""
    every = list(fields)
    own = [field for field in every if field.signer_id == signer.pk]
    others = [field for field in every if field.signer_id != signer.pk]
    measure(own, typed, signer.request.locale)
    values = [ShownValue(field, value) for field in own if (value := own_value(signer, field, typed)) is not None]
    return values + values_of_others(signer, others)


def own_value(signer: Signer, field: Field, typed: Values) -> Value | None:
    """Return the value of a field of the signer, None where there is none or it is wrong."""
    if not is_entered(field):
        value = known_value(field, signer) or field.value
        return value if isinstance(value, str | bool) else None
    return judged(field, typed.get(field.pk, field.value), signer.request.locale)[0]


def values_of_others(signer: Signer, fields: Sequence[Field]) -> list[ShownValue]:
    """Return what the signer sees of ``fields``, which are those of others."""
    if not fields:
        return []
    before = _before(signer)
    signed = {pk: value for each in before.values() for pk, value in values_of(each).items()}
    found = []
    for field in fields:
        if field.pk in signed:
            found.append(ShownValue(field, signed[field.pk], before[field.signer_id]))
        elif field.signer_id not in before and field.read_only and field.value is not None:
            found.append(ShownValue(field, field.value))
    return found


def _before(signer: Signer) -> dict[int, Signer]:
    if signer.request.mode != Mode.SEQUENTIAL:
        return {}
    earlier = signer.request.signers.filter(order__lt=signer.order, status=SignerStatus.SIGNED)
    return {each.pk: each for each in earlier.defer("signature_encrypted", "initials_encrypted")}
