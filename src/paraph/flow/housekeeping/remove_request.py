"""Removing requests of the sandbox that are over, to make room for new ones (docs/decisions/storage-limits.md)."""

from datetime import timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from paraph.flow.housekeeping.delete_files import delete_files, is_over
from paraph.flow.lock import lock_request
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.models import RequestStatus, SignatureRequest, Signer
from paraph.tenants.limits import excess_of_requests
from paraph.tenants.models import Environment
from paraph.tenants.scope import TenantScope, scoped

KEPT_FOR = timedelta(hours=1)
"""Age below which no request is removed."""

_AT_ONCE = 20  # while somebody waits for the answer
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
"""Tables with rows of a request, in an order in which no row refers to one that is gone, and which rows these are."""


def make_room_for_request(scope: TenantScope) -> None:
    """Where the sandbox has as many requests as it may, remove the oldest ones that are over; a large excess goes step
    by step, some with each call. Raise ``insufficient_storage`` where none can go."""
    excess, removed = excess_of_requests(scope), 0
    if not excess:
        return
    old = scoped(SignatureRequest, scope).filter(
        Q(finalized=True) | Q(status=RequestStatus.EXPIRED), created_at__lt=clock.now() - KEPT_FOR
    )
    for request_id in old.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE]:
        if removed < excess:
            removed += remove_request(request_id)  # not those that another call removes meanwhile
    if not removed:
        message = _("The organization has as many signature requests in the sandbox as it may have: %(limit)d.")
        raise DomainError("insufficient_storage", message % {"limit": settings.PARAPH.sandbox_requests})


@transaction.atomic
def remove_request(request_id: int) -> bool:
    """Remove a request of the sandbox with all that belongs to it but uploads that something else uses, and note the
    objects to be deleted. Return False where it is not over, in production, or gone already."""
    try:
        request = lock_request(request_id)
    except SignatureRequest.DoesNotExist:
        return False
    if request.environment != Environment.SANDBOX or not is_over(request):
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
