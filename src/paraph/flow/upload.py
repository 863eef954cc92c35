"""Taking in a PDF (specification 4.2)."""

import hashlib
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.utils.translation import gettext as _

from paraph.documents.models import Document, DocumentStatus
from paraph.documents.refusals import sentence_of
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.organizations.scope import Caller
from paraph.pdf.inspect import Inspection, inspect
from paraph.pdf.refusal import PdfRefused
from paraph.storage import store

LONGEST_NAME = 255


def upload(caller: Caller, file: BinaryIO, name: str, content_type: str) -> Document:
    """Stores the file, read from where it stands, as a ``ready`` document.

    The row is ``pending`` until the store has confirmed the object, so that neither a crash nor an outage makes a
    document without its file. Raises ``validation_error`` or ``payload_too_large``.
    """
    if content_type != "application/pdf":
        message = _("The file must be of the MIME type application/pdf, not “%(type)s”.")
        raise DomainError("validation_error", message % {"type": content_type[:100]})
    sha256 = hashlib.file_digest(cast(Any, file), "sha256").digest()
    size = file.tell()
    refuse_beyond_limit(size)
    file.seek(0)
    inspection = _inspect(file.read())
    document = Document.objects.create(
        organization_id=caller.organization_id,
        environment=caller.environment,
        name=_clean(name),
        sha256=sha256,
        file_size=size,
        pages=inspection.pages,
        preflight=inspection.preflight,
        object_key=f"documents/{tokens.random_hex(16)}.pdf",
        created_at=clock.now().replace(microsecond=0),  # as the API shows it, so that its filters agree with it
    )
    file.seek(0)
    _store(document, file)
    return document


def refuse_beyond_limit(size: int) -> None:
    """Raises ``payload_too_large`` for more bytes than an upload may have."""
    limit = settings.PARAPH.upload_limit_mb
    if size > limit * 1024 * 1024:
        message = _("The file is larger than the limit of %(limit)d MiB.")
        raise DomainError("payload_too_large", message % {"limit": limit})


def _inspect(content: bytes) -> Inspection:
    try:
        return inspect(content, page_limit=settings.PARAPH.page_limit)
    except PdfRefused as refused:
        raise DomainError("validation_error", sentence_of(refused)) from refused


def _clean(name: str) -> str:
    """A file name without what cannot be printed, never empty."""
    printable = "".join(character for character in name if character.isprintable())
    return printable.strip()[:LONGEST_NAME] or "document.pdf"


def _store(document: Document, file: BinaryIO) -> None:
    try:
        store.put(document.object_key, file)
    except BaseException:
        document.delete()
        raise
    document.status = DocumentStatus.READY
    document.save(update_fields=["status"])
