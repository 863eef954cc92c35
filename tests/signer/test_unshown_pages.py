"""A page that cannot be shown cannot be signed."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paraph.documents.models import UnrenderablePage
from paraph.otp.models import OneTimeCode
from paraph.pdf.untrusted.sandbox import SandboxLimits, SandboxProcess, configure
from paraph.signature_requests.models import Signer
from paraph.storage import store
from tests.factories import Scene, scene
from tests.pdf import hostile, refused
from tests.pdf.processes import stopped
from tests.production import Client
from tests.signer.calls import sign

pytestmark = pytest.mark.django_db

REFUSED = "Page 2 of “contract-1.pdf” cannot be shown, so it cannot be signed. Please ask the sender for another file."


@pytest.fixture(autouse=True, scope="module")
def little_time() -> Iterator[Callable[[], object]]:
    """Give readers of PDF files little time; yield a function that sets this limit again."""
    limits = SandboxLimits(memory=8 << 30, processor_seconds=1)
    configure(1, limits)
    yield lambda: configure(1, limits)
    configure(2)


@pytest.fixture
def make_busy(little_time: Callable[[], object]) -> Iterator[Callable[[], object]]:
    """Yield a function that leaves no time for the next page to be drawn."""
    yield lambda: stopped(configure(1, SandboxLimits(wall_seconds=1.0)))
    little_time()


def picture(client: Client, made: Scene, number: int, document: int = 0) -> Any:
    document_id = made.request_documents[document].document_id
    return client.get(made.url(0, f"/documents/{document_id}/pages/{number}.webp"))


def replace(made: Scene, content: bytes, document: int = 0) -> None:
    """Replace the stored file, as if the upload had been checked less."""
    store.put(made.request_documents[document].document.object_key, content)


def error(response: Any) -> dict[str, Any]:
    assert response.status_code == 422
    found: dict[str, Any] = response.json()["error"]
    assert found["code"] == "validation_error"
    return found


@pytest.mark.parametrize(
    "pdf", [hostile.nested_forms(6, page=2), refused.font_for_page_two()], ids=["takes too long", "is not there"]
)
def test_the_signature_is_refused_and_the_code_not_used_up(client: Client, pdf: bytes) -> None:
    made = scene(pages=2)
    replace(made, pdf)
    assert picture(client, made, 1).status_code == 200
    assert error(picture(client, made, 2))["message"] == REFUSED
    before = made.events()
    told = error(sign(client, made))
    document_id = made.request_documents[0].document_id
    assert told["message"] == REFUSED
    assert (told["page_number"], told["document"], told["document_id"]) == (2, "contract-1.pdf", document_id)
    code = OneTimeCode.objects.get()
    assert (code.attempts, code.used_at) == (0, None)
    assert Signer.objects.get().status == "pending"
    assert made.events() == [*before, "signer.otp_sent"]


@pytest.mark.parametrize("action", ["code", "sign"])
def test_without_scripts_neither_code_nor_signature_come_before_all_pictures(client: Client, action: str) -> None:
    """Nobody has looked at the page before: it is drawn when the form comes."""
    made = scene(pages=2)
    sound = made.uploads[0]
    replace(made, refused.font_for_page_two())
    form = {"do": action, "code": made.code(), "consent": "on"}
    answer = client.post(made.url(0), form)
    assert answer.status_code == 422 and f'<a href="#consent">{REFUSED}</a>' in answer.content.decode()
    assert OneTimeCode.objects.get().sends == 1 and Signer.objects.get().status == "pending"
    replace(made, sound)
    assert client.post(made.url(0), form).status_code == 303


def test_a_later_success_allows_the_signature(client: Client) -> None:
    made = scene(pages=2)
    sound = made.uploads[0]
    replace(made, refused.font_for_page_two())
    for _ in range(2):
        error(picture(client, made, 2))
    assert UnrenderablePage.objects.count() == 1
    replace(made, sound)
    assert picture(client, made, 2).status_code == 200
    assert not UnrenderablePage.objects.exists()
    assert sign(client, made).status_code == 200


def test_a_picture_that_was_too_complex_is_refused_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    made, jobs, ask = scene(pages=2), list[str](), SandboxProcess.ask
    replace(made, hostile.nested_forms(6, page=2))

    def noting(self: SandboxProcess, request: dict[str, Any], *rest: Any) -> Any:
        jobs.append(request["job"])
        return ask(self, request, *rest)

    monkeypatch.setattr(SandboxProcess, "ask", noting)
    for _ in range(3):
        assert error(picture(client, made, 2))["message"] == REFUSED
    assert jobs == ["render"]
    assert picture(client, made, 1).status_code == 200
    assert error(sign(client, made))["page_number"] == 2


def test_only_those_who_sign_the_document_are_refused(client: Client) -> None:
    made = scene(signers=2, documents=2, pages=2)
    made.request_documents[1].placements.filter(signer=made.signers[1]).delete()
    replace(made, refused.font_for_page_two(), document=1)
    error(picture(client, made, 2, document=1))
    assert "Page 2 of “contract-2.pdf”" in error(sign(client, made, 0))["message"]
    assert sign(client, made, 1).status_code == 200


def test_a_service_without_time_is_told_and_not_remembered(client: Client, make_busy: Callable[[], object]) -> None:
    """Without scripts, the answer names the page of the document and offers to try again."""
    made = scene(pages=2)
    code = made.code()
    make_busy()
    busy = picture(client, made, 2)
    assert (busy.status_code, busy.json()["error"]["code"], busy["Retry-After"]) == (503, "unavailable", "5")
    make_busy()
    answer = client.post(made.url(0, "?lang=en"), {"do": "sign", "code": code, "consent": "on"})
    page = answer.content.decode()
    assert answer.status_code == 503 and "Page 1 of “contract-1.pdf” could not be loaded." in page
    assert f'<a class="secondary" href="{made.url(0, "?lang=en")}">Try again</a>' in page
    assert OneTimeCode.objects.get().attempts == 0 and Signer.objects.get().status == "pending"
    assert not UnrenderablePage.objects.exists()
    assert picture(client, made, 2).status_code == 200
    assert sign(client, made).status_code == 200
