"""Prepare a draft for a member to review and send, as an application asks for it."""

from dataclasses import asdict
from typing import Any

from django.db import IntegrityError, transaction

from paraph.database.rows import insert
from paraph.drafts.given import Given, read
from paraph.drafts.models import Draft, DraftDocument, DraftField, DraftSigner, DraftStamp, Step
from paraph.drafts.payload import content_of
from paraph.idempotency.held_key import Beside
from paraph.signature_requests.placing import PlannedField, PlannedPlacement
from paraph.tenants.scope import TenantScope
from paraph.words import DEFAULT_LOCALE


def prepare_draft(scope: TenantScope, value: object, locale: str, beside: Beside) -> Draft:
    """Make the draft that ``value``, that of the root key ``signature_request``, describes as far as it is known.
    ``locale`` is the language that the caller named, if any; ``beside`` tells what else is inserted with it. Raises
    what :func:`paraph.drafts.given.read` does."""
    locale = locale or DEFAULT_LOCALE
    given = read(scope, value, locale)
    try:
        return _made(scope, given, locale, beside)
    except IntegrityError:
        read(scope, value, locale)  # refuses a document that was removed meanwhile
        raise


@transaction.atomic
def _made(scope: TenantScope, given: Given, locale: str, beside: Beside) -> Draft:
    draft = Draft.objects.create(
        organization_id=scope.organization_id,
        environment=scope.environment,
        application_id=scope.application_id,
        step=Step.REVIEW,
        locale=locale,
        tags_placed=any(each.placements or each.fields for each in given.documents),
        **given.options,
    )
    signers = {
        ref: DraftSigner(draft=draft, position=position, **person)
        for position, (ref, person) in enumerate(given.signers.items())
    }
    DraftSigner.objects.bulk_create(signers.values())
    stamps: list[DraftStamp] = []
    fields: list[DraftField] = []
    for position, planned in enumerate(given.documents):
        row = DraftDocument.objects.create(draft=draft, document=planned.document, position=position)
        placed: list[PlannedPlacement | PlannedField] = [*planned.placements, *planned.fields]
        for each in placed:
            place: dict[str, Any] = {"page_number": each.page_number, **asdict(each.rect)}
            whose: dict[str, Any] = {"document": row, "signer": signers[each.signer_ref]}
            if isinstance(each, PlannedField):
                fields.append(DraftField(**whose, **place, content=content_of(each.given)))
            else:
                stamps.append(DraftStamp(**whose, **place))
    draft.place(stamps, fields)
    insert(beside(draft.pk))
    return draft
