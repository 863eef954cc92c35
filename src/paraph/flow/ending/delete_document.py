"""Deleting an upload that nothing uses."""

from django.db import transaction
from django.utils.translation import gettext as _

from paraph.documents import objects_to_delete
from paraph.documents.models import Document
from paraph.flow.housekeeping.unused import unused
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log.actions import Action
from paraph.tenants.admin_log.actor import Actor
from paraph.tenants.admin_log.log import note
from paraph.tenants.scope import Caller, scoped


@transaction.atomic
def delete_document(caller: Caller, document_id: int, actor: Actor) -> None:
    """Delete the row, and have the file deleted. Does nothing where there is none. Raises ``conflict`` where a request,
    a draft or a template uses the document."""
    mine = scoped(Document, caller).filter(pk=document_id)
    document = mine.select_for_update().first()
    if document is None:
        return
    if not unused(mine).exists():  # looked at under the lock: what uses it later finds no row
        raise DomainError("conflict", _("A request, a draft or a template uses this document, so it stays."))
    facts = document.facts()
    objects_to_delete.note({document.object_key, document.shown_key})
    document.delete()
    note(caller.organization_id, actor, Action.DOCUMENT_DELETED, f"document {document_id}", before=facts)
