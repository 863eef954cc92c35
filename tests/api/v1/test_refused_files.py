"""What a client reads about a file that is no document: the right sentence, with its facts, in the client's language.
Where the service is too busy to read a file, or its object store is away: 503 ``unavailable``, to be tried again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation
from pikepdf import Array, Dictionary

from paraph.documents.models import Document
from paraph.documents.refusals import sentence_of
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.sandbox import SandboxLimits, SandboxProcess, configure
from paraph.signature_requests.models import SignatureRequest
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, payload
from tests.pdf import hostile, refused
from tests.pdf.pdf_factory import paper
from tests.pdf.processes import stopped
from tests.pdf.sealed_files import sealed_without_purpose
from tests.pdf.untrusted.test_inspect import signed


def dynamic_form() -> bytes:
    def prepare(document: Any) -> None:
        document.Root.AcroForm = Dictionary(XFA=document.make_stream(b"<xdp/>"), Fields=Array([]))
        document.Root.NeedsRendering = True

    return paper("", prepare=prepare)


FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (bytes, "The file is not a PDF."),
    "unreadable": (hostile.noise, "The file cannot be read as a PDF."),
    "damaged": (
        refused.page_tree_without_kids,
        "The PDF is damaged, so that some readers cannot open it. Save it again with the program that made it.",
    ),
    "password": (refused.locked, "The PDF requires a password to open."),
    "certificates": (
        refused.for_certificates,
        "The PDF is encrypted with certificates, so only their holders can open it.",
    ),
    "another handler": (
        lambda: refused.encrypted_by(b"/FileOpen"),
        "The PDF is encrypted in a way that is not supported.",
    ),
    "no pages": (refused.without_pages, "The PDF has no pages."),
    "too many pages": (lambda: hostile.counting_pages(100_001), "The PDF has 100001 pages; at most 2000 are allowed."),
    "number of pages": (
        refused.number_for_page_two,
        "The page tree of the PDF is damaged: readers disagree on its number of pages.",
    ),
    "page 2": (refused.font_for_page_two, "Page 2 of the PDF cannot be shown."),
    "dynamic form": (
        dynamic_form,
        "The PDF is a dynamic XFA form, which has no fixed pages to sign; print it to a PDF first.",
    ),
    "certified": (
        lambda: signed(certification=1),
        "The PDF has a signature that forbids any change, so it cannot be signed again.",
    ),
    "altered after its signature": (
        lambda: sealed_without_purpose(paper("")).replace(b"%PDF-1.", b"%PDF-2.", 1),
        "The PDF has an earlier signature that does not hold or cannot be checked, so nobody could tell later whether "
        "the PDF was altered. Send it as it was before that signature, or print it to a new PDF.",
    ),
}


def test_each_fault_is_told_in_its_own_words_and_the_language_of_the_call(owner: ApiClient) -> None:
    for name, (make, sentence) in FILES.items():
        assert (name, invalid(owner.upload(make()))) == (name, sentence)
        assert not Document.objects.exists()
    owner.headers["Accept-Language"] = "fr"
    told = invalid(owner.upload(hostile.counting_pages(100_001)))
    assert told == "Le PDF a 100001 pages\u202f; 2000 au plus sont autorisées."


def test_reasons_of_the_preparation_are_translated_and_others_told_in_the_words_of_the_tool() -> None:
    for reason in ("shown_differently", "cannot_be_sealed"):
        with translation.override("de"):
            assert sentence_of(PdfRefused(reason, "")).startswith("Das PDF ")
        with translation.override("en"):
            assert "damaged" in sentence_of(PdfRefused(reason, ""))
    assert sentence_of(PdfRefused("something_new", "100% new.")) == "100% new."


BUSY = "The service is too busy for this at the moment. Try again in a few seconds."


@pytest.fixture
def make_busy() -> Iterator[Callable[[], object]]:
    """Yield a function after which the next file to be read gets no time."""
    yield lambda: stopped(configure(1, SandboxLimits(wall_seconds=1.0)))
    configure(2)


def test_an_upload_that_nobody_has_time_for(owner: ApiClient, make_busy: Callable[[], object]) -> None:
    make_busy()
    response = owner.upload()
    assert error(response, 503, "unavailable") == BUSY
    assert response["Retry-After"] == "5"
    assert not Document.objects.exists()
    assert owner.upload().status_code == 201


@pytest.mark.thorough
def test_a_creation_whose_tags_nobody_has_time_to_find_is_refused_in_the_language_of_the_call(
    owner: ApiClient, make_busy: Callable[[], object]
) -> None:
    document = owner.document()
    owner.headers["Accept-Language"] = "nl"
    make_busy()
    response = owner.create(payload(document))
    assert error(response, 503, "unavailable").startswith("De dienst heeft het hiervoor")
    assert response["Retry-After"] == "5"
    assert not SignatureRequest.objects.exists()
    assert owner.create(payload(document)).status_code == 201


def test_an_upload_while_the_object_store_is_away(
    owner: ApiClient, settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "objects").write_text("")  # a file where the folder should be
    response = owner.upload()
    assert error(response, 503, "unavailable").startswith("The service is not available at the moment.")
    assert response["Retry-After"] == "5" and not Document.objects.exists()
    assert "the object store fails: " in caplog.text and "incident" not in caplog.text
    (tmp_path / "objects").unlink()
    assert owner.upload().status_code == 201


pytestmark = pytest.mark.django_db


@pytest.fixture
def jobs(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Yield the names of the jobs that a process was really asked to do."""
    done: list[str] = []
    ask = SandboxProcess.ask

    def noting(self: SandboxProcess, request: dict[str, Any], *rest: Any) -> Any:
        done.append(request["job"])
        return ask(self, request, *rest)

    monkeypatch.setattr(SandboxProcess, "ask", noting)
    configure(2, SandboxLimits(memory=400 << 20))
    yield done
    configure(2)


def test_what_was_too_complex_is_refused_at_once_when_it_comes_again(owner: ApiClient, jobs: list[str]) -> None:
    bomb = hostile.inflating(on_page=True)
    for _ in range(3):
        assert "too much memory or time" in invalid(owner.upload(bomb))
    assert jobs == ["inspect"]
    assert owner.upload().status_code == 201
    assert jobs == ["inspect"] * 2
    invalid(api_client().upload(bomb))
    assert jobs == ["inspect"] * 3  # nobody learns what others have sent
