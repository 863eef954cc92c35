"""The jobs of the sandboxed processes that read uploads: each reads one file, some several."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

from paraph.pdf.pki.revocation import LongTermData
from paraph.pdf.sealing.draft import SealContent
from paraph.pdf.sealing.self_check import ExpectedSeal
from paraph.pdf.untrusted.jobs import draft_job, inspect_job, page_pictures, signature_lines_job, text_job
from paraph.pdf.untrusted.jobs.serving import look_up_encodings, open_random_source, serve
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.upload_checks import disputes
from paraph.pdf.untrusted.jobs.upload_checks.dry_run import small_file, verify_on_trial
from paraph.pdf.untrusted.sandbox_wire import JobAnswer, reader_of

JOBS: dict[str, Callable[..., JobAnswer]] = {
    "inspect": inspect_job.inspect,
    "find": text_job.find,
    "tags": text_job.list_tags,
    "texts": text_job.list_texts,
    "signature_lines": signature_lines_job.list_signature_lines,
    "render": page_pictures.render,
    "preview": page_pictures.preview,
    "compare": disputes.compare,
    "covered_words": text_job.find_covered_words,
    "text": text_job.text_layer,
    "sealing_seal": draft_job.seal,
    "sealing_archive": draft_job.archive,
    "sealing_check": draft_job.check,
}


def main() -> None:
    serve(_do, partial(warm_up, JOBS))


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    with ExitStack() as opened:
        files = [opened.enter_context(UntrustedFile(each)) for each in descriptors]
        return JOBS[request["job"]](*files, **request["arguments"])


def warm_up(jobs: Mapping[str, Callable[..., Any]]) -> None:
    """Run each job once on a small file, and seal and verify it on trial: this loads what libraries load lazily, before
    the sandbox closes off the file system, and makes the first job as fast as the next."""
    look_up_encodings()
    open_random_source()
    pdf = small_file()
    page: dict[str, Any] = {"page_number": 1}
    for job, arguments in (
        ("inspect", {"page_limit": 1}),
        ("find", {"tags": ["a", "\u05d0"]}),  # the second is Hebrew, which takes another path
        ("render", {**page, "scale": 1, "form": "webp"}),
        ("render", {**page, "scale": 1, "form": "png", "printed": True}),
        ("covered_words", {"places": [(1, 0, 0, 50, 50)]}),
        ("text", page),
    ):
        with UntrustedFile(content=pdf) as file:
            jobs[job](file, **arguments)
    for kind in (SealContent, LongTermData, ExpectedSeal):
        reader_of(kind)
    verify_on_trial(pdf)


if __name__ == "__main__":
    main()
