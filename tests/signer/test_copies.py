"""``/copies/{token}``: the sealed files and the proof for those who get copies, for 30 days and without a code."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from paraph.evidence.models import ProofFile, SealedDocument
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.signature_requests.models import CopyRecipient, SignatureRequest
from paraph.signature_requests.signing_token import new_salt
from paraph.signature_requests.tickets import copy_url
from paraph.storage import store
from paraph.words import LOCALES
from tests.factories import Scene, scene, sign
from tests.flow.test_jobs import work_off

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
    other = finished()
    CapturedMessage.objects.all().delete()
    finished()
    assert client.get(f"{path()}/documents/{other.request_documents[0].document_id}.pdf").status_code == 404


def test_a_link_ends_after_thirty_days_and_a_new_one_is_mailed(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    finished()
    first = path()
    later(monkeypatch, days=29, hours=23)
    assert client.get(f"{first}/proof.pdf").getvalue()
    later(monkeypatch, days=30, minutes=1)
    assert client.get(f"{first}/proof.pdf").status_code == 404
    page = text(client.get(first))
    assert "no longer valid" in page and "c•••@example.com" in page and "copy0@example.com" not in page
    answers = [client.post(first, {"do": "copy"}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [303, 303, 303, 429]
    assert "was mailed to c•••@example.com" in text(client.get(answers[0]["Location"]))
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


def test_a_form_of_another_site_mails_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    finished()
    address, before = path(), CapturedMessage.objects.count()
    later(monkeypatch, days=31)
    assert client.post(address, {"do": "copy"}, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 422
    assert CapturedMessage.objects.count() == before


def test_every_language_has_the_page(client: Client) -> None:
    made = scene(copies=1)
    url, _ = copy_url(CopyRecipient.objects.get(request=made.request))
    for locale in LOCALES:
        answer = client.get(f"/copies/{url.rpartition('/')[2]}?lang={locale}")
        assert answer.status_code == 200 and f'<html lang="{locale}"' in text(answer)
