"""Making room for uploads and requests: on the disk, and within the organization's quotas
(docs/decisions/storage-limits.md)."""

import errno
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.flow.events import lock_request
from paraph.flow.housekeeping.retention import OVER, delete_files
from paraph.flow.housekeeping.sweep import unused
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestDocument, RequestStatus, SignatureRequest, Signer
from paraph.storage import store
from paraph.tenants.limits import excess_of_requests, storage_quota, stored_bytes
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, scoped

log = logging.getLogger("paraph.flow")

UNUSED_FOR = KEPT_FOR = timedelta(hours=1)
"""Age from which an upload that nothing uses, or a request that is over, may be removed to make room."""

_MIB = 1024 * 1024
_UPLOADS_AT_ONCE = 500
_REQUESTS_AT_ONCE = 20  # while somebody waits for the answer
_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def room_for(scope: TenantScope, size: int) -> Iterator[None]:
    """Require room for ``size`` bytes (0 where the size is not known), in which the block stores a file. In the
    sandbox, the oldest uploads that nothing uses are removed to make room. Raise ``insufficient_storage`` where there
    is none, also when the disk fills up within the block."""
    require_disk(size)
    quota = storage_quota(scope.environment)
    if quota is not None:
        _require_quota(scope, size, quota)
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        log.exception("an upload found the disk full")
        raise _disk_is_full() from error


def require_room_for_seals(scope: TenantScope, documents: Sequence[Document]) -> None:
    """Require, in the sandbox, room for the sealed files of a new request with these documents, beside those of all
    requests that are not sealed yet. Raise ``insufficient_storage``."""
    quota = storage_quota(scope.environment)
    if scope.environment != Environment.SANDBOX or quota is None:
        return
    size = sum(document.file_size for document in documents)
    require_disk(size)
    coming = scoped(SignatureRequest, scope).filter(finalized=False).exclude(status=RequestStatus.EXPIRED)
    listed = RequestDocument.objects.filter(request__in=coming).aggregate(size=Sum("document__file_size"))
    _require_quota(scope, size + (listed["size"] or 0), quota, [document.pk for document in documents])


def require_disk(size: int) -> None:
    """Require that the disk has room for ``size`` bytes. Raise ``insufficient_storage``."""
    floor = settings.PARAPH.free_space_mb * _MIB
    if floor and store.free_bytes() - size < floor:
        log.error("an upload is refused: less than %d MiB of the disk would be free", settings.PARAPH.free_space_mb)
        raise _disk_is_full()


def _require_quota(scope: TenantScope, size: int, quota: int, kept: Sequence[int] = ()) -> None:
    excess = stored_bytes(scope) + size - quota
    if excess > 0 and scope.environment == Environment.SANDBOX:
        excess -= _remove_unused(scope, excess, kept)
    if excess > 0:
        message = _("The organization has reached its storage limit in this environment: %(limit)d MiB.")
        raise DomainError("insufficient_storage", message % {"limit": quota // _MIB})


def _remove_unused(scope: TenantScope, wanted: int, kept: Sequence[int]) -> int:
    """Remove the oldest uploads that nothing uses, until ``wanted`` bytes are freed or none is left; return the number
    of freed bytes. ``kept``: ids of those that are about to be used."""
    old = unused(scoped(Document, scope)).filter(created_at__lt=clock.now() - UNUSED_FOR).exclude(pk__in=kept)
    freed = 0
    with transaction.atomic():
        chosen: list[Document] = []
        for document in old.order_by("created_at", "pk").select_for_update(skip_locked=True)[:_UPLOADS_AT_ONCE]:
            if freed >= wanted:
                break
            chosen.append(document)
            freed += document.file_size + (document.prepared_size or 0)
        Document.objects.filter(pk__in=[document.pk for document in chosen]).delete()
        keys = {key for document in chosen for key in (document.object_key, document.shown_key)}
        objects_to_delete.note(keys)
    objects_to_delete.delete_those(keys)
    log.info("%d unused uploads of organization %d made room", len(chosen), scope.organization_id)
    return freed


def _disk_is_full() -> DomainError:
    return DomainError("insufficient_storage", _("The service has no space left for files at the moment."))


_SIGNERS = "SELECT id FROM signature_requests_signer WHERE request_id = %(request)s"
_DOCUMENTS = "SELECT id FROM signature_requests_requestdocument WHERE request_id = %(request)s"
_DELIVERIES = "SELECT id FROM webhooks_delivery WHERE request_id = %(request)s"
_WORDS = """
    SELECT organization_id, environment, signature_requests_words_of_request(id), id
    FROM signature_requests_signaturerequest WHERE id = %(request)s
"""
_ROWS = [
    ("webhooks_attempt", f"delivery_id IN ({_DELIVERIES})"),
    ("webhooks_delivery", "request_id = %(request)s"),
    ("webhooks_event", "request_id = %(request)s"),
    ("journal_entry", "request_id = %(request)s"),
    ("otp_onetimecode", f"signer_id IN ({_SIGNERS})"),
    ("otp_refusedcode", f"signer_id IN ({_SIGNERS})"),
    ("evidence_sealeddocument", f"request_document_id IN ({_DOCUMENTS})"),
    ("evidence_prooffile", "request_id = %(request)s"),
    ("evidence_bundletimestamp", "request_id = %(request)s"),
    ("evidence_sealingfailure", "request_id = %(request)s"),
    *(
        (f"signature_requests_{table}", f"signer_id IN ({_SIGNERS})")
        for table in ("approval", "field", "placement", "inquiry", "firstopening", "reminder")
    ),
    ("signature_requests_copyrecipient", "request_id = %(request)s"),
    ("signature_requests_sendermail", "request_id = %(request)s"),
    ("signature_requests_searchterm", f"(organization_id, environment, term, request_id) IN ({_WORDS})"),
    ("signature_requests_requestdocument", "request_id = %(request)s"),
]
"""Tables and the rows of a request in them, in an order in which no row refers to one that is already gone."""


def make_room_for_request(scope: TenantScope) -> None:
    """Where the sandbox has as many requests as it may, remove the oldest ones that are over; a large excess is removed
    step by step, over several calls. Raise ``insufficient_storage`` where none can go."""
    excess, removed = excess_of_requests(scope), 0
    if not excess:
        return
    old = scoped(SignatureRequest, scope).filter(OVER, created_at__lt=clock.now() - KEPT_FOR)
    for request_id in old.order_by("pk").values_list("pk", flat=True)[:_REQUESTS_AT_ONCE]:
        if removed < excess:
            removed += remove_request(request_id)  # 0 for one that another call removed meanwhile
    if not removed:
        message = _("The organization has as many signature requests in the sandbox as it may have: %(limit)d.")
        raise DomainError("insufficient_storage", message % {"limit": settings.PARAPH.sandbox_requests})


@transaction.atomic
def remove_request(request_id: int) -> bool:
    """Remove a request of the sandbox with all that belongs to it, except uploads that something else uses, and note
    the objects to be deleted. Return False where it is not over, in production, or gone already."""
    try:
        request = lock_request(request_id)
    except SignatureRequest.DoesNotExist:
        return False
    if request.environment != Environment.SANDBOX or not (request.finalized or request.status == RequestStatus.EXPIRED):
        return False
    delete_files(request_id)
    with connection.cursor() as cursor:
        for table, condition in _ROWS:
            cursor.execute(f"DELETE FROM {table} WHERE {condition}", {"request": request_id})  # noqa: S608  our names
    rows = SignatureRequest.objects.filter(pk=request_id)
    rows.update(declined_by=None)
    Signer.objects.filter(request=request_id).delete()
    rows.delete()
    return True
