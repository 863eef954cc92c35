"""The page of a request: what happened, what it waits for, what members do with it."""

from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from paraph.activity.models import Activity
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow import events
from paraph.kernel import tokens
from paraph.members.models import Role
from paraph.signature_requests.models import Inquiry, Reminder, SignatureRequest, Signer
from paraph.signature_requests.signing_token import signing_url
from paraph.storage import store
from tests.dashboard.conftest import MemberClient
from tests.dashboard.just_logged_in import just_logged_in
from tests.factories import Scene, scene, sign

pytestmark = pytest.mark.django_db
LogIn = Callable[..., MemberClient]


@pytest.fixture
def made() -> Scene:
    return scene(signers=2, mode="sequential", send_email=True)


@pytest.fixture
def client(made: Scene) -> Client:
    return just_logged_in(made.request.organization, Role.MEMBER)


def address(made: Scene, rest: str = "") -> str:
    return f"/app/{made.request.organization_id}/requests/{made.request.pk}{rest}"


def text(client: Client, made: Scene, rest: str = "") -> str:
    response = client.get(address(made, rest))
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_tells_what_happened_and_what_it_waits_for(made: Scene, client: Client) -> None:
    sign(made)
    page = text(client, made)
    assert "The request was created." in page and "Ada Lovelace signed." in page and "203.0.113.9" in page
    assert "Waits for the signature of: Émile Zola." in page
    assert "The mail server has not taken the invitation of Émile Zola yet" in page


def test_the_mail_servers_own_words_stand_beside_each_signer(made: Scene, client: Client) -> None:
    invited(made.signers[0])
    page = text(client, made)
    assert "250 2.0.0 queued as 4711" in page and "Ada Lovelace was invited; the mail server took the mail." in page


def test_an_inquiry_stands_on_the_page(made: Scene, client: Client) -> None:
    Inquiry.objects.create(signer=made.signers[0], kind="question", text="Who pays <b>this</b>?")
    assert "Who pays &lt;b&gt;this&lt;/b&gt;?" in text(client, made)


def test_a_signer_is_reminded_once_a_day(made: Scene, client: Client) -> None:
    invited(made.signers[0])
    remind = address(made, f"/signers/{made.signers[0].pk}/remind")
    assert client.post(remind).headers["Location"] == address(made)
    assert Reminder.objects.get().signer_id == made.signers[0].pk
    refused = client.post(remind)
    assert refused.status_code == 422 and "at most once a day" in refused.content.decode()
    assert 'role="alert"' in refused.content.decode()
    assert client.post(address(made, f"/signers/{made.signers[1].pk}/remind")).status_code == 422


def test_a_request_is_ended_early_with_a_reason(made: Scene, client: Client) -> None:
    end = address(made, "/end")
    assert client.post(end, {"reason": ""}).status_code == 422
    assert client.post(end, {"reason": "The price changed"}).headers["Location"] == address(made)
    made.request.refresh_from_db()
    assert made.request.status == "expired" and made.request.ended_early_at
    act = Activity.objects.latest("position")
    assert (act.action, act.after) == ("request.ended_early", {"reason": "The price changed"})
    page = text(client, made)
    assert "Ended early" in page and "The price changed" in page and "Remind" not in page
    assert client.post(end, {"reason": "Again"}).status_code == 422


def test_a_signing_link_is_shown_once_and_noted(made: Scene, client: Client) -> None:
    link = signing_url(Signer.objects.get(pk=made.signers[0].pk))
    shown = client.post(address(made, f"/signers/{made.signers[0].pk}/link"))
    assert link in shown.content.decode() and "no-store" in shown.headers["Cache-Control"]
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    act = Activity.objects.latest("position")
    assert act.action == "signing_link.shown" and link not in str(vars(act))
    assert link not in text(client, made) and link not in str(dict(client.session))


def test_a_link_needs_a_recent_log_in(made: Scene, log_in: LogIn) -> None:
    _, stale = log_in(Role.OWNER, at=made.request.organization)
    response = stale.post(address(made, f"/signers/{made.signers[0].pk}/link"))
    assert response.status_code in (302, 303) and "/account/reauthenticate/" in response.headers["Location"]


def test_no_link_of_a_signer_of_another_request(made: Scene, client: Client) -> None:
    other = scene()
    response = client.post(address(made, f"/signers/{other.signers[0].pk}/link"))
    assert response.status_code == 422 and "/sign/" not in response.content.decode()


@pytest.mark.parametrize("rest", ["", "/verify", "/proof", "/end"])
def test_a_request_of_another_organization_is_not_there(made: Scene, client: Client, rest: str) -> None:
    other = scene()
    assert client.get(f"/app/{made.request.organization_id}/requests/{other.request.pk}{rest}").status_code == 404


def test_observers_look_and_do_nothing(made: Scene, log_in: LogIn) -> None:
    _, client = log_in(Role.OBSERVER, at=made.request.organization)
    page = text(client, made)
    assert "End early" not in page and "Signing link" not in page and "Webhooks" not in page
    for rest in ("/end", f"/signers/{made.signers[0].pk}/remind", f"/signers/{made.signers[0].pk}/link"):
        assert client.post(address(made, rest), {"reason": "x"}).status_code == 403
    made.request.refresh_from_db()
    assert made.request.status == "pending"


def test_verifying_compares_the_journal(made: Scene, client: Client) -> None:
    assert "as they were recorded" in text(client, made, "/verify")
    assert client.get(address(made, "/proof")).status_code == 404


def invited(signer: Signer) -> None:
    signer.invitation = {"taken_at": "2026-01-01T00:00:00Z", "acknowledgement": "250 2.0.0 queued as 4711"}
    signer.notified_at, signer.status = timezone.now() - timedelta(days=2), "notified"
    signer.save()
    signer.request = SignatureRequest.objects.get(pk=signer.request_id)
    events.signer_notified(signer, "250 2.0.0 queued as 4711")


def test_finished_files_are_downloaded_and_compared(made: Scene, client: Client) -> None:
    keys = finished(made)
    for rest, key in ((f"/documents/{made.request_documents[0].document_id}", keys[0]), ("/proof", keys[1])):
        assert rest in text(client, made)
        assert key in client.get(address(made, rest)).headers["Location"]
    page = text(client, made, "/verify")
    assert page.count("as it was sealed") == 2 and "paraph verify signed-contract-1.pdf" in page
    Document.objects.update(name="the lease.pdf")
    assert "paraph verify 'signed-the lease.pdf'" in unescape(text(client, made, "/verify"))
    store.put(keys[0], b"another file")
    page = text(client, made, "/verify")
    assert "not what was sealed" in page and page.count("as it was sealed") == 1 and 'role="alert"' in page
    SignatureRequest.objects.filter(pk=made.request.pk).update(files_deleted_at=timezone.now())
    assert client.get(address(made, "/proof")).status_code == 404


def finished(made: Scene) -> list[str]:
    """The keys of a sealed document and a proof that somebody else made."""
    keys = [f"test/{tokens.random_hex(16)}.pdf" for _ in range(2)]
    for key in keys:
        store.put(key, key.encode())
    facts: list[dict[str, Any]] = [
        {"object_key": key, "sha256": tokens.sha256(key.encode()), "file_size": len(key), "seal": {"level": "B-T"}}
        for key in keys
    ]
    SealedDocument.objects.create(request_document=made.request_documents[0], **facts[0])
    ProofFile.objects.create(request=made.request, **facts[1])
    over = {"status": "completed", "finalized": True, "completed_at": timezone.now()}
    SignatureRequest.objects.filter(pk=made.request.pk).update(**over)
    return keys
