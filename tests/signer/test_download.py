"""The files that a signer takes along."""

import re
from datetime import timedelta

import pytest
from django.test import Client

from paraph.documents.models import Document
from paraph.evidence.models import SealedDocument
from paraph.signature_requests import tickets
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.storage import store
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db


def sealed(signers: int = 1) -> Scene:
    """A request whose file is there as if it had been sealed."""
    made = scene(signers=signers)
    for position in range(signers):
        sign(made, position)
    store.put("sealed/x.pdf", b"%PDF-sealed")
    SealedDocument.objects.create(
        request_document=made.request_documents[0], object_key="sealed/x.pdf", sha256=b"", file_size=11, seal={}
    )
    SignatureRequest.objects.update(finalized=True)
    return made


def copy_of(made: Scene, ticket: str, position: int = 0) -> str:
    return made.url(position, f"/documents/{made.request_documents[0].document_id}/copy.pdf?ticket={ticket}")


def status(client: Client, url: str) -> int:
    answer = client.get(url)
    if answer.streaming:
        b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    return answer.status_code


def ticket_of(made: Scene, position: int = 0, **lifetime: float) -> str:
    return tickets.ticket(made.signers[position], timedelta(**lifetime or {"minutes": 15}))


def test_the_document_can_be_read_before_it_is_signed(client: Client) -> None:
    made = scene()
    answer = client.get(made.url(0, f"/documents/{made.request_documents[0].document_id}.pdf"))
    assert b"".join(answer.streaming_content) == made.uploads[0]  # type: ignore[attr-defined]
    assert 'filename="contract-1.pdf"' in answer["Content-Disposition"]
    assert "no-store" in answer["Cache-Control"] and answer["Referrer-Policy"] == "no-referrer"


def test_documents_of_others_cannot(client: Client) -> None:
    made, other = scene(), scene()
    foreign = other.request_documents[0].document_id
    assert client.get(made.url(0, f"/documents/{foreign}.pdf")).status_code == 404
    assert Document.objects.filter(pk=foreign).exists()


def test_who_signed_has_a_ticket_to_their_copy(client: Client) -> None:
    made = scene()
    body = {"code": made.code(), "consent": True}
    answer = client.post(made.url(rest="/signature"), body, content_type="application/json")
    assert set(answer.json()) == {"status", "signed_at", "signature_request"}
    ticket = answer["X-Copy-Ticket"]
    assert status(client, copy_of(made, ticket)) == 404  # not sealed yet
    store.put("sealed/x.pdf", b"%PDF-sealed")
    SealedDocument.objects.create(
        request_document=made.request_documents[0], object_key="sealed/x.pdf", sha256=b"", file_size=11, seal={}
    )
    SignatureRequest.objects.update(finalized=True)
    copy = client.get(copy_of(made, ticket))
    assert b"".join(copy.streaming_content) == b"%PDF-sealed"  # type: ignore[attr-defined]
    assert 'filename="contract-1-signed.pdf"' in copy["Content-Disposition"]


@pytest.mark.parametrize("ticket", ["", "x", "9999999999.x", ".", "1.", "9" * 40 + ".x", "é.é"])
def test_nothing_without_a_ticket(client: Client, ticket: str) -> None:
    assert client.get(copy_of(sealed(), ticket)).status_code == 404


def test_a_ticket_ends_and_is_the_signer_s_own(client: Client) -> None:
    made = sealed(signers=2)
    assert status(client, copy_of(made, ticket_of(made))) == 200
    assert status(client, copy_of(made, ticket_of(made, minutes=-1))) == 404
    assert status(client, copy_of(made, ticket_of(made, 1))) == 404
    until, _, proof = ticket_of(made, minutes=-1).partition(".")
    assert status(client, copy_of(made, f"{int(until) + 3600}.{proof}")) == 404


def test_the_notice_leads_to_the_copy_of_who_comes_with_a_ticket(client: Client) -> None:
    made = sealed()
    ticket = ticket_of(made)
    page = client.get(made.url(0, f"?lang=fr&ticket={ticket}")).content.decode()
    assert 'data-progress="ready"' in page
    copy, proof = re.findall(r'<ul class="copies">.*?</ul>', page, re.DOTALL)[0].split("</li>")[:2]
    assert copy_of(made, ticket) in copy and "contract-1.pdf" in copy
    assert made.url(0, f"/proof.pdf?ticket={ticket}") in proof
    assert f"?lang=de&amp;ticket={ticket}" in page  # another language keeps it
    for other in ("", "?ticket=x", f"?ticket={ticket_of(made, minutes=-1)}"):
        page = client.get(made.url(0, other)).content.decode()
        assert 'data-progress="ready"' in page and "copy.pdf" not in page and "ticket" not in page


def test_the_notice_says_that_the_copy_is_being_sealed(client: Client) -> None:
    made = sealed()
    SignatureRequest.objects.update(finalized=False)
    ticket = ticket_of(made)
    page = client.get(made.url(0, f"?ticket={ticket}")).content.decode()
    assert 'data-progress="sealing"' in page and "copy.pdf" not in page
    assert f'<a href="?lang=en&amp;ticket={ticket}">Try again</a>' in page


def test_a_signer_who_has_not_signed_has_no_copy(client: Client) -> None:
    made = sealed()
    Signer.objects.update(status="notified", signed_at=None)
    assert status(client, copy_of(made, ticket_of(made))) == 404
