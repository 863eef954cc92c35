"""The files that people take along: those who get copies for 30 days and without a code, signers with a ticket, which
is mailed to them again."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages import copies
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests import links
from paraph.signature_requests.links import copy_url, new_salt
from paraph.signature_requests.models import CopyRecipient, SignatureRequest, Signer
from paraph.signer import language
from paraph.storage import store
from paraph.tenants.models import Organization
from paraph.words import LOCALES
from tests.factories import Scene, scene, seal_everything, sign
from tests.flow.test_jobs import work_off
from tests.production import Client

pytestmark = pytest.mark.django_db


def finished(**how: Any) -> Scene:
    made = scene(copies=1, **how)
    sign(made)
    work_off()
    return made


def path() -> str:
    """The address in the newest mail to the recipient."""
    text = CapturedMessage.objects.filter(to="copy0@example.com").latest("id").text
    found = re.search(r"(/copies/[^/\s]+)$", text, re.MULTILINE)
    assert found
    return found.group(1)


def text(response: Any) -> str:
    return html.unescape(response.content.decode())


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
    foreign = scene().request_documents[0].document_id
    made = finished()
    assert client.get(f"{path()}/documents/{foreign}.pdf").status_code == 404
    assert client.get(scene().url(0, f"/documents/{foreign}.pdf")).status_code == 404
    assert status(client, f"{path()}/documents/{made.request_documents[0].document_id}.pdf") == 200


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


def test_every_language_has_the_page(client: Client) -> None:
    made = scene(copies=1)
    url, _ = copy_url(CopyRecipient.objects.get(request=made.request))
    for locale in LOCALES:
        answer = client.get(f"/copies/{url.rpartition('/')[2]}?lang={locale}")
        assert answer.status_code == 200 and f'<html lang="{locale}"' in text(answer)


BUTTON = 'name="do" value="copy"'
WORDS = language.words("en")


@pytest.fixture
def made() -> Scene:
    """Everybody has signed, and the documents are sealed."""
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
    page = client.get(made.url()).content.decode()
    assert BUTTON in page and "a•••@example.com" in page and "ada1@example.com" not in page
    answer = asked(client, made)
    assert answer.status_code == 303 and answer["Location"] == f"{made.url()}?lang=en&mailed=1"
    [mail] = mails()
    assert mail.to == "ada1@example.com"
    told = client.get(answer["Location"]).content.decode()
    assert WORDS["copy_kept"] in told and BUTTON not in told, "there is no mail server"
    settings.PARAPH = settings.PARAPH.model_copy(update={"smtp_url": "smtp://127.0.0.1:1"})
    told = client.get(answer["Location"]).content.decode()
    assert WORDS["copy_mailed"].format(recipient="a•••@example.com") in told and BUTTON not in told
    link = re.search(r"\S+\?ticket=\S+", mail.text)
    assert link
    assert "Download my copy" in client.get(link.group().removeprefix(settings.PARAPH.public_url)).content.decode()


@pytest.mark.django_db(transaction=True)
def test_three_times_a_day(client: Client, made: Scene) -> None:
    assert [asked(client, made).status_code for _ in range(4)] == [303, 303, 303, 429]
    refused = asked(client, made)
    assert WORDS["copy_limit"] in refused.content.decode() and int(refused["Retry-After"]) > 0
    assert len(mails()) == 3


@pytest.mark.django_db(transaction=True)
def test_a_mail_that_no_server_takes_is_not_said_to_be_mailed(
    client: Client, made: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not count."""

    def refuse(*_: object, **__: object) -> str:
        raise ConnectionRefusedError

    monkeypatch.setattr(copies, "send_email", refuse)
    for _ in range(4):
        refused = asked(client, made)
        assert refused.status_code == 503 and WORDS["delivery_failed"] in refused.content.decode()
    told = client.get(made.url(rest="?mailed=1")).content.decode()
    assert BUTTON in told
    monkeypatch.undo()
    assert asked(client, made).status_code == 303


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("why", ["not sealed", "unwanted", "deleted", "another site"])
def test_where_there_is_no_copy_nothing_is_mailed(client: Client, made: Scene, why: str) -> None:
    extra = {}
    if why == "not sealed":
        SignatureRequest.objects.update(finalized=False)
    elif why == "unwanted":
        Organization.objects.update(mails_copy_links=False)
    elif why == "deleted":
        SignatureRequest.objects.update(files_deleted_at=made.request.created_at)
    else:
        extra = {"HTTP_SEC_FETCH_SITE": "cross-site"}
    assert (BUTTON in client.get(made.url()).content.decode()) == (why == "another site")
    assert asked(client, made, **extra).status_code in (404, 422)
    assert mails() == []


@pytest.mark.django_db(transaction=True)
def test_a_form_from_before_the_signature_mails_nothing(client: Client, made: Scene) -> None:
    answer = client.post(made.url(), {"do": "sign", "code": "123456"})
    assert answer.status_code == 200 and WORDS["already_signed_title"] in answer.content.decode() and mails() == []


def sealed(signers: int = 1) -> Scene:
    made = scene(signers=signers)
    for position in range(signers):
        sign(made, position)
    seal(made)
    return made


def seal(made: Scene) -> None:
    """The file is there as if it had been sealed."""
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


def test_the_document_can_be_read_before_it_is_signed(client: Client) -> None:
    made = scene()
    answer: Any = client.get(made.url(0, f"/documents/{made.request_documents[0].document_id}.pdf"))
    assert answer.getvalue() == made.uploads[0] and 'filename="contract-1.pdf"' in answer["Content-Disposition"]
    assert "no-store" in answer["Cache-Control"] and answer["Referrer-Policy"] == "no-referrer"


def test_who_signed_has_a_ticket_to_their_copy(client: Client) -> None:
    made = scene()
    body = {"code": made.code(), "consent": True}
    answer = client.post(made.url(rest="/signature"), body, content_type="application/json")
    assert set(answer.json()) == {"status", "signed_at", "signature_request"}
    ticket = answer["X-Copy-Ticket"]
    assert status(client, copy_of(made, ticket)) == 404  # not sealed yet
    seal(made)
    copy: Any = client.get(copy_of(made, ticket))
    assert copy.getvalue() == b"sealed %d" % made.request_documents[0].document_id
    assert 'filename="contract-1-signed.pdf"' in copy["Content-Disposition"]


@pytest.mark.parametrize("ticket", ["", "x", "9999999999.x", ".", "1.", "9" * 40 + ".x", "é.é"])
def test_nothing_without_a_ticket(client: Client, ticket: str) -> None:
    assert client.get(copy_of(sealed(), ticket)).status_code == 404


def test_a_ticket_ends_and_is_the_signer_s_own_who_has_signed(client: Client) -> None:
    made = sealed(signers=2)
    assert status(client, copy_of(made, ticket_of(made))) == 200
    assert status(client, copy_of(made, ticket_of(made, minutes=-1))) == 404
    assert status(client, copy_of(made, ticket_of(made, 1))) == 404
    until, _, proof = ticket_of(made, minutes=-1).partition(".")
    assert status(client, copy_of(made, f"{int(until) + 3600}.{proof}")) == 404
    Signer.objects.update(status="notified", signed_at=None)
    assert status(client, copy_of(made, ticket_of(made))) == 404


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
    SignatureRequest.objects.update(finalized=False)
    page = client.get(made.url(0, f"?ticket={ticket}")).content.decode()
    assert 'data-progress="sealing"' in page and "copy.pdf" not in page
    assert f'<a href="?lang=en&amp;ticket={ticket}">Try again</a>' in page
