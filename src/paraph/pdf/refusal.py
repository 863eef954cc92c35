"""What reading a PDF may end in when the file is at fault."""

from paraph.kernel.errors import DomainError


class PdfRefused(DomainError):
    """The file cannot be taken; ``message`` is one clear sentence for the client, ``reason`` a stable word.

    ``code`` is always ``validation_error`` (specification 7), so that an untranslated refusal is a 422 as well.
    Reasons: ``not_a_pdf``, ``unreadable``, ``password``, ``no_pages``, ``too_many_pages``, ``dynamic_xfa``,
    ``changes_forbidden``, ``too_complex``, ``no_such_page``, ``too_small``, ``no_room``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__("validation_error", message)
        self.reason = reason


def too_complex() -> PdfRefused:
    """The refusal of a file on which a process died, hung or ran out of its limits."""
    return PdfRefused("too_complex", "The PDF takes too much memory or time to read.")
