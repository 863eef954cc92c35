"""The confinement of the processes that read PDFs."""

from collections.abc import Iterator

from django.conf import settings

from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.pdf.refusal import ReadersUnavailable
from paraph.pdf.untrusted.sandbox_confinement import sandbox_confinement

_ADVICE = "docs/operating.md says what to do."


def confinement() -> Iterator[Outcome]:
    """``confinement``, as reported by a process that is started for the check."""
    try:
        found = sandbox_confinement()
    except ReadersUnavailable:
        yield failed("confinement", "No process that reads PDFs starts; the log says why.")
        return
    if settings.PARAPH.confinement == "strict" and not found.complete:
        yield failed("confinement", f"PARAPH_CONFINEMENT is strict. {found.sentence} {_ADVICE}")
    elif found.holds and not found.blind:
        yield ok("confinement", found.sentence)
    else:
        yield warning("confinement", f"{found.sentence} {_ADVICE}")
