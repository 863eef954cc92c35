"""The audit log of a request as the API shows it (rules 2.5, 4.8 and 6.2)."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self

from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from pydantic import ConfigDict, Field

from paraph.api.v1.document_shapes import MOST_PAGES, MOST_PLACES, Change, DisputedPlace, PageNumber
from paraph.api.v1.endpoint import ApiRequest, existing, operation
from paraph.api.v1.lists import PAGING, envelope
from paraph.api.v1.shapes import Digest, Id, Output, Pagination, Timestamp, sometimes
from paraph.audit_trail.models import Entry, EventType
from paraph.evidence.failures import finalization
from paraph.kernel.clock import iso
from paraph.otp.guesses import by_entry
from paraph.otp.models import OneTimeCode
from paraph.signature_requests.fields.input import MOST_FIELDS
from paraph.signature_requests.fields.kinds import KINDS, LONGEST_TEXT
from paraph.signature_requests.input import MOST_DOCUMENTS
from paraph.signature_requests.models import LONGEST_FIELD_NAME, SignatureRequest
from paraph.signature_requests.values import LONGEST_EMAIL
from paraph.tenants.scope import scoped
from paraph.words import LOCALES

_SEALS = "Of `signature_request.pades_signed` and `signature_request.certificate_issued`: "


class Finalization(Output):
    """What keeps a completed request from being finalized, as of the moment when the log is read."""

    state: Literal["retrying", "given_up"] = Field(
        description="`retrying`: the service tries again by itself. `given_up`: it waits for its operator."
    )
    stage: Literal["seal", "prove", "publish"] = Field(
        description="Where it fails: sealing a document, issuing the proof, or reading back what was stored."
    )
    cause: str = Field(max_length=500, description="The latest cause, one sentence.")
    attempts: int = Field(ge=1, description="How often it has failed.")
    failed_at: Timestamp = Field(description="When it last failed.")


class WrongCodes(Output):
    """Wrong codes that were entered for a signer, as of the moment when the log is read."""

    count: int = Field(ge=1, description="How many, since the request was created.")
    locked_until: Timestamp | None = Field(
        description="Until then no code is sent or accepted, because there were too many; null while there is no lock."
    )


class DocumentRemarks(Output):
    """What a document's `preflight` says of print and of changes, as it stands in the journal."""

    document_id: Id = Field(description="The document.")
    prints_differently: list[PageNumber] = Field(
        max_length=MOST_PAGES, description="Numbers of the pages that look different in print."
    )
    print_unknown: int = sometimes(
        ge=1, description="How many pages were not compared with their print, where there are any."
    )
    drawn_differently: list[DisputedPlace] = sometimes(
        max_length=MOST_PLACES, description="Places that other readers may draw otherwise, where there are any."
    )
    altered_after_seal: list[str] = sometimes(
        max_length=10, description="Trusted seals after which it was altered before the upload, if any."
    )
    can_change: list[Change] = Field(max_length=9, description="What can change what is shown.")


class PreparedDocument(Output):
    """A document that could not be sealed as it was uploaded, and the file that stands in for it."""

    document_id: Id = Field(description="The document.")
    uploaded_pdf_sha256: Digest = Field(description="SHA-256 of the uploaded file.")
    prepared_pdf_sha256: Digest = Field(description="SHA-256 of the file that signers see and that is sealed.")
    prepared_pdf_size: int = Field(ge=1, description="Its bytes, with which the file behind `signed_url` begins.")


class JournaledField(Output):
    """A field that the signer filled in, or the service in their place."""

    document_id: Id = Field(description="The document that it stands on.")
    name: str = Field(min_length=1, max_length=LONGEST_FIELD_NAME, description="Its name.")
    type: str = Field(description="What it takes.", json_schema_extra={"enum": list(KINDS)})
    value: Annotated[str, Field(max_length=LONGEST_TEXT)] | bool | None = Field(
        description="The value that is sealed: a date as `YYYY-MM-DD`, a number as a string with a point, of a "
        "checkbox whether it is ticked; null for what was left empty, `erased` once the signer's data were erased."
    )


class AuditMetadata(Output):
    """Facts of the event. Each event type has its own keys; the others are absent."""

    model_config = ConfigDict(extra="allow")

    mode: Literal["sequential", "parallel"] = sometimes(description="Of `signature_request.created`.")
    signers_count: int = sometimes(ge=1, description="Of `signature_request.created`: how many signers there are.")
    documents_count: int = sometimes(
        ge=1, description="Of `signature_request.created` and `signer.signed`: how many documents."
    )
    documents: list[DocumentRemarks] = sometimes(
        max_length=MOST_DOCUMENTS,
        description="Of `signature_request.created`: the documents that can look different than on the signer's page, "
        "where there are any.",
    )
    prepared_documents: list[PreparedDocument] = sometimes(
        max_length=MOST_DOCUMENTS,
        description="Of `signature_request.created`: the documents in whose place signers see another file, because "
        "the upload cannot be sealed as it is, where there are any.",
    )
    channel: Literal["email", "sms"] = sometimes(description="Of a message, except a code: how it was sent.")
    recipient: str = sometimes(
        min_length=3,
        max_length=LONGEST_EMAIL,
        description="Of a message to one person: the exact address or phone number that it was for.",
    )
    recipients: list[str] = sometimes(description="Of `request.completion_notified`: the addresses it went to.")
    copies: Literal[True] = sometimes(description="Of a message to those who get copies, which is no signer's.")
    kept: int = sometimes(
        ge=1,
        description="Of `request.completion_notified`, where no mail server took some of the mails: how many of them "
        "the service keeps.",
    )
    acknowledgement: str = sometimes(description="What the gateway answered on taking the message.")
    message: Literal["invitation", "reminder", "code", "completion", "end", "copy"] = sometimes(
        description="Of `signer.delivery_failed`: what was refused for good."
    )
    answer: str = sometimes(max_length=200, description="Likewise: what the mail server or SMS gateway said.")
    provider: Literal["email", "sms"] = sometimes(description="Of `signer.otp_sent`: the channel of the code.")
    resend: bool = sometimes(description="Of `signer.otp_sent`: whether a code had been sent before.")
    corrected: list[str] = sometimes(
        min_length=1, max_length=6, description="Of `signer.corrected`: the fields whose values were corrected."
    )
    before: dict[str, Digest] = sometimes(
        max_length=6,
        description="Likewise: by field, a commitment to the earlier value, the SHA-256 of `salt` (its bytes) and the "
        "value.",
    )
    after: dict[str, Digest] = sometimes(max_length=6, description="Likewise: a commitment to the corrected value.")
    salt: str = sometimes(
        max_length=32, description="Likewise: 16 bytes in hexadecimal; `erased` once the signer's data are."
    )
    extended_from: Timestamp = sometimes(description="Of `request.extended`: the earlier `expires_at`.")
    extended_to: Timestamp = sometimes(description="Likewise: the new one.")
    wrong_codes: WrongCodes = sometimes(
        description="Of the newest `signer.otp_sent` of a signer, and only where wrong codes were entered. It is added "
        "when the log is read and no part of the journal, whose entries never change."
    )
    consent_notice: str = sometimes(description="Of `signer.signed`: the exact text that the signer accepted.")
    locale: str = sometimes(
        description="Of `signer.signed`: the language of that text.", json_schema_extra={"enum": list(LOCALES)}
    )
    fields: list[JournaledField] = sometimes(
        max_length=MOST_DOCUMENTS * MOST_FIELDS,
        description="Of `signer.signed`, where the signer has fields: each of them with its value.",
    )
    role: Literal["approver"] = sometimes(description="Of `signer.signed`, where an approver confirmed.")
    in_person: Literal[True] = sometimes(
        description="Of `signer.signed`, where the signer signed on the device of a member."
    )
    member_id: Id = sometimes(description="Likewise: the member.")
    finalization: Finalization = sometimes(
        description="Of `request.completed`, and only while a fault keeps the request from being finalized. It is "
        "added when the log is read and no part of the journal, whose entries never change."
    )
    expires_at: Timestamp = sometimes(description="Of `request.expired`: when the validity ended, or would have.")
    ended_early: Literal[True] = sometimes(
        description="Of `request.expired`, where the request was ended by sender, signer or operator."
    )
    reason: str = sometimes(
        min_length=1, max_length=500, description="Likewise: why, in the words of whoever ended it."
    )
    declined: Literal[True] = sometimes(description="Of `request.expired`, where a signer declined.")
    signer_id: Id = sometimes(description="Likewise: the signer.")
    sandbox_act: Literal[True] = sometimes(
        description="Of `signer.signed` and `request.expired`, where a sandbox act brought it about."
    )
    document_id: Id = sometimes(description="Of `signature_request.pades_signed`: the sealed document.")
    signed_pdf_sha256: Digest = sometimes(
        description="Of `signature_request.pades_signed`: SHA-256 of the file behind `signed_url`."
    )
    uploaded_pdf_sha256: Digest = sometimes(
        description="Of `signature_request.pades_signed`, where the upload could not be sealed as it was: SHA-256 of "
        "the uploaded file."
    )
    prepared_pdf_sha256: Digest = sometimes(
        description="Likewise: SHA-256 of the file that stood in for the upload, and which signers saw."
    )
    prepared_pdf_size: int = sometimes(
        ge=1, description="Likewise: its bytes, with which the file behind `signed_url` begins."
    )
    certificate_sha256: Digest = sometimes(
        description="Of `signature_request.certificate_issued`: SHA-256 of the file behind `certificate_url`."
    )
    signing_algorithm: str = sometimes(description=f"{_SEALS}the algorithm of the signature.")
    kms_key_id: str = sometimes(description=f"{_SEALS}the key that signed.")
    kms_request_id: str | None = sometimes(
        description=f"{_SEALS}the key store's id of the operation; empty where the store gives none."
    )
    timestamped: bool = sometimes(description=f"{_SEALS}false when no timestamp authority could be reached.")
    timestamp_authority: str | None = sometimes(description=f"{_SEALS}the name of the authority; null without one.")
    timestamp_policy_oid: str | None = sometimes(description=f"{_SEALS}the authority's policy; null without one.")
    timestamped_at: Timestamp | None = sometimes(description=f"{_SEALS}the time that it states; null without one.")
    timestamp_failures: list[str] = sometimes(description=f"{_SEALS}why authorities did not answer, if some did not.")
    method: str = sometimes(
        description="Of `signature_request.pades_signed`: how the seal was put on the uploaded bytes."
    )
    level: Literal["B-B", "B-T", "B-LT", "B-LTA"] = sometimes(description=f"{_SEALS}the PAdES level that was reached.")
    level_reasons: list[str] = sometimes(
        description=f"{_SEALS}why it is not the level of the settings, where it is not."
    )


class AuditLog(Output):
    """One thing that happened to a request."""

    id: Id = Field(description="Identifies the entry.")
    event_type: str = Field(description="What happened.", json_schema_extra={"enum": list(EventType)})
    signer_id: Id | None = Field(description="The signer whom it is about; null when it is about the request.")
    ip: str = Field(
        max_length=45, description="Address of the caller or signer; empty for what the service did itself."
    )
    user_agent: str = Field(max_length=500, description="Their User-Agent; empty for what the service did itself.")
    metadata: AuditMetadata
    created_at: Timestamp = Field(description="When it happened. Entries come in this order.")

    @classmethod
    def of(cls, row: Entry, **known: Any) -> Self:
        """Return an entry as the API shows it. ``known``: facts as of now, which the journal does not have."""
        return cls.build(
            id=row.pk,
            event_type=row.event_type,
            signer_id=row.signer_id,
            ip=row.ip,
            user_agent=row.user_agent,
            metadata=AuditMetadata.build(**row.stated, **known),
            created_at=iso(row.created_at),
        )


class AuditLogs(Output):
    """A page of the audit log."""

    data: list[AuditLog] = Field(max_length=100, description="The entries of the page, oldest first.")
    pagination: Pagination


_WRONG_CODES = Exists(OneTimeCode.objects.filter(signer__request=OuterRef("pk"), wrong_guesses__gt=0))


@operation(
    "listAuditLogs",
    "GET /signature_requests/{signature_request_id}/audit_logs",
    AuditLogs,
    "A page of entries.",
    accepts=PAGING,
)
def list_audit_logs(request: ApiRequest, signature_request_id: int) -> HttpResponse:
    """List the audit log of a request.

    Lists what happened to a request, oldest first. Entries are only ever added.
    """
    wanted = scoped(SignatureRequest, request.scope).filter(pk=signature_request_id)
    ((is_finalized, has_wrong_codes),) = existing(list(wanted.values_list("finalized", _WRONG_CODES)))
    # A journal never goes back in time, so that its positions are the order of created_at.
    rows = scoped(Entry, request.scope).filter(request_id=signature_request_id).order_by("position")
    return envelope(AuditLogs, rows, request.GET, _describing(signature_request_id, is_finalized, has_wrong_codes))


def _describing(request_id: int, is_finalized: bool, has_wrong_codes: bool) -> Callable[[Entry], AuditLog]:
    """Return how an entry is shown, with what the journal, which never changes, cannot have: what keeps a completed
    request from being finalized and, at a signer's newest code, how many wrong codes were entered."""
    wrong_codes = by_entry(request_id) if has_wrong_codes else {}

    def described(row: Entry) -> AuditLog:
        known: dict[str, Any] = {}
        if not is_finalized and row.event_type == EventType.COMPLETED:
            known["finalization"] = finalization(row.request_id)
        known["wrong_codes"] = wrong_codes.get(row.position)
        return AuditLog.of(row, **{name: fact for name, fact in known.items() if fact})

    return described
