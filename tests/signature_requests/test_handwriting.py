"""Signatures and initials at rest."""

from typing import Any

import pytest
from django.db import connection
from django.test import override_settings

from paraph.flow.sealing.stamp_marks import stamp_marks
from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel.secrets import Secrets
from paraph.signature_requests import handwriting
from paraph.signature_requests.handwriting import encrypt_earlier, initials_of, signature_of
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


def earlier(made: Scene) -> None:
    """The rows as earlier versions wrote them."""
    for signer in Signer.objects.filter(signature_encrypted__isnull=False):
        plain: dict[str, Any] = {"signature": signature_of(signer), "initials": initials_of(signer)}
        none = {"signature_encrypted": None, "initials_encrypted": None}
        Signer.objects.filter(pk=signer.pk).update(**plain, **none)
    assert "0.12345" in stored()


def test_no_stroke_can_be_read_in_the_table() -> None:
    signer = signed(scene(signers=2, initials_required=True))
    assert (signature_of(signer), initials_of(signer)) == (DRAWN, TYPED)
    assert (signer.signature, signer.initials) == (None, None)
    text = stored()
    assert not any(word in text for word in ("strokes", "drawn", "typed", "0.12345", b"strokes".hex()))


def test_equal_drawings_look_different_each_time() -> None:
    made = scene(signers=3)
    one, other = signed(made, 0), signed(made, 1)
    assert bytes(one.signature_encrypted or b"")[12:] != bytes(other.signature_encrypted or b"")[12:]


def test_what_is_put_into_another_row_or_column_does_not_open() -> None:
    made = scene(signers=3, initials_required=True)
    one, other = signed(made, 0), signed(made, 1)
    one.initials_encrypted, other.signature_encrypted = one.signature_encrypted, one.signature_encrypted
    with pytest.raises(ValueError, match="does not open"):
        signature_of(other)
    with pytest.raises(ValueError, match="does not open"):
        initials_of(one)


def test_under_another_secret_nothing_opens() -> None:
    signer = signed(scene(signers=2))
    with override_settings(SECRETS=Secrets(b"another")), pytest.raises(ValueError, match="does not open"):
        signature_of(signer)


def test_rows_of_earlier_versions_draw_the_same_before_and_after_they_are_encrypted() -> None:
    made = scene(signers=2, initials_required=True, environment="production")
    for position in range(2):
        signed(made, position)
    drawn = [stamp_marks(made.request_documents[0])]
    earlier(made)
    drawn.append(stamp_marks(made.request_documents[0]))
    assert encrypt_earlier() == 2
    assert "0.12345" not in stored() and "typed" not in stored()
    drawn.append(stamp_marks(made.request_documents[0]))
    assert drawn[0] == drawn[1] == drawn[2]
    assert encrypt_earlier() == 0


def test_earlier_rows_are_encrypted_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handwriting, "_AT_ONCE", 2)
    made = scene(signers=5)
    for position in range(4):
        signed(made, position)
    earlier(made)
    assert encrypt_earlier() == 4
    rows = Signer.objects.order_by("order")
    assert [signature_of(signer) for signer in rows[:4]] == [DRAWN] * 4
    assert rows[4].signature_encrypted is None
