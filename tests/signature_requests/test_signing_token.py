"""A signing token opens one signer's page, nothing stored opens any, and no stored signature can be read."""

from typing import Any

import pytest
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext

from paraph.flow.signing.sign import Signature
from paraph.flow.signing.sign import sign as sign_verb
from paraph.kernel import tokens
from paraph.kernel.secrets import Secrets
from paraph.signature_requests.links import new_salt, signer_of, signing_url, token
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import Signer
from tests.factories import TYPED, VISITOR, Scene, scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def signers() -> list[Signer]:
    return scene(signers=2).signers


def test_each_token_opens_its_own_signer(signers: list[Signer]) -> None:
    assert [signer_of(token(signer)) for signer in signers] == signers
    assert token(signers[0]) != token(signers[1])
    assert signing_url(signers[0]).endswith(f"/sign/{token(signers[0])}")


def test_any_other_text_opens_nothing(signers: list[Signer]) -> None:
    right = token(signers[0])
    other_salt = Signer(pk=signers[0].pk, token_salt=new_salt())
    huge = tokens.base64url(b"\xff" * 32)
    wrong = ["", right[:-1], right + "A", right[:20] + "é" + right[21:], "!" * 43, token(other_salt), huge]
    for position in range(len(right)):
        changed = "A" if right[position] != "A" else "B"
        wrong.append(right[:position] + changed + right[position + 1 :])
    none, of_other = bytes(24), tokens.from_base64url(token(signers[1]))[8:]
    for pk, mac in ((signers[1].pk + 7, of_other), (signers[0].pk, of_other), (0, none), (1, none), (2**62, none)):
        wrong.append(tokens.base64url(pk.to_bytes(8, "big") + mac))
    assert [text for text in wrong if signer_of(text)] == []


def test_a_wrong_token_takes_the_same_work_whether_or_not_somebody_has_the_id(
    signers: list[Signer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statements, rows and comparisons are counted, as their duration says little on a busy machine."""
    seen: list[Any] = []

    def watched(name: str, verb: Any) -> Any:
        def run(*given: Any) -> Any:
            seen.append((name, [len(part) for part in given if isinstance(part, bytes)]))
            return verb(*given)

        return run

    for name in ("keyed_hash", "same"):
        monkeypatch.setattr(tokens, name, watched(name, getattr(tokens, name)))
    from_db = Signer.from_db.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Signer, "from_db", classmethod(watched("row", from_db)))

    def work(identity: int) -> tuple[list[str], list[Any]]:
        seen.clear()
        wrong = tokens.base64url(identity.to_bytes(8, "big") + bytes(24))
        with CaptureQueriesContext(connection) as queries:
            assert signer_of(wrong) is None
        statements = [query["sql"].replace(str(identity), "?") for query in queries]
        return statements, list(seen)

    last = max(signer.pk for signer in signers)
    known, gone, far = work(last), work(last + 1), work(2**47)
    assert known == gone == far
    assert len(known[0]) == 1 and sorted({name for name, _ in known[1]}) == ["keyed_hash", "row", "same"]


DRAWN = {"type": "drawn", "strokes": [[[0.12345, 0.2], [0.5, 0.1], [1, 0.3]]], "aspect": 2.0}


def signed(made: Scene, position: int = 0) -> Signer:
    given = Signature(made.code(position), DRAWN, TYPED, "en")
    sign_verb(Signer.objects.select_related("request").get(pk=made.signers[position].pk), given, VISITOR)
    return Signer.objects.get(pk=made.signers[position].pk)


def stored() -> str:
    """Return all that the rows of signers hold, as text."""
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
    """Equal drawings are encrypted differently each time."""
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
