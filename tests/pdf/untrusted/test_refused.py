"""Each fault of a file has a reason of its own, also right after a file with another fault."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import inspect
from paraph.pdf.untrusted.sandbox import Sandbox
from tests.pdf import hostile, refused
from tests.pdf.odd_files import CLASSES, odd_files
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


_CODE = refused.with_integrity_code()
REASONS = {
    "encrypted_for_certificates": [
        refused.for_certificates(name) for name in (b"/Adobe.PubSec", b"/Entrust.PPKEF", b"/Adobe#2EPubSec")
    ],
    "unknown_encryption": [refused.encrypted_by(b"/FileOpen"), refused.of_unknown_version()],
    "password": [refused.locked()],
    "integrity_code": [  # spelled otherwise, lost in an update, or without its salt
        _CODE,
        _CODE.replace(b"/AuthCode", b"/Auth#43ode"),
        _CODE.replace(b"/AuthCode", b"/Forgotten"),
        _CODE.replace(b"/KDFSalt", b"/Unknown"),
    ],
    "unclear_page_count": [refused.number_for_page_two(), hostile.counting_pages(3)],
}


@pytest.mark.parametrize("expected", REASONS)
def test_the_reason_is_told(expected: str) -> None:
    files = REASONS[expected]
    assert len(set(files)) == len(files)
    assert {refusal(partial(inspect, pdf, page_limit=10)).reason for pdf in files} == {expected}


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


@pytest.mark.parametrize(
    "make",
    [
        refused.page_tree_without_kids,
        refused.numbered_kids,
        refused.catalog_of_another_generation,
        refused.catalog_in_the_trailer,
        hostile.looping_pages,
        hostile.deep_arrays,
    ],
)
def test_what_one_reader_opens_and_another_does_not(
    make: Callable[[], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """Is no fault of the service, which has nothing to log."""
    found = refusal(lambda: inspect(make(), page_limit=10))
    assert found.reason == "damaged"
    assert found.message.endswith("Save it again with the program that made it.")
    assert caplog.records == []


@pytest.mark.thorough
def test_no_odd_file_is_a_fault_of_the_service(caplog: pytest.LogCaptureFixture) -> None:
    odd = [refused.field_with_a_name_not_in_utf_8(), *(pdf for _, pdf in odd_files(3 * len(CLASSES)))]
    for pdf in odd:
        with contextlib.suppress(PdfRefused):
            inspect(pdf, page_limit=100)
    assert caplog.records == []


def test_facts_come_out_of_the_sandbox(one_process: Sandbox) -> None:
    pdf = paper("", "")
    over = refusal(lambda: one_process.call("inspect", pdf, page_limit=1))
    assert (over.reason, over.facts) == ("too_many_pages", {"count": 2, "limit": 1})
    absent = refusal(lambda: one_process.call("text", pdf, page_number=3))
    assert (absent.reason, absent.facts) == ("no_such_page", {"page": 3, "count": 2})
