"""Prepare a draft for a member to review and send, as an application asks for it."""

from django.db import IntegrityError, transaction

from paraph.database.rows import insert
from paraph.drafts.given import read
from paraph.drafts.models import Draft, DraftDocument, Json, Step
from paraph.idempotency.held_key import Beside
from paraph.tenants.scope import TenantScope
from paraph.words import DEFAULT_LOCALE


def prepare_draft(scope: TenantScope, value: object, locale: str, beside: Beside) -> Draft:
    """Make the draft that ``value``, that of the root key ``signature_request``, describes as far as it is known.
    ``locale`` is the language that the caller named, if any; ``beside`` tells what else is inserted with it. Raises
    what :func:`paraph.drafts.given.read` does."""
    locale = locale or DEFAULT_LOCALE
    content = read(scope, value, locale)
    try:
        return _made(scope, content, locale, beside)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise


@transaction.atomic
def _made(scope: TenantScope, content: Json, locale: str, beside: Beside) -> Draft:
    draft = Draft.objects.create(
        organization_id=scope.organization_id,
        environment=scope.environment,
        application_id=scope.application_id,
        step=Step.REVIEW,
        locale=locale,
        tags_placed=any(each["signers"] for each in content["documents"]),
        content=content,
    )
    DraftDocument.objects.bulk_create(
        DraftDocument(draft=draft, document_id=each["id"], position=position)
        for position, each in enumerate(content["documents"])
    )
    insert(beside(draft.pk))
    return draft
