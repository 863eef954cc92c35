"""The jobs of the sandboxed processes that verify sealed files: each may read several files, as a whole."""

from collections.abc import Callable
from functools import partial
from typing import Any

from paraph.pdf.untrusted.jobs import verify_job
from paraph.pdf.untrusted.jobs.serving import serve
from paraph.pdf.untrusted.jobs.warm_up_verification import warm_up_verification
from paraph.pdf.untrusted.jobs.whole_files import WholeFiles
from paraph.pdf.untrusted.sandbox_wire import JobAnswer

JOBS: dict[str, Callable[..., JobAnswer]] = {
    "verify": verify_job.verify,
    "check_evidence": verify_job.check_evidence,
    "carries_evidence": verify_job.carries_evidence,
    "timestamps": verify_job.timestamps,
    "altered_seals": verify_job.altered_seals,
}


def main() -> None:
    """Serve these jobs."""
    serve(_do, partial(warm_up_verification, JOBS))


def _do(request: dict[str, Any], descriptors: list[int]) -> JobAnswer:
    with WholeFiles(descriptors) as files:
        return JOBS[request["job"]](files, **request["arguments"])


if __name__ == "__main__":
    main()
