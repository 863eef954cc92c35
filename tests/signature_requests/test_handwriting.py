"""Signatures and initials at rest."""

import pytest
from django.db import connection
from django.test import override_settings

from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel.secrets import Secrets
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import Signer
from tests.factories import TYPED, VISITOR, Scene, scene

pytestmark = pytest.mark.django_db

DRAWN = {"type": "drawn", "strokes": [[[0.12345, 0.2], [0.5, 0.1], [1, 0.3]]], "aspect": 2.0}


def signed(made: Scene, position: int = 0) -> Signer:
    given = Signature(made.code(position), DRAWN, TYPED, "en")
    sign_verb(Signer.objects.select_related("request").get(pk=made.signers[position].pk), given, VISITOR)
    return Signer.objects.get(pk=made.signers[position].pk)


def stored() -> str:
    """All that the rows of the table hold, as text."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row_to_json(signer)::text, '') FROM signature_requests_signer AS signer")
        found: str = cursor.fetchone()[0]
    return found


def test_no_stroke_can_be_read_in_the_table() -> None:
    signer = signed(scene(signers=2, initials_required=True))
    assert (signature_of(signer), initials_of(signer)) == (DRAWN, TYPED)
    text = stored()
    assert not any(word in text for word in ("strokes", "drawn", "typed", "0.12345", b"strokes".hex()))


def test_what_is_put_into_another_row_or_column_does_not_open() -> None:
    """And equal drawings look different each time."""
    made = scene(signers=3, initials_required=True)
    one, other = signed(made, 0), signed(made, 1)
    assert bytes(one.signature_encrypted or b"")[12:] != bytes(other.signature_encrypted or b"")[12:]
    one.initials_encrypted, other.signature_encrypted = one.signature_encrypted, one.signature_encrypted
    with pytest.raises(ValueError, match="does not open"):
        signature_of(other)
    with pytest.raises(ValueError, match="does not open"):
        initials_of(one)


def test_under_another_secret_nothing_opens() -> None:
    signer = signed(scene(signers=2))
    with override_settings(SECRETS=Secrets(b"another")), pytest.raises(ValueError, match="does not open"):
        signature_of(signer)
