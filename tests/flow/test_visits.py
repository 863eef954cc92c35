"""Openings of the page and wrong codes: in the proof and its evidence, and never in the journal."""

import io
import json

import pikepdf
import pytest

from paraph.evidence.models import ProofFile
from paraph.flow.sealing.finalize import prove, seal
from paraph.kernel import clock
from paraph.otp.models import RefusedCode
from paraph.pdf.verification.proof_file import printed_text
from paraph.signature_requests.models import FirstOpening
from paraph.storage import store
from tests.factories import Scene, scene, sign
from tests.production import Client

pytestmark = pytest.mark.django_db


def test_the_first_opening_alone_is_noted(client: Client) -> None:
    made = scene(signers=2, mode="sequential")
    client.head(made.url())
    assert not FirstOpening.objects.exists(), "who asks for the head alone sees no documents"
    client.get(made.url(), REMOTE_ADDR="192.0.2.7")
    first = FirstOpening.objects.get()
    assert (first.signer_id, first.ip) == (made.signers[0].pk, "192.0.2.7")
    client.get(made.url(), REMOTE_ADDR="192.0.2.8")
    assert FirstOpening.objects.get() == first and FirstOpening.objects.get().opened_at == first.opened_at
    client.get(made.url(1))
    assert FirstOpening.objects.count() == 2, "whose turn is still to come may read, and did"
    assert made.events() == ["signature_request.created"]


def test_a_page_without_documents_is_no_opening(client: Client, made: Scene) -> None:
    sign(made)
    client.get(made.url())
    assert not FirstOpening.objects.exists()


def test_wrong_codes_are_noted_with_their_time(client: Client, made: Scene) -> None:
    wrong = {"code": f"{(int(made.code()) + 1) % 10**6:06d}", "consent": True}
    before = clock.now()
    for _ in range(7):  # two of them are refused without being compared
        client.post(made.url(0, "/signature"), wrong, content_type="application/json")
    noted = RefusedCode.objects.order_by("id")
    assert [code.signer_id for code in noted] == [made.signers[0].pk] * 5
    assert all(before <= code.refused_at <= clock.now() for code in noted)
    assert made.events() == ["signature_request.created", "signer.otp_sent"]


def test_the_proof_and_its_evidence_state_them(client: Client) -> None:
    made = scene(signers=2)
    client.get(made.url(), REMOTE_ADDR="192.0.2.7")
    wrong = {"code": f"{(int(made.code()) + 1) % 10**6:06d}", "consent": True}
    client.post(made.url(0, "/signature"), wrong, content_type="application/json")
    for position in (0, 1):
        sign(made, position)
    seal(made.request_documents[0].pk)
    prove(made.request.pk)
    content = store.get(ProofFile.objects.get().object_key)
    opened = clock.iso_milliseconds(FirstOpening.objects.get().opened_at)
    refused = clock.iso_milliseconds(RefusedCode.objects.get().refused_at)
    with pikepdf.open(io.BytesIO(content)) as document:
        evidence = json.loads(document.attachments["evidence.json"].get_file().read_bytes())
    [first, second] = evidence["signers"]
    assert (first["first_opening"], first["refused_codes"]) == ({"at": opened, "ip": "192.0.2.7"}, [refused])
    assert "first_opening" not in second and second["refused_codes"] == []
    printed = printed_text(content)
    assert f"Pagefirstopened{opened.replace('T', '').replace('Z', 'UTC')}192.0.2.7" in printed
    assert f"Codesrefused{refused.replace('T', '').replace('Z', 'UTC')}" in printed
    created = clock.iso_milliseconds(made.entries()[0].created_at)
    assert evidence["request"]["created_at"] == created
    assert f"Created{created.replace('T', '').replace('Z', 'UTC')}" in printed
