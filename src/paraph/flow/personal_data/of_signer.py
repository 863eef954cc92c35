"""What is kept of signers in and around their requests: the places that ``paraph person show`` lists and that
``paraph erase signer`` and retention empty, among them what events and webhooks say of the signers."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.db.models import Q

from paraph.audit_trail.journal import ERASED, EntryAbout, entries_about, erase_values
from paraph.documents.models import Document
from paraph.evidence.models import ProofFile, SealedDocument
from paraph.flow.messages.sent_once import CONTACT, mail_name
from paraph.flow.personal_data.place import (
    FIRST_NAME,
    SHOW_CAPTURED,
    Facts,
    Person,
    Place,
    Signers,
    delete_rows,
    last_name,
    naming,
    of_signers,
    pseudonym,
    replaced,
    rewrite,
    rewrite_recorded,
    showing,
)
from paraph.kernel import clock
from paraph.messaging.models import CapturedMessage
from paraph.otp.models import OneTimeCode, RefusedCode
from paraph.signature_requests.fields.entry import values_of
from paraph.signature_requests.links import new_salt
from paraph.signature_requests.marks import initials_of, signature_of
from paraph.signature_requests.models import (
    CopyRecipient,
    Field,
    FirstOpening,
    Inquiry,
    Reminder,
    RequestDocument,
    SignatureRequest,
    Signer,
)
from paraph.tenants.models import MailKind
from paraph.webhooks.models import Attempt, Delivery, DeliveryStatus, Destination, Event


def person_of(signer: Signer) -> Person:
    """Return the signer as a person, whose traces outside of requests stand in the same organization."""
    return Person(frozenset(_addresses(signer)), signer.first_name, signer.last_name, signer.request.organization_id)


def _addresses(signer: Signer) -> set[str]:
    return {signer.email, signer.phone} - {""}


def _entries(signers: Signers) -> list[EntryAbout]:
    addresses = {address for signer in signers for address in _addresses(signer)}
    return entries_about(_requests(signers), {signer.pk for signer in signers}, addresses)


def _requests(signers: Signers) -> set[int]:
    return {signer.request_id for signer in signers}


def _describe_entry(found: EntryAbout) -> Facts:
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


def _erase_entries(signers: Signers, found: Sequence[EntryAbout]) -> int:
    pseudonyms = {
        (signer.request_id, address): pseudonym(signer) for signer in signers for address in _addresses(signer)
    }
    return erase_values(found, pseudonyms)


def _captured_about(signers: Signers) -> Iterable[CapturedMessage]:
    """Return captured mails to the sender, which name signers, even those forgotten so that they could be sent anew."""
    names = [mail_name("inquiry", inquiry.pk) for inquiry in Inquiry.objects.filter(signer__in=signers)]
    kinds = (*MailKind.values, CONTACT)
    begins = (f"{mail_name('sender', kind, request_id)}-" for kind in kinds for request_id in _requests(signers))
    about = Q(*(Q(message_id__startswith=each) for each in begins), message_id__in=names, _connector=Q.OR)
    return CapturedMessage.objects.filter(about).exclude(message_id="").order_by("pk")


def _fields(signers: Signers) -> Iterator[Field]:
    """Yield the fields that have a value: one from the sender, or one that the signer entered."""
    entered = {pk for signer in signers for pk in values_of(signer)}
    fields = Field.objects.filter(signer__in=signers).select_related("signer", "request_document")
    for field in fields.order_by("pk"):
        if field.value is not None or field.pk in entered:
            yield field


def _files(signers: Signers) -> Iterator[Document | SealedDocument | ProofFile]:
    requests = _requests(signers)
    of_requests = RequestDocument.objects.filter(request__in=requests).values("document")
    yield from Document.objects.filter(file_deleted_at=None, pk__in=of_requests).order_by("pk")
    yield from SealedDocument.objects.filter(request_document__request__in=requests).order_by("pk")
    yield from ProofFile.objects.filter(request__in=requests)


def _describe_file(file: Document | SealedDocument | ProofFile) -> Facts:
    kinds = {Document: "uploaded document", SealedDocument: "signed document", ProofFile: "proof"}
    document = file.request_document.document if isinstance(file, SealedDocument) else file
    return {
        "kind": kinds[type(file)],
        **({"name": document.name} if isinstance(document, Document) else {}),
        "object": file.object_key,
        "sha256": bytes(file.sha256).hex(),
        "bytes": file.file_size,
    }


def _wrong_codes(code: OneTimeCode) -> Facts:
    refused = RefusedCode.objects.filter(signer=code.signer_id).order_by("pk")
    return {"wrong_codes_at": [clock.iso(each.refused_at) for each in refused]}


def _marks(signer: Signer) -> Facts:
    written = signer.signature_encrypted is not None
    return {"signature": signature_of(signer) if written else None, "initials": initials_of(signer)}


def _about(model: Any) -> Callable[[Signers], list[Event | Delivery]]:
    """Return a function that finds the rows whose payload is about one of the signers, or says why they declined;
    webhooks that still wait are among them."""

    def find(signers: Signers) -> list[Event | Delivery]:
        rows = model.objects.filter(request__in=_requests(signers)).order_by("pk")
        ids = {signer.pk for signer in signers}
        return [row for row in rows if _signer_of(json.loads(row.payload)) in ids]

    return find


def _signer_of(content: Facts) -> Any:
    return content.get("signer", {}).get("id") or content.get("metadata", {}).get("signer_id")


def _said(row: Event | Delivery) -> Facts:
    """Return what a payload says of the signer."""
    content = json.loads(row.payload)
    return {"signer": content["signer"]} if "signer" in content else {"reason": content["metadata"]["reason"]}


def _answers(delivery: Delivery) -> Facts:
    responses = Attempt.objects.filter(delivery=delivery).exclude(response="").values_list("response", flat=True)
    return {"answers": list(responses)}


def _erase(signers: Signers, found: Sequence[Event | Delivery]) -> int:
    """Anonymize the payloads, and erase what receivers answered."""
    answered = [row.pk for row in found if isinstance(row, Delivery)]
    Attempt.objects.filter(delivery__in=answered).update(response="", error="")
    return rewrite(found, partial(_anonymize, {signer.pk: signer for signer in signers}))


def _anonymize(signers: Mapping[int, Signer], content: Facts) -> None:
    if "signer" in content:
        signer = signers[_signer_of(content)]
        name = {"first_name": FIRST_NAME, "last_name": last_name(signer)}
        content["signer"] |= {**name, "full_name": " ".join(name.values()), "email": pseudonym(signer)}
    else:
        content["metadata"]["reason"] = ERASED


def words_naming(named: Signer | CopyRecipient) -> dict[str, str]:
    """Return, by name, those texts of the request, and of the metadata noted with it, that name the person."""
    request = named.request
    words = _own_texts(request) | {f"metadata.{key}": text for key, text in (request.metadata or {}).items()}
    return {name: words[name] for name in naming(named, words)}


def _own_texts(request: SignatureRequest) -> dict[str, str]:
    names = ("title", "subject", "message", "external_id", "redirect_url", "callback_url")
    return {name: getattr(request, name) for name in names}


def _describe_own_data(signer: Signer) -> Facts:
    request = signer.request
    facts = {**_own_texts(request), "metadata": request.metadata}
    return {"request": request.pk, **{name: fact for name, fact in facts.items() if fact}}


def erase_own_data(_subject: object, found: Sequence[Signer | CopyRecipient]) -> int:
    """Empty the texts of their requests that name these people, in the request itself and in every event and recorded
    webhook of it, and what receivers answered to the webhooks."""
    for named in found:
        request = named.request
        texts = dict.fromkeys(naming(named, _own_texts(request)), "")
        metadata = dict.fromkeys(naming(named, request.metadata or {}), "")
        if metadata:
            request.metadata |= metadata
        SignatureRequest.objects.filter(pk=request.pk).update(metadata=request.metadata, **texts)
        rewrite_recorded(request, partial(_empty, texts, metadata))
        Attempt.objects.filter(delivery__request=request).update(response="", error="")
        _forget_addresses(named, request)
    return len(found)


def _empty(texts: Collection[str], metadata: Facts, content: Facts) -> None:
    told = content["signature_request"]
    content["signature_request"] = {name: fact for name, fact in told.items() if name not in texts}
    if "metadata" in told:
        told["metadata"] |= metadata


def _forget_addresses(signer: Signer | CopyRecipient, request: SignatureRequest) -> None:
    """Empty the callback URLs of the request's webhooks that name the signer. Webhooks that still wait are not sent."""
    deliveries = Delivery.objects.filter(request=request, destination=Destination.CALLBACK)
    naming_signer = [row.pk for row in deliveries if naming(signer, {"url": row.url})]
    gone = Delivery.objects.filter(pk__in=naming_signer)
    gone.filter(finished_at=None).update(status=DeliveryStatus.FAILED, finished_at=clock.now(), claimed_at=None)
    gone.update(url="", endpoint="")


def erase_signers(signers: Signers) -> dict[str, int]:
    """Empty the places of these signers, whose requests the caller has locked; return how much changed in each."""
    found = [(place, place.erase, list(place.find(signers))) for place in OF_SIGNER if place.erase]
    return {place.name: erase(signers, rows) for place, erase, rows in found}


OF_SIGNER: tuple[Place[Signers, Any], ...] = (
    Place(
        "signers",
        "signature_requests_signer: first_name last_name email phone invitation undelivered; "
        "signature_requests_searchterm: term",  # by triggers
        lambda signers: signers,
        showing(
            "id request=request_id request.organization_id organization=request.organization.name request.environment "
            "first_name last_name email phone language=locale order status invited_at=notified_at invitation signed_at "
            "undelivered completion_mailed_at=completion_notified_at end_mailed_at=end_told_at",
            _marks,
            "request_created_at=request.created_at request_status=request.status",
        ),
        replaced(
            first_name=FIRST_NAME,
            last_name=last_name,
            email=pseudonym,
            phone="",
            token_salt=lambda _signer: new_salt(),  # which ends the signing link
            invitation=None,
            undelivered=None,
            signature_encrypted=None,
            initials_encrypted=None,
            fields_encrypted=None,
        ),
    ),
    Place(
        "fields",
        "signature_requests_field: value",
        _fields,
        showing(
            "document=request_document.document_id name label type given_by_the_sender=value",
            lambda field: {"entered": values_of(field.signer).get(field.pk)},
        ),
        replaced(value=None),  # as personal as what was entered, which goes with the signer's own row
    ),
    Place("journal", "journal_entry: ip user_agent metadata", _entries, _describe_entry, _erase_entries),
    Place(
        "one-time codes",
        "otp_onetimecode: destination",
        of_signers(OneTimeCode),
        showing("channel destination created_at sent_at used_at", _wrong_codes),
        replaced(destination="", destination_scope=""),
    ),
    Place(
        "first openings",
        "signature_requests_firstopening: ip",
        of_signers(FirstOpening),
        showing("opened_at ip"),
        replaced(ip=""),
    ),
    Place(
        "reminders",
        "signature_requests_reminder: mail message",
        of_signers(Reminder),
        showing("number asked_at message mail"),
        replaced(mail=None, message=""),
    ),
    Place(
        "reasons for declining",
        "signature_requests_signaturerequest: ended_reason",
        lambda signers: SignatureRequest.objects.filter(declined_by__in=signers).exclude(ended_reason=ERASED),
        showing("request=pk at=ended_early_at reason=ended_reason"),
        replaced(ended_reason=ERASED),
    ),
    Place(
        "inquiries", "signature_requests_inquiry: text", of_signers(Inquiry), showing("kind text asked_at"), delete_rows
    ),
    Place("captured mails to senders", "messaging_capturedmessage: text", _captured_about, SHOW_CAPTURED, delete_rows),
    Place(
        "events",
        "webhooks_event: payload",
        _about(Event),
        showing("id=pk event=event_type", lambda event: {"at": json.loads(event.payload)["occurred_at"]}, _said),
        _erase,
    ),
    Place(
        "webhooks",
        "webhooks_delivery: payload; webhooks_attempt: response error",
        _about(Delivery),
        showing("id=pk event=event_type at=occurred_at url", _said, _answers),
        _erase,
    ),
    Place(
        "what senders call requests",
        "signature_requests_signaturerequest: title subject message external_id redirect_url callback_url metadata; "
        "webhooks_delivery: url endpoint",
        lambda signers: [signer for signer in signers if words_naming(signer)],
        _describe_own_data,
        erase_own_data,
    ),
    Place(
        "files",
        "",
        _files,
        _describe_file,
        stays="Signed documents and the proof are evidence; retention deletes them, and uploads with them.",
    ),
)
