"""The jobs of the sandboxed processes that read uploads: each reads one file, a preview several."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

from paraph.pdf.untrusted.jobs import (
    compare_job,
    draft_job,
    find_job,
    inspect_job,
    preview_job,
    render_job,
    signing_places_job,
    text_layer_job,
)
from paraph.pdf.untrusted.jobs.serving import serve
from paraph.pdf.untrusted.jobs.untrusted_file import UntrustedFile
from paraph.pdf.untrusted.jobs.warm_up import warm_up
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

JOBS: dict[str, Callable[..., JobAnswer]] = {
    "inspect": inspect_job.inspect,
    "find": find_job.find,
    "tags": find_job.list_tags,
    "texts": find_job.list_texts,
    "signature_lines": signing_places_job.list_signature_lines,
    "render": render_job.render,
    "covered_words": signing_places_job.find_covered_words,
    "text": text_layer_job.text_layer,
    "sealing_seal": draft_job.seal,
    "sealing_archive": draft_job.archive,
    "sealing_check": draft_job.check,
}


def main() -> None:
    serve(_do, partial(warm_up, JOBS))


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    with ExitStack() as opened:
        files = [opened.enter_context(UntrustedFile(each)) for each in descriptors]
        if request["job"] == "preview":
            return preview_job.preview(files, **request["arguments"])
        if request["job"] == "compare":
            return compare_job.compare(files[0], files[1], **request["arguments"])
        return JOBS[request["job"]](files[0], **request["arguments"])


if __name__ == "__main__":
    main()
