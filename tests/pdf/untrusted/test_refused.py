"""Each fault of a file has a reason of its own, also right after a file with another fault."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf import hostile, refused
from tests.pdf.pdf_factory import paper


@pytest.fixture(scope="module")
def one_process() -> Iterator[Sandbox]:
    pool = Sandbox(1)
    yield pool
    pool.close()


def refusal(call: Callable[[], Any]) -> PdfRefused:
    with pytest.raises(PdfRefused) as caught:
        call()
    return caught.value


def reason(pdf: bytes) -> str:
    return refusal(lambda: inspect(pdf, page_limit=10)).reason


@pytest.mark.parametrize("name", [b"/Adobe.PubSec", b"/Entrust.PPKEF", b"/Adobe#2EPubSec"])
def test_encryption_for_certificates_is_told(name: bytes) -> None:
    assert reason(refused.for_certificates(name)) == "encrypted_for_certificates"


def test_other_unknown_encryption_is_told() -> None:
    assert reason(refused.encrypted_by(b"/FileOpen")) == "unknown_encryption"
    assert reason(refused.of_unknown_version()) == "unknown_encryption"
    assert reason(refused.locked()) == "password"


@pytest.mark.parametrize("job", ["inspect", "render", "find", "text"])
@pytest.mark.parametrize("before", [refused.locked(), refused.for_certificates(), hostile.noise(), paper("")])
def test_no_reason_is_left_over_from_the_file_before(one_process: Sandbox, job: str, before: bytes) -> None:
    """PDFium keeps the last error of its process; a file without pages sets none."""
    arguments: dict[str, dict[str, Any]] = {
        "inspect": {"page_limit": 10},
        "render": {"page_number": 1, "scale": 1, "form": "png"},
        "find": {"tags": ["a"]},
        "text": {"page_number": 1},
    }
    for pdf, expected in (
        (refused.without_pages(), "no_pages"),
        (refused.locked(), "password"),
        (refused.for_certificates(), "encrypted_for_certificates"),
        (hostile.noise(), "unreadable"),
    ):
        try:
            one_process.call(job, before, **arguments[job])
        except PdfRefused:
            assert before != paper("")
        assert refusal(lambda: one_process.call(job, pdf, **arguments[job])).reason == expected  # noqa: B023


@pytest.mark.parametrize("make", [refused.font_for_page_two, refused.page_two_of_another_type])
def test_every_page_must_be_there_for_the_viewer(make: Callable[[], bytes]) -> None:
    found = refusal(lambda: inspect(make(), page_limit=10))
    assert (found.reason, found.facts) == ("page_not_shown", {"page": 2})
    assert found.message == "Page 2 of the PDF cannot be shown."


@pytest.mark.parametrize("make", [refused.number_for_page_two, lambda: hostile.counting_pages(3)])
def test_readers_that_disagree_on_the_number_of_pages(make: Callable[[], bytes]) -> None:
    assert reason(make()) == "unclear_page_count"


def test_facts_come_out_of_the_sandbox(one_process: Sandbox) -> None:
    pdf = paper("", "")
    over = refusal(lambda: one_process.call("inspect", pdf, page_limit=1))
    assert (over.reason, over.facts) == ("too_many_pages", {"count": 2, "limit": 1})
    absent = refusal(lambda: one_process.call("text", pdf, page_number=3))
    assert (absent.reason, absent.facts) == ("no_such_page", {"page": 3, "count": 2})
