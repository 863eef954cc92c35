"""Whatever people are called, the page opens, they sign with initials, and the request is finalized."""

import pytest
from django.test import Client

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.sealing.context import sealing_context
from paraph.flow.sealing.finalize import finalize
from paraph.pdf.verification.verify import verify
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.storage import store
from tests.factories import TYPED, scene, sign

NAMES = {
    ("ßen", "ﬁnn"): "SF",
    ("ŉamen", "ǆemal"): "ND",
    ("ǰan", "ևa"): "J̌Ե",
    ("ﬃ", "İpek"): "Fİ",
    ("ΐ", "ᾳ"): "Ϊ́ᾼ",
    ("😀", "👨\u200d👩\u200d👧"): "😀",
    ("\u0301", "\u0302\u0308"): "—",
    ("\u200b", "\u202e"): "—",
    ("דוד", "לוי"): "דל",
    ("محمد", "الخالدي"): "\u0645 \u062e",
    ("ﷺ", "x"): "\u0635 \u0627 \u0639 X",
    ("\U0001d49c", "A\u030b"): "AA̋",
    ("a", "b"): "AB",
    ("ß" * 200, "ŉ" * 200): "SN",
    ("王小明", "\U0010fffd"): "王",
}


@pytest.mark.django_db
def test_names_that_no_capital_letter_begins(client: Client) -> None:
    made = scene(signers=len(NAMES), initials_required=True)
    for signer, (first, last) in zip(made.signers, NAMES, strict=True):
        Signer.objects.filter(pk=signer.pk).update(first_name=first, last_name=last)
    for position, initials in enumerate(NAMES.values()):
        page = client.get(made.url(position))
        assert page.status_code == 200 and f'alt="{initials}"' in page.content.decode()
        assert client.get(made.url(position, "/initials.svg")).status_code == 200
        sign(made, position, initials=TYPED)
    finalize(made.request_documents[0].pk)
    assert SignatureRequest.objects.get(pk=made.request.pk).finalized
    for key in (SealedDocument.objects.get().object_key, ProofFile.objects.get().object_key):
        content = store.get(key)
        assert verify(content, sealing_context().roots("sandbox")).ok
