"""Why a PDF is not read or sealed: the file is at fault, or the service has no time, memory or process for it now."""

from collections.abc import Mapping

from paraph.kernel.errors import DomainError
from paraph.kernel.places import NoPlaceError

Facts = Mapping[str, int | str]


class PdfRefused(DomainError):
    """The file is refused. ``message`` is one sentence for the client, ``reason`` a stable word, ``facts`` the values
    in the sentence, for translations.

    ``code`` is always ``validation_error`` (rule 7), so that an untranslated refusal is a 422 as well.
    Reasons: ``not_a_pdf``, ``unreadable``, ``damaged``, ``password``, ``encrypted_for_certificates``,
    ``unknown_encryption``, ``integrity_code``, ``no_pages``, ``too_many_pages`` (``count``, ``limit``),
    ``unclear_page_count``, ``page_not_shown`` (``page``), ``shown_differently``, ``link_border_over_text`` (``page``),
    ``annotation_over_text`` (``page``, ``type``), ``form_field_over_text`` (``page``), ``cannot_be_sealed``,
    ``dynamic_xfa``, ``changes_forbidden``, ``signature_does_not_hold``, ``too_complex``, ``no_such_page`` (``page``,
    ``count``), ``too_small``, ``no_room``.
    """

    def __init__(self, reason: str, message: str, facts: Facts | None = None) -> None:
        super().__init__("validation_error", message)
        self.reason = reason
        self.facts: Facts = facts or {}


class ReadersUnavailable(NoPlaceError):
    """No reader had the time, the memory or the process to read the file. The file need not be at fault."""

    sentence = "The service is too busy to read the PDF now; try again in a few seconds."


def too_complex() -> PdfRefused:
    """Refuse a file on which a process died, hung or ran out of its limits."""
    return PdfRefused("too_complex", "Reading the PDF takes too much memory or time.")


def page_not_shown(page: int) -> PdfRefused:
    """Refuse a file whose page number ``page``, counted from 1, a viewer does not show."""
    return PdfRefused("page_not_shown", f"Page {page} of the PDF cannot be shown.", {"page": page})


def no_such_page(page: int, count: int) -> PdfRefused:
    message = f"The PDF has {count} pages, so there is no page {page}."
    return PdfRefused("no_such_page", message, {"page": page, "count": count})


class SealError(Exception):
    """A file cannot be sealed, or the result does not pass its check. The message is one sentence for people."""
