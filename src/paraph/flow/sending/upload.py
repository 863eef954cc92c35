"""Store an uploaded PDF as a document (rule 4.2)."""

import hashlib
from collections.abc import Sequence

from django.conf import settings
from django.db import DataError, IntegrityError, transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from paraph.database import rows
from paraph.documents.models import Document, DocumentStatus
from paraph.documents.refusals import named_pages, refuse_changeable, sentence_of
from paraph.flow.sealing.context import key_folder
from paraph.idempotency.held_key import ExtraRows
from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.keys.sealing import trusted_roots
from paraph.pdf.refusal import PdfRefused
from paraph.pdf.untrusted.inspect import Inspection, inspect
from paraph.pdf.untrusted.verify import altered_seals
from paraph.storage import store
from paraph.storage.objects import StagedObject
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.scope import TenantScope, tenant_key

MAX_NAME_LENGTH = 255
_SIGNED = b"/ByteRange"  # stands in the clear in every file with a signature
_MOST_NAMES = 10


class IncomingFile:
    """The file of an upload while it arrives: each piece is counted, hashed, searched for marks of signatures, and
    written at once."""

    def __init__(self, draft: StagedObject) -> None:
        self.draft = draft
        self.size = 0
        self.may_be_signed = False
        self._hash = hashlib.sha256()
        self._end = b""

    def write(self, piece: bytes | memoryview) -> None:
        """Add a piece. Raise ``payload_too_large`` as soon as the file exceeds the limit."""
        self.size += len(piece)
        refuse_beyond_limit(self.size)
        self._hash.update(piece)
        text = self._end + bytes(piece)
        self.may_be_signed = self.may_be_signed or _SIGNED in text
        self._end = text[-len(_SIGNED) :]
        self.draft.file.write(piece)

    @property
    def sha256(self) -> bytes:
        return self._hash.digest()


def upload(
    scope: TenantScope,
    file: IncomingFile,
    name: str,
    content_type: str,
    member: Actor | None = None,
    *,
    accept_drawn_differently: bool = False,
    extra_rows: ExtraRows = lambda _: [],
) -> Document:
    """Make a ``ready`` document of the file. The activity log notes an upload by a ``member``; ``extra_rows`` makes the
    rows inserted with the document. Without ``accept_drawn_differently``, a file with text that a second renderer draws
    differently is refused.

    The row is written after the store has confirmed the objects, so that neither a crash nor an outage makes a document
    without its file. An upload that cannot be sealed as it is has a second object, the prepared file. Raise
    ``validation_error`` or ``payload_too_large``.
    """
    if content_type != "application/pdf":
        message = _("The file must be of the MIME type application/pdf, not “%(type)s”.")
        raise DomainError("validation_error", message % {"type": content_type[:100]})
    inspection = _inspect(scope, file)
    inspection.preflight["altered_after_seal"] = altered_after_seal(scope, file)
    refuse_changeable(scope, inspection.preflight)
    if not accept_drawn_differently:
        _refuse_unconfirmed(inspection.preflight.get("text_drawn_differently", []))
    document = Document(
        **scope.columns,
        name=_clean(name),
        sha256=file.sha256,
        file_size=file.size,
        pages=inspection.pages,
        method=inspection.method,
        clean_contents=inspection.clean_contents,
        status=DocumentStatus.READY,
        object_key=f"documents/{tokens.random_hex(16)}.pdf",
        created_at=clock.now().replace(microsecond=0),  # as the API shows it, so that its filters agree with it
    )
    document.keep_report(inspection.preflight)
    if inspection.prepared is not None:
        document.prepared_sha256 = tokens.sha256(inspection.prepared)
        document.prepared_size = len(inspection.prepared)
        store.put(document.shown_key, inspection.prepared)
    file.draft.keep(document.object_key)
    _save(document, member, extra_rows)
    return document


def altered_after_seal(scope: TenantScope, file: IncomingFile) -> list[str]:
    """Return the names of at most ten trusted seals after which an upload was altered, also by signatures that are not
    trusted or cannot be read. Raise :class:`~paraph.pdf.refusal.ReadersUnavailable`."""
    if not file.may_be_signed:
        return []
    roots = trusted_roots(settings.PARAPH, key_folder())
    return altered_seals(file.draft.file, roots, tenant_key=tenant_key(scope))[:_MOST_NAMES]


def refuse_beyond_limit(size: int) -> None:
    """Raise ``payload_too_large`` for more bytes than an upload may have."""
    limit = settings.PARAPH.upload_limit_mb
    if size > limit * 1024 * 1024:
        message = _("The file is larger than the limit of %(limit)d MiB.")
        raise DomainError("payload_too_large", message % {"limit": limit})


def _inspect(scope: TenantScope, file: IncomingFile) -> Inspection:
    limit, digest = settings.PARAPH.page_limit, file.sha256
    try:
        return inspect(file.draft.file, page_limit=limit, tenant_key=tenant_key(scope), sha256=digest)
    except PdfRefused as refused:
        raise DomainError("validation_error", sentence_of(refused)) from refused


def _refuse_unconfirmed(pages: Sequence[int]) -> None:
    if pages:
        message = ngettext(
            "Readers draw text on page %(pages)s differently. Compare it in another reader; if it is as it should be, "
            "upload the file with accept_drawn_differently=true.",
            "Readers draw text on pages %(pages)s differently. Compare it in another reader; if it is as it should be, "
            "upload the file with accept_drawn_differently=true.",
            len(pages),
        )
        raise DomainError("validation_error", message % {"pages": named_pages(pages)})


def _clean(name: str) -> str:
    """Remove unprintable characters from a file name; never return an empty one."""
    printable = "".join(character for character in name if character.isprintable())
    return printable.strip()[:MAX_NAME_LENGTH] or "document.pdf"


def _save(document: Document, member: Actor | None, extra_rows: ExtraRows) -> None:
    """Insert the row and note the member's act; delete the objects where the database refuses it. Where the database
    does not answer, the row may exist, so the objects stay; the sweep removes them if it does not."""
    try:
        if member is None:
            [document.pk] = rows.reserve({Document: 1})[Document]
            rows.insert_whole([document, *extra_rows(document.pk)])
        else:
            with transaction.atomic():
                document.save(force_insert=True)
                subject = f"document {document.pk}"
                note(document.organization_id, member, Action.DOCUMENT_UPLOADED, subject, after=document.facts())
    except (DataError, IntegrityError):
        store.delete(document.object_key)
        store.delete(document.shown_key)
        raise
