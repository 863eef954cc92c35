"""What is kept of a signer in and around a request: the places that ``paraph person show`` lists and that
``paraph erase signer`` empties."""

from collections.abc import Iterator, Sequence
from typing import Any

from paraph.audit_trail.erase import ERASED, EntryAbout, entries_about, erase_values
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages.inquiry_email import forwarded_name
from paraph.flow.messages.tell_sender import message_id
from paraph.flow.personal_data.erased_signer import FIRST_NAME, LAST_NAME, pseudonym, update
from paraph.flow.personal_data.in_webhooks import IN_WEBHOOKS
from paraph.flow.personal_data.place import Facts, Person, Place, columns, delete_rows
from paraph.flow.personal_data.unsent import told_captured
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.models import OneTimeCode, RefusedCode
from paraph.signature_requests.fields.store import values_of
from paraph.signature_requests.handwriting import initials_of, signature_of
from paraph.signature_requests.models import (
    Field,
    FirstOpening,
    Inquiry,
    Reminder,
    SenderMail,
    SignatureRequest,
    Signer,
    SignerStatus,
)
from paraph.signature_requests.signing_token import new_salt


def person_of(signer: Signer) -> Person:
    """Return the signer as a person, whose traces outside of requests stand in the same organization."""
    return Person(frozenset(_addresses(signer)), signer.first_name, signer.last_name, signer.request.organization_id)


def _addresses(signer: Signer) -> set[str]:
    return {signer.email, signer.phone} - {""}


def _entries(signer: Signer) -> list[EntryAbout]:
    return entries_about(signer.request_id, signer.pk, _addresses(signer))


def _told_entry(found: EntryAbout) -> Facts:
    entry = found.entry
    own = {} if entry.signer_id is None else {"signer": entry.signer_id}
    return {
        "request": entry.request_id,
        **own,
        "position": entry.position,
        "event": entry.event_type,
        "at": clock.iso_milliseconds(entry.created_at),
        **{path.removeprefix("metadata/"): value for path, value in found.values.items()},
    }


def _erase_entries(signer: Signer, found: Sequence[EntryAbout]) -> int:
    return erase_values(found, dict.fromkeys(_addresses(signer), pseudonym(signer)))


def _inquiries(signer: Signer) -> Iterator[Inquiry]:
    yield from Inquiry.objects.filter(signer=signer).order_by("pk")


def _told_inquiry(inquiry: Inquiry) -> Facts:
    return {"kind": inquiry.kind, "text": inquiry.text, "asked_at": clock.iso(inquiry.asked_at)}


def _captured_about(signer: Signer) -> Iterator[CapturedMessage]:
    """Captured mails to the sender, which name signers."""
    names = [forwarded_name(inquiry.pk) for inquiry in _inquiries(signer)]
    names += [message_id(mail.name) for mail in SenderMail.objects.filter(request=signer.request_id)]
    yield from CapturedMessage.objects.filter(message_id__in=names).order_by("pk")


def _declined(signer: Signer) -> Iterator[SignatureRequest]:
    yield from SignatureRequest.objects.filter(declined_by=signer).exclude(ended_reason=ERASED)


def _told_declined(request: SignatureRequest) -> Facts:
    return {"request": request.pk, "at": _iso(request.ended_early_at), "reason": request.ended_reason}


def _reminders(signer: Signer) -> Iterator[Reminder]:
    yield from Reminder.objects.filter(signer=signer)


def _told_reminder(reminder: Reminder) -> Facts:
    return {"number": reminder.number, "asked_at": clock.iso(reminder.asked_at), "mail": reminder.mail}


def _codes(signer: Signer) -> Iterator[OneTimeCode]:
    yield from OneTimeCode.objects.filter(signer=signer)


def _told_code(code: OneTimeCode) -> Facts:
    refused = RefusedCode.objects.filter(signer=code.signer_id).order_by("pk").values_list("refused_at", flat=True)
    return {
        "channel": code.channel,
        "destination": code.destination,
        "created_at": clock.iso(code.created_at),
        "sent_at": _iso(code.sent_at),
        "used_at": _iso(code.used_at),
        "wrong_codes_at": [clock.iso(moment) for moment in refused],
    }


def _openings(signer: Signer) -> Iterator[FirstOpening]:
    yield from FirstOpening.objects.filter(signer=signer)


def _told_opening(opening: FirstOpening) -> Facts:
    return {"opened_at": clock.iso(opening.opened_at), "ip": opening.ip}


def _told_signer(signer: Signer) -> Facts:
    request = signer.request
    written = signer.signature_encrypted is not None
    return {
        "id": signer.pk,
        "request": request.pk,
        "organization_id": request.organization_id,
        "organization": request.organization.name,
        "environment": request.environment,
        "first_name": signer.first_name,
        "last_name": signer.last_name,
        "email": signer.email,
        "phone": signer.phone,
        "language": signer.locale,
        "order": signer.order,
        "status": signer.status,
        "invited_at": _iso(signer.notified_at),
        "invitation": signer.invitation,
        "signed_at": _iso(signer.signed_at) if signer.status == SignerStatus.SIGNED else None,
        "completion_mailed_at": _iso(signer.completion_notified_at),
        "decline_mailed_at": _iso(signer.decline_told_at),
        "signature": signature_of(signer) if written else None,
        "initials": initials_of(signer),
        "request_created_at": clock.iso(request.created_at),
        "request_status": request.status,
    }


def _erase_signer(signer: Signer, _found: Sequence[Signer]) -> int:
    """End the signing link as well, with its salt."""
    return Signer.objects.filter(pk=signer.pk).update(
        first_name=FIRST_NAME,
        last_name=f"{LAST_NAME} {signer.pk}",
        email=pseudonym(signer),
        phone="",
        token_salt=new_salt(),
        invitation=None,
        signature_encrypted=None,
        initials_encrypted=None,
        fields_encrypted=None,
    )


def _fields(signer: Signer) -> Iterator[Field]:
    """Fields that have a value: that of the sender, or one that the signer entered."""
    entered = values_of(signer)
    for field in Field.objects.filter(signer=signer).select_related("signer", "request_document").order_by("pk"):
        if field.value is not None or field.pk in entered:
            yield field


def _told_field(field: Field) -> Facts:
    return {
        "document": field.request_document.document_id,
        "name": field.name,
        "label": field.label,
        "type": field.type,
        "given_by_the_sender": field.value,
        "entered": values_of(field.signer).get(field.pk),
    }


def _erase_fields(signer: Signer, _found: Sequence[Field]) -> int:
    """Empty what the sender gave for the signer to sign, which is as personal as what was entered. That goes with the
    signer's own row."""
    return Field.objects.filter(signer=signer).exclude(value=None).update(value=None)


def _files(signer: Signer) -> Iterator[Document | SealedDocument | ProofFile]:
    of_request = {"file_deleted_at": None, "pk__in": signer.request.request_documents.values("document")}
    yield from Document.objects.filter(**of_request).order_by("pk")
    yield from SealedDocument.objects.filter(request_document__request=signer.request_id).order_by("pk")
    yield from ProofFile.objects.filter(request=signer.request_id)


def _told_file(file: Document | SealedDocument | ProofFile) -> Facts:
    kinds = {Document: "uploaded document", SealedDocument: "signed document", ProofFile: "proof"}
    document = file.request_document.document if isinstance(file, SealedDocument) else file
    return {
        "kind": kinds[type(file)],
        **({"name": document.name} if isinstance(document, Document) else {}),
        "object": file.object_key,
        "sha256": bytes(file.sha256).hex(),
        "bytes": file.file_size,
    }


def _iso(moment: Any) -> str | None:
    return clock.iso(moment) if moment else None


OF_SIGNER: tuple[Place[Signer, Any], ...] = (
    Place(
        "signers",
        columns("signature_requests_signer", "first_name last_name email phone invitation")
        | columns("signature_requests_searchterm", "term"),  # by triggers
        lambda signer: [signer],
        _told_signer,
        _erase_signer,
    ),
    Place("fields", columns("signature_requests_field", "value"), _fields, _told_field, _erase_fields),
    Place("journal", columns("journal_entry", "ip user_agent metadata"), _entries, _told_entry, _erase_entries),
    Place(
        "one-time codes",
        columns("otp_onetimecode", "destination"),
        _codes,
        _told_code,
        lambda _signer, rows: sum(update(row, destination="", destination_scope="") for row in rows),
    ),
    Place(
        "first openings",
        columns("signature_requests_firstopening", "ip"),
        _openings,
        _told_opening,
        lambda _signer, rows: sum(update(row, ip="") for row in rows),
    ),
    Place(
        "reminders",
        columns("signature_requests_reminder", "mail"),
        _reminders,
        _told_reminder,
        lambda _signer, rows: sum(update(row, mail=None) for row in rows),
    ),
    Place(
        "reasons for declining",
        columns("signature_requests_signaturerequest", "ended_reason"),
        _declined,
        _told_declined,
        lambda _signer, rows: sum(update(row, ended_reason=ERASED) for row in rows),
    ),
    Place("inquiries", columns("signature_requests_inquiry", "text"), _inquiries, _told_inquiry, delete_rows),
    Place(
        "captured mails to senders",
        columns("messaging_capturedmessage", "text"),
        _captured_about,
        told_captured,
        delete_rows,
    ),
    *IN_WEBHOOKS,
    Place(
        "files",
        frozenset(),
        _files,
        _told_file,
        stays="Signed documents and the proof are evidence; retention deletes them, and uploads with them.",
    ),
)
