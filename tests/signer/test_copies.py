"""Files to keep: recipients of copies get them for 30 days and without a code, signers with a ticket, which can be
mailed to them again."""

import re
from datetime import timedelta
from typing import Any

import pytest

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages import copies
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import links
from paraph.signature_requests.links import new_salt
from paraph.signature_requests.models import CopyRecipient, SignatureRequest, Signer
from paraph.signer import language
from paraph.storage import store
from paraph.tenants.models import Organization
from tests.factories import Scene, scene, seal_everything, sign
from tests.flow.test_jobs import work_off
from tests.production import Client
from tests.signer.calls import sign as sign_here
from tests.signer.calls import text

pytestmark = pytest.mark.django_db


def finished(**how: Any) -> Scene:
    made = scene(copies=1, **how)
    sign(made)
    work_off()
    return made


def path() -> str:
    """Return the path of the link in the newest mail to the recipient of copies."""
    text = CapturedMessage.objects.filter(to="copy0@example.com").latest("id").text
    found = re.search(r"(/copies/[^/\s]+)$", text, re.MULTILINE)
    assert found
    return found.group(1)


def later(monkeypatch: pytest.MonkeyPatch, **span: int) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(**span))


def test_the_page_lists_sealed_files_and_proof_that_open_without_a_code(client: Client) -> None:
    made = finished(documents=2)
    page = text(client.get(path()))
    assert "Your copy from Acme Ltd" in page and "contract-2.pdf" in page
    for row in made.request_documents:
        address = f"{path()}/documents/{row.document_id}.pdf"
        assert f'href="{address}"' in page
        sealed = SealedDocument.objects.get(request_document=row)
        assert client.get(address).getvalue() == store.get(sealed.object_key)
    assert client.get(f"{path()}/proof.pdf").getvalue() == store.get(ProofFile.objects.get().object_key)


def test_documents_of_other_requests_are_not_there(client: Client) -> None:
    """A signer can read the documents of their own request before signing."""
    foreign, made = scene(), finished()
    document = foreign.request_documents[0].document_id
    assert client.get(f"{path()}/documents/{document}.pdf").status_code == 404
    assert client.get(scene().url(0, f"/documents/{document}.pdf")).status_code == 404
    assert status(client, f"{path()}/documents/{made.request_documents[0].document_id}.pdf") == 200
    answer: Any = client.get(foreign.url(0, f"/documents/{document}.pdf"))
    assert answer.getvalue() == foreign.uploads[0] and 'filename="contract-1.pdf"' in answer["Content-Disposition"]
    assert "no-store" in answer["Cache-Control"] and answer["Referrer-Policy"] == "no-referrer"


def test_a_link_ends_after_thirty_days_and_a_new_one_is_mailed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    finished()
    first = path()
    later(monkeypatch, days=29, hours=23)
    assert client.get(f"{first}/proof.pdf").getvalue()
    later(monkeypatch, days=30, minutes=1)
    assert client.get(f"{first}/proof.pdf").status_code == 404
    page = text(client.get(first))
    assert "no longer valid" in page and "c•••@example.com" in page and "copy0@example.com" not in page
    assert client.post(first, {"do": "copy"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 422
    answers = [client.post(first, {"do": "copy"}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [303, 303, 303, 429]
    assert "We emailed the link to your copy to c•••@example.com." in text(client.get(answers[0]["Location"]))
    assert path() != first and client.get(f"{path()}/proof.pdf").getvalue()


def test_retention_a_new_salt_and_a_wrong_token_revoke_it(client: Client) -> None:
    finished()
    address = path()
    number, until, proof = address.removeprefix("/copies/").split(".", 2)
    longer = f"/copies/{number}.{int(until) + 1}.{proof}"
    for wrong in (longer, f"/copies/{int(number) + 1}.{until}.{proof}", f"/copies/{number}.{until}.x", "/copies/x"):
        assert client.get(wrong).status_code == 404 and client.get(f"{wrong}/proof.pdf").status_code == 404
    SignatureRequest.objects.update(files_deleted_at=clock.now())
    assert client.get(f"{address}/proof.pdf").status_code == 404
    assert "no longer exist" in text(client.get(address))
    CopyRecipient.objects.update(token_salt=new_salt())
    assert client.get(address).status_code == 404


BUTTON = 'name="do" value="copy"'
WORDS = language.words("en")


@pytest.fixture
def made() -> Scene:
    """A request that everybody has signed and that is finalized."""
    made = scene()
    sign(made)
    SignatureRequest.objects.update(finalized=True)
    return made


def mails() -> list[Any]:
    return list(CapturedMessage.objects.filter(text__contains="?ticket=").order_by("pk"))


def asked(client: Client, made: Scene, **extra: Any) -> Any:
    return client.post(made.url(rest="?lang=en"), {"do": "copy"}, **extra)


@pytest.mark.django_db(transaction=True)
def test_the_page_offers_it_mails_it_and_says_so(client: Client, made: Scene, settings: Any) -> None:
    page = text(client.get(made.url()))
    assert BUTTON in page and "a•••@example.com" in page and "ada1@example.com" not in page
    before = client.post(made.url(), {"do": "sign", "code": "123456"})  # a form opened before the signature
    assert before.status_code == 200 and WORDS["already_signed_title"] in text(before) and mails() == []
    answer = asked(client, made)
    assert answer.status_code == 303 and answer["Location"] == f"{made.url()}?lang=en&mailed=1"
    [mail] = mails()
    assert mail.to == "ada1@example.com"
    told = text(client.get(answer["Location"]))
    assert WORDS["copy_kept"] in told and BUTTON not in told, "there is no mail server"
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    told = text(client.get(answer["Location"]))
    assert WORDS["copy_mailed"].format(recipient="a•••@example.com") in told and BUTTON not in told
    link = re.search(r"\S+\?ticket=\S+", mail.text)
    assert link and "Download my copy" in text(client.get(link.group().removeprefix(settings.PARAPH.public_url)))


@pytest.mark.django_db(transaction=True)
def test_three_are_mailed_in_a_day_and_one_that_no_server_takes_does_not_count(
    client: Client, made: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise ConnectionRefusedError

    with monkeypatch.context() as away:
        away.setattr(copies, "send_email", refuse)
        for _ in range(4):
            refused = asked(client, made)
            assert refused.status_code == 503 and WORDS["delivery_failed"] in text(refused)
    assert BUTTON in text(client.get(made.url(rest="?mailed=1"))), "it was not mailed"
    assert [asked(client, made).status_code for _ in range(4)] == [303, 303, 303, 429]
    refused = asked(client, made)
    assert WORDS["copy_limit"] in text(refused) and int(refused["Retry-After"]) > 0 and len(mails()) == 3


@pytest.mark.django_db(transaction=True)
def test_where_there_is_no_copy_nothing_is_mailed(client: Client, made: Scene) -> None:
    assert asked(client, made, HTTP_SEC_FETCH_SITE="cross-site").status_code == 422
    requests, organizations = SignatureRequest.objects.all(), Organization.objects.all()
    for rows, change, back in (
        (requests, {"finalized": False}, {"finalized": True}),
        (organizations, {"mails_copy_links": False}, {"mails_copy_links": True}),
        (requests, {"files_deleted_at": clock.now()}, {"files_deleted_at": None}),
    ):
        rows.update(**change)
        assert BUTTON not in text(client.get(made.url())) and asked(client, made).status_code == 404, change
        rows.update(**back)
    assert mails() == []


def sealed(signers: int = 1) -> Scene:
    made = scene(signers=signers)
    for position in range(signers):
        sign(made, position)
    seal(made)
    return made


def seal(made: Scene) -> None:
    """Store files for the request as if its documents had been sealed."""
    seal_everything(made.request)
    SignatureRequest.objects.update(finalized=True)


def copy_of(made: Scene, ticket: str, position: int = 0) -> str:
    return made.url(position, f"/documents/{made.request_documents[0].document_id}/copy.pdf?ticket={ticket}")


def status(client: Client, url: str) -> int:
    answer: Any = client.get(url)
    assert answer.getvalue()
    return int(answer.status_code)


def ticket_of(made: Scene, position: int = 0, **lifetime: float) -> str:
    return links.ticket(made.signers[position], timedelta(**lifetime or {"minutes": 15}))


def test_who_signed_has_a_ticket_to_their_copy(client: Client) -> None:
    made = scene()
    answer = sign_here(client, made)
    assert set(answer.json()) == {"status", "signed_at", "signature_request"}
    ticket = answer["X-Copy-Ticket"]
    assert status(client, copy_of(made, ticket)) == 404  # not sealed yet
    seal(made)
    copy: Any = client.get(copy_of(made, ticket))
    assert copy.getvalue() == b"sealed %d" % made.request_documents[0].document_id
    assert 'filename="contract-1-signed.pdf"' in copy["Content-Disposition"]


def test_a_ticket_ends_and_is_the_signer_s_own_who_has_signed(client: Client) -> None:
    made = sealed(signers=2)
    assert status(client, copy_of(made, ticket_of(made))) == 200
    assert status(client, copy_of(made, ticket_of(made, minutes=-1))) == 404
    assert status(client, copy_of(made, ticket_of(made, 1))) == 404
    until, _, proof = ticket_of(made, minutes=-1).partition(".")
    for ticket in (f"{int(until) + 3600}.{proof}", "", "x", "9999999999.x", ".", "1.", "9" * 40 + ".x", "é.é"):
        assert status(client, copy_of(made, ticket)) == 404, ticket
    Signer.objects.update(status="notified", signed_at=None)
    assert status(client, copy_of(made, ticket_of(made))) == 404


def test_the_notice_leads_to_the_copy_of_who_comes_with_a_ticket(client: Client) -> None:
    made = sealed()
    ticket = ticket_of(made)
    page = text(client.get(made.url(0, f"?lang=fr&ticket={ticket}")))
    assert 'data-progress="ready"' in page
    copy, proof = re.findall(r'<ul class="copies">.*?</ul>', page, re.DOTALL)[0].split("</li>")[:2]
    assert copy_of(made, ticket) in copy and "contract-1.pdf" in copy
    assert made.url(0, f"/proof.pdf?ticket={ticket}") in proof
    assert f"?lang=de&ticket={ticket}" in page  # a change of language keeps the ticket
    for other in ("", "?ticket=x", f"?ticket={ticket_of(made, minutes=-1)}"):
        page = text(client.get(made.url(0, other)))
        assert 'data-progress="ready"' in page and "copy.pdf" not in page and "ticket" not in page
    SignatureRequest.objects.update(finalized=False)
    page = text(client.get(made.url(0, f"?ticket={ticket}")))
    assert 'data-progress="sealing"' in page and "copy.pdf" not in page
    assert f'<a href="?lang=en&ticket={ticket}">Try again</a>' in page
