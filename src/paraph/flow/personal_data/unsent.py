"""What is kept of a person who signs nothing: as one who gets copies, in rows of bulk sends and drafts that were never
sent, in the captured inbox, and among the addresses that a sandbox may write to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from paraph.audit_trail.erase import entries_about, erase_values
from paraph.drafts.editing import forget_places
from paraph.drafts.models import Draft, DraftSigner
from paraph.flow.lock import lock_request
from paraph.flow.personal_data.in_webhooks import erase_own_data, words_naming
from paraph.flow.personal_data.in_words import IN_WORDS
from paraph.flow.personal_data.place import Facts, Person, Place, columns, delete_rows, has_address, has_name, naming
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.request_templates.models import BulkRow, BulkSend, RowState
from paraph.signature_requests.models import ERASED_DOMAIN, CopyRecipient
from paraph.signature_requests.signing_token import new_salt
from paraph.tenants.models import ConfirmedAddress

_NOBODY = 0  # no signer's id


def erase_unsent(person: Person) -> set[int]:
    """Erase what names the person in :data:`UNSENT`; captured messages to the person go whoever sent them. Return the
    ids of the organizations whose data changed.

    A row goes with all its people, and is never sent. Safe to repeat.
    """
    changed: set[int] = set()
    for place in UNSENT:
        found = defaultdict[int, list[Any]](list)  # 0 for what belongs to no organization
        for row in place.find(person):
            found[place.tell(row).get("organization_id", 0)].append(row)
        changed |= {number for number, rows in found.items() if place.erase and place.erase(person, rows)}
    return changed - {0}


def _copies(person: Person) -> Iterator[CopyRecipient]:
    """Those who get copies of requests, with the journal's entries about them."""
    rows = CopyRecipient.objects.filter(**person.of("request__organization")).select_related("request")
    for address in person.addresses:
        yield from rows.filter(email__iexact=address).order_by("pk")


def _told_copy(recipient: CopyRecipient) -> Facts:
    request = recipient.request
    return {
        "organization_id": request.organization_id,
        "environment": request.environment,
        "request": request.pk,
        "first_name": recipient.first_name,
        "last_name": recipient.last_name,
        "email": recipient.email,
        "mailed_at": clock.iso(recipient.notified_at) if recipient.notified_at else None,
        **words_naming(recipient),
    }


def _erase_copies(_person: Person, found: Sequence[CopyRecipient]) -> int:
    """End the links as well, with their salt. Nothing is mailed to them any more. With what the request's sender calls
    it or notes of it, where it names them."""
    for recipient in found:
        _erase_copy(recipient)
    return len(found)


@transaction.atomic
def _erase_copy(recipient: CopyRecipient) -> None:
    recipient.request = lock_request(recipient.request_id)
    if words_naming(recipient):
        erase_own_data(recipient, [recipient.request])
    pseudonym = f"copy-{recipient.pk}{ERASED_DOMAIN}"
    entries = entries_about(recipient.request_id, _NOBODY, {recipient.email})
    about_copies = [each for each in entries if each.entry.metadata.get("copies")]  # others are a namesake's who signs
    erase_values(about_copies, {recipient.email: pseudonym})
    CopyRecipient.objects.filter(pk=recipient.pk).update(
        first_name="Erased", last_name=f"copy {recipient.pk}", email=pseudonym, token_salt=new_salt()
    )


def _captured(person: Person) -> Iterator[CapturedMessage]:
    """Return the captured messages; those that a gateway took are not kept."""
    for address in person.addresses:
        yield from CapturedMessage.objects.filter(to__iexact=address).order_by("pk")


def told_captured(message: CapturedMessage) -> Facts:
    return {
        "to": message.to,
        "channel": message.channel,
        "subject": message.subject,
        "text": message.text,
        "created_at": clock.iso(message.created_at),
    }


def _rows(person: Person) -> Iterator[BulkRow]:
    for bulk_send in BulkSend.objects.filter(**person.of("organization")).order_by("pk"):
        rows = BulkRow.objects.filter(bulk_send=bulk_send).exclude(state=RowState.SENT).select_related("bulk_send")
        yield from (row for row in rows.iterator() if _row_names(person, row))


def _told_row(row: BulkRow) -> Facts:
    return {
        "organization_id": row.bulk_send.organization_id,
        "environment": row.bulk_send.environment,
        "file": row.bulk_send.file_name,
        "line": row.number,
        "cells": row.cells,
        "uploaded_at": clock.iso(row.bulk_send.created_at),
    }


def _empty_rows(_person: Person, found: Sequence[BulkRow]) -> int:
    by_send = groupby(sorted(found, key=lambda row: row.bulk_send_id), lambda row: row.bulk_send_id)
    return sum(_empty_rows_of(bulk_send_id, [row.pk for row in rows]) for bulk_send_id, rows in by_send)


@transaction.atomic
def _empty_rows_of(bulk_send_id: int, found: Iterable[int]) -> int:
    """Lock the bulk send, as its sending does: a row that was sent meanwhile is a request, and stays one."""
    bulk_send = BulkSend.objects.select_for_update(no_key=True).filter(pk=bulk_send_id).first()
    with translation.override(bulk_send.language if bulk_send else None):
        sentence = _("Personal data in this row were erased.")
    rows = BulkRow.objects.filter(pk__in=found).exclude(state=RowState.SENT)
    return rows.update(state=RowState.WRONG, cells=[], signers=[], problems=[sentence])


def _row_names(person: Person, row: BulkRow) -> bool:
    """Return whether the row is about the person: one that could be sent to another address is about a namesake."""
    return has_address(person, row.cells) or (row.state == RowState.WRONG and has_name(person, row.cells))


def _draft_signers(person: Person) -> Iterator[DraftSigner]:
    signers = DraftSigner.objects.filter(**person.of("draft__organization")).select_related("draft").order_by("pk")
    for signer in signers.iterator():
        entered = [signer.first_name, signer.last_name, signer.email, signer.phone]
        if has_address(person, entered) or ("@" not in signer.email and has_name(person, entered)):
            yield signer


def _told_draft_signer(signer: DraftSigner) -> Facts:
    return {
        "organization_id": signer.draft.organization_id,
        "environment": signer.draft.environment,
        "draft": signer.draft_id,
        "first_name": signer.first_name,
        "last_name": signer.last_name,
        "email": signer.email,
        "phone": signer.phone,
        **_own_texts(signer.draft),
        "metadata": signer.draft.more_options.get("metadata", {}),
        "changed_at": clock.iso(signer.draft.updated_at),
    }


def _own_texts(draft: Draft) -> dict[str, str]:
    return {name: each for name, each in draft.more_options.items() if isinstance(each, str)}


def _erase_draft_signers(_person: Person, found: Sequence[DraftSigner]) -> int:
    """With what the application that prepared the draft noted of its own, where it names them."""
    for signer in found:
        draft = Draft.objects.select_for_update(no_key=True).filter(pk=signer.draft_id).first()
        if draft:
            _forget_own_data(draft, signer)
            signer.delete()
            forget_places(draft)
    return len(found)


def _forget_own_data(draft: Draft, signer: DraftSigner) -> None:
    gone, metadata = naming(signer, _own_texts(draft)), draft.more_options.get("metadata", {})
    emptied = dict.fromkeys(naming(signer, metadata), "")
    if gone or emptied:
        draft.more_options = {name: each for name, each in draft.more_options.items() if name not in gone}
        if emptied:
            draft.more_options["metadata"] = metadata | emptied
        draft.save(update_fields=["more_options"])


def _copies_in_drafts(person: Person) -> Iterator[tuple[Draft, list[dict[str, str]]]]:
    drafts = Draft.objects.filter(more_options__has_key="copies", **person.of("organization")).order_by("pk")
    yield from ((draft, named) for draft in drafts.iterator() if (named := _copies_of(person, draft)))


def _copies_of(person: Person, draft: Draft) -> list[dict[str, str]]:
    return [each for each in draft.more_options["copies"] if has_address(person, each.values())]


def _told_draft_copies(found: tuple[Draft, list[dict[str, str]]]) -> Facts:
    draft, named = found
    return {
        "organization_id": draft.organization_id,
        "environment": draft.environment,
        "draft": draft.pk,
        "copies": named,
        "changed_at": clock.iso(draft.updated_at),
    }


@transaction.atomic
def _erase_draft_copies(person: Person, found: Sequence[tuple[Draft, list[dict[str, str]]]]) -> int:
    locked = Draft.objects.select_for_update(no_key=True).filter(pk__in=[draft.pk for draft, _named in found])
    drafts = list(locked.filter(more_options__has_key="copies"))
    for draft in drafts:
        gone = _copies_of(person, draft)
        draft.more_options["copies"] = [each for each in draft.more_options["copies"] if each not in gone]
        draft.save(update_fields=["more_options"])
    return len(drafts)


def _confirmed(person: Person) -> QuerySet[ConfirmedAddress]:
    addresses = [address.strip().lower() for address in person.addresses]
    return ConfirmedAddress.objects.filter(address__in=addresses, **person.of("organization")).order_by("pk")


def _told_confirmed(row: ConfirmedAddress) -> Facts:
    return {
        "organization_id": row.organization_id,
        "address": row.address,
        "asked_at": clock.iso(row.asked_at),
        "confirmed_at": clock.iso(row.confirmed_at) if row.confirmed_at else None,
    }


UNSENT: tuple[Place[Person, Any], ...] = (
    Place(
        "captured messages",
        columns("messaging_capturedmessage", "to subject text html"),
        _captured,
        told_captured,
        delete_rows,
    ),
    Place(
        "copies",
        columns("signature_requests_copyrecipient", "first_name last_name email")
        | columns("journal_entry", "metadata"),
        _copies,
        _told_copy,
        _erase_copies,
    ),
    Place(
        "rows of bulk sends",
        columns("request_templates_bulkrow", "cells signers problems"),
        _rows,
        _told_row,
        _empty_rows,
    ),
    Place(
        "drafts",
        columns("drafts_draftsigner", "first_name last_name email phone") | columns("drafts_draft", "more_options"),
        _draft_signers,
        _told_draft_signer,
        _erase_draft_signers,
    ),
    Place(
        "copies in drafts",
        columns("drafts_draft", "more_options"),
        _copies_in_drafts,
        _told_draft_copies,
        _erase_draft_copies,
    ),
    *IN_WORDS,
    Place(
        "confirmed addresses",
        columns("organizations_confirmedaddress", "address"),
        _confirmed,
        _told_confirmed,
        delete_rows,
    ),
)
