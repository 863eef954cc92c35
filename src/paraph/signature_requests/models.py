"""Signature requests, signers and placements (rules 2.2, 2.3, 3.1, 3.2)."""

from datetime import UTC
from typing import Any, ClassVar

from django.db import models
from django.db.models.functions import Coalesce, Upper
from django.utils.translation import gettext_lazy

from paraph.documents.models import Document
from paraph.kernel import clock
from paraph.signature_requests.localized import full_name
from paraph.tenants.models import Application, BrandingProfile, Environment, Organization, User

ERASED_DOMAIN = "@erased.invalid"  # of signers whose data were erased
LONGEST_SUBJECT, LONGEST_MESSAGE, LONGEST_REMINDER = 150, 5_000, 1_000  # of what a sender writes to signers
LARGE = ("signature_encrypted", "initials_encrypted", "fields_encrypted")  # of a signer; no list reads them
_TENANT = ("organization", "environment")  # with which most indexes of requests begin
LONGEST_FIELD_NAME, LONGEST_LABEL = 100, 200
_BY_END = *_TENANT, Coalesce("completed_at", "ended_early_at", "expires_at")


class Mode(models.TextChoices):
    SEQUENTIAL = "sequential"
    PARALLEL = "parallel"


class RequestStatus(models.TextChoices):
    PENDING = "pending", gettext_lazy("Pending")
    COMPLETED = "completed", gettext_lazy("Completed")
    EXPIRED = "expired", gettext_lazy("Expired")


class SignerStatus(models.TextChoices):
    PENDING = "pending"
    NOTIFIED = "notified"
    SIGNED = "signed"


class Role(models.TextChoices):
    SIGNER = "signer"
    APPROVER = "approver"


class Channel(models.TextChoices):
    EMAIL = "email"
    SMS = "sms"


class SignatureRequest(models.Model):
    """A request to sign documents. ``finalized`` says that its sealed documents and its proof can be downloaded, until
    ``files_deleted_at``; ``people_forgotten_at``: when its people became pseudonyms, as the organization's rule says.
    ``ended_early_at``: when the sender or an operator ended it, for ``ended_reason``; ``expires_at`` stays the same.

    ``sent_by``: the member who sent it from the dashboard; then there is no ``application``. ``title``: what that
    member calls it, "" for nothing; signers do not see it. ``subject`` and ``message``: what that member writes to the
    signers, for invitations and reminders alone, until the files are deleted. ``external_id``, "" for none, and
    ``metadata``, null for none: what its creator's own system knows it by; signers do not see them either.
    ``decline_allowed``: whether a signer may decline, which ends the request early; ``declined_by`` says who did.
    ``has_fields`` and ``has_copies``: whether it has any, so that nobody looks for rows that do not exist.
    ``redirect_url``: where signers may go on once they have signed, "" for nowhere. ``remind_every_days`` and
    ``reminders_at_most``: null where signers are reminded by hand alone.

    ``locale_chosen``: whether the call that created it named a language; else ``locale`` is English, and a signer's
    browser decides (docs/decisions/languages.md).
    """

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    application = models.ForeignKey(Application, models.PROTECT, null=True, related_name="+")
    sent_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    title = models.CharField(max_length=200, blank=True, default="", db_default="")
    subject = models.CharField(max_length=LONGEST_SUBJECT, blank=True, default="", db_default="")
    message = models.TextField(max_length=LONGEST_MESSAGE, blank=True, default="", db_default="")
    external_id = models.CharField(max_length=200, blank=True, default="", db_default="")
    metadata: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    redirect_url = models.CharField(max_length=2000, blank=True, default="", db_default="")
    remind_every_days = models.SmallIntegerField(null=True)
    reminders_at_most = models.SmallIntegerField(null=True)
    branding_profile = models.ForeignKey(BrandingProfile, models.PROTECT, null=True, related_name="+")
    mode = models.CharField(max_length=10, choices=Mode)
    status = models.CharField(max_length=10, choices=RequestStatus, default=RequestStatus.PENDING)
    finalized = models.BooleanField(default=False)
    validity_days = models.SmallIntegerField()
    send_email = models.BooleanField(default=False)
    initials_required = models.BooleanField(default=False)
    notify_signers_on_completion = models.BooleanField(default=False)
    callback_url = models.CharField(max_length=2000, blank=True)
    locale = models.CharField(max_length=5, default="en")
    locale_chosen = models.BooleanField(default=False, db_default=False)
    created_at = models.DateTimeField(default=clock.now)
    expires_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True)
    ended_early_at = models.DateTimeField(null=True)
    ended_reason = models.CharField(max_length=500, blank=True, default="", db_default="")
    decline_allowed = models.BooleanField(default=False, db_default=False)
    signature_only = models.BooleanField(default=False, db_default=False)
    has_fields = models.BooleanField(default=False, db_default=False)
    has_copies = models.BooleanField(default=False, db_default=False)
    declined_by = models.ForeignKey("Signer", models.PROTECT, null=True, related_name="+", db_index=False)
    files_deleted_at = models.DateTimeField(null=True)
    people_forgotten_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=[*_TENANT, "created_at", "id"]),
            models.Index(fields=[*_TENANT, "status", "created_at", "id"], name="request_by_status"),
            models.Index(
                fields=[*_TENANT, "external_id", "created_at", "id"],
                condition=~models.Q(external_id=""),
                name="request_by_external_id",
            ),
            models.Index(fields=["expires_at"], condition=models.Q(status="pending"), name="request_due"),
            models.Index(
                *_BY_END, condition=~models.Q(status="pending") & models.Q(files_deleted_at=None), name="request_ended"
            ),
            models.Index(
                *_BY_END,
                condition=models.Q(files_deleted_at__isnull=False, people_forgotten_at=None),
                name="people_due",
            ),
            models.Index(
                fields=[*_TENANT, "expires_at"], condition=models.Q(status="pending"), name="request_expiring"
            ),
            models.Index(
                fields=[*_TENANT, "completed_at"],
                condition=models.Q(status="completed", finalized=False),
                name="request_unsealed",
            ),
            models.Index(
                fields=[*_TENANT, "ended_early_at"],
                condition=models.Q(declined_by__isnull=False),
                name="request_declined",
            ),
            models.Index(
                fields=["declined_by"], condition=models.Q(declined_by__isnull=False), name="request_decliner"
            ),
        ]


class RequestDocument(models.Model):
    """A document within a request; ``position`` counts from 0 in the order of the payload."""

    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="request_documents", db_index=False)
    document = models.ForeignKey(Document, models.PROTECT, related_name="+")
    position = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "document"], name="document_once_per_request")]
        ordering: ClassVar = ["position"]


class Signer(models.Model):
    """A signer of a request, or an approver, who confirms the documents and draws nothing on them. ``order`` is the
    signing order (sequential) or the position in the payload (parallel), from 1.

    ``signature_encrypted`` and ``initials_encrypted`` are written by :mod:`paraph.signature_requests.marks`,
    ``fields_encrypted``, what the signer entered and then signed, by :mod:`paraph.signature_requests.fields.entry`.
    ``invitation`` is {"taken_at", "acknowledgement"} once the mail server has the mail; ``notified_at`` follows with
    the journal entry. ``remind_at``: when the service looks whether to remind the signer by itself, null for never.
    ``end_told_at``: when the mail server took the mail that somebody else declined or the sender withdrew the request.
    ``undelivered``: the newest message that was refused for good, {"mail": its name, "channel", "recipient", "answer",
    "at"}, null for none; until the sender reminds or corrects the signer, nothing is sent by itself, but for the end of
    the request where it was an SMS. ``token_salt`` is one of the two inputs of a signing token; the other is a key of
    the server. ``replaced_links``: how many links of the signer were replaced by newer ones, because the way to the
    signer was corrected. ``language``: the one that the sender named, "" for the request's; ``locale`` is the same
    until the signer signs, then the one that they signed in.
    """

    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="signers", db_index=False)
    first_name = models.CharField(max_length=200)
    last_name = models.CharField(max_length=200)
    email = models.CharField(max_length=320)
    phone = models.CharField(max_length=16, blank=True)
    role = models.CharField(max_length=10, choices=Role, default=Role.SIGNER, db_default=Role.SIGNER)
    order = models.IntegerField()
    otp_channel = models.CharField(max_length=5, choices=Channel, blank=True)
    language = models.CharField(max_length=5, default="", db_default="", blank=True)
    status = models.CharField(max_length=10, choices=SignerStatus, default=SignerStatus.PENDING)
    token_salt = models.BinaryField()
    replaced_links = models.SmallIntegerField(default=0, db_default=0)
    notified_at = models.DateTimeField(null=True)
    invitation: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    signed_at = models.DateTimeField(null=True)
    signature_encrypted = models.BinaryField(null=True)
    initials_encrypted = models.BinaryField(null=True)
    fields_encrypted = models.BinaryField(null=True)
    completion_notified_at = models.DateTimeField(null=True)
    end_told_at = models.DateTimeField(null=True)
    undelivered: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    remind_at = models.DateTimeField(null=True)
    locale = models.CharField(max_length=5, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "order"], name="order_once_per_request")]
        indexes = [
            models.Index(fields=["remind_at"], condition=models.Q(remind_at__isnull=False), name="signer_to_remind"),
            models.Index(Upper("email"), name="signer_by_email"),
            models.Index(fields=["phone"], condition=~models.Q(phone=""), name="signer_by_phone"),
            models.Index(fields=["id"], condition=models.Q(replaced_links__gt=0), name="signer_corrected"),
        ]
        ordering: ClassVar = ["order"]

    @property
    def is_approver(self) -> bool:
        return self.role == Role.APPROVER

    @property
    def full_name(self) -> str:
        """The name as page, mails, stamps and proof write it. The API has its own form, first name first."""
        return full_name(self.first_name, self.last_name, self.locale or self.request.locale)

    @property
    def signed_on(self) -> str:
        """The day of the signature in UTC; before the signature, the present day."""
        return (self.signed_at or clock.now()).astimezone(UTC).date().isoformat()


class InquiryKind(models.TextChoices):
    QUESTION = "question", gettext_lazy("Question")
    NOT_ME = "not_me", gettext_lazy("Not for me")


class Inquiry(models.Model):
    """What a signer wrote to the sender instead of signing. It changes no state and has no entry in the journal.

    ``forwarded_at``: when the mail server took the mail to the sender.
    """

    signer = models.ForeignKey(Signer, models.PROTECT, related_name="inquiries")
    kind = models.CharField(max_length=10, choices=InquiryKind)
    text = models.TextField()
    asked_at = models.DateTimeField(default=clock.now)
    forwarded_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["asked_at"], name="inquiry_by_time")]


class SenderMail(models.Model):
    """A mail to the member who sent the request or, of the kind ``contact``, to the organization's contact address.
    ``name`` says what the mail tells and about whom, so that nothing is told twice; ``about``: the id of a signer or
    inquiry, or a number of days; where a message was refused for good, the id of a signer below zero, or 0 for those
    who get copies. ``sent_at``: when the mail server took it."""

    name = models.CharField(max_length=80, primary_key=True)
    request = models.ForeignKey(SignatureRequest, models.CASCADE, related_name="sender_mails")
    kind = models.CharField(max_length=12)
    about = models.BigIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)


class Placement(models.Model):
    """The rectangle of a stamp, in points of the page as a reader sees it (crop box, after /Rotate, UserUnit applied),
    origin bottom-left. Tags are resolved at creation; sealing never searches again."""

    request_document = models.ForeignKey(RequestDocument, models.PROTECT, related_name="placements")
    signer = models.ForeignKey(Signer, models.PROTECT, related_name="placements")
    page_number = models.IntegerField()
    x = models.FloatField()
    y = models.FloatField()
    width = models.FloatField()
    height = models.FloatField()


class Field(models.Model):
    """A field that a signer fills in on a document, or that the service fills for the signer; ``position`` counts from
    0 in the order of the payload. The rectangle is as that of a :class:`Placement`.

    ``value``: what the sender gave, a text or, of a checkbox, a truth value; null for nothing. ``options``: of a
    choice, else null. ``max_length``: of a text, else null. ``minimum`` and ``maximum``: the bounds of a number or a
    date as they were given, "" for none. ``font_size`` is in points.
    """

    request_document = models.ForeignKey(RequestDocument, models.PROTECT, related_name="fields")
    signer = models.ForeignKey(Signer, models.PROTECT, related_name="fields", db_index=False)
    position = models.SmallIntegerField()
    name = models.CharField(max_length=LONGEST_FIELD_NAME)
    type = models.CharField(max_length=10)  # of paraph.signature_requests.fields.kinds
    label = models.CharField(max_length=LONGEST_LABEL)
    required = models.BooleanField(default=True)
    read_only = models.BooleanField(default=False)
    value: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    options: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    max_length = models.SmallIntegerField(null=True)
    minimum = models.CharField(max_length=30, blank=True, default="")
    maximum = models.CharField(max_length=30, blank=True, default="")
    font_size = models.FloatField(default=10)
    page_number = models.IntegerField()
    x = models.FloatField()
    y = models.FloatField()
    width = models.FloatField()
    height = models.FloatField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["signer", "request_document", "name"], name="field_name_once_per_signer_and_document"
            )
        ]


class CopyRecipient(models.Model):
    """A person who gets a copy of the sealed documents and of the proof, and takes no other part; ``position`` counts
    from 0 in the order of the payload. ``token_salt`` is one of the two inputs of the link's token; ``notified_at``:
    when the mail server took the mail; ``undelivered``: as that of a :class:`Signer`."""

    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="copies", db_index=False)
    position = models.SmallIntegerField()
    first_name = models.CharField(max_length=200)
    last_name = models.CharField(max_length=200)
    email = models.CharField(max_length=320)
    token_salt = models.BinaryField()
    notified_at = models.DateTimeField(null=True)
    undelivered: "models.JSONField[Any, Any]" = models.JSONField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "position"], name="copy_once_per_position")]
        indexes = [models.Index(Upper("email"), name="copy_by_email")]
        ordering: ClassVar = ["position"]

    @property
    def full_name(self) -> str:
        return full_name(self.first_name, self.last_name, self.request.locale)


class Approval(models.Model):
    """A document that an approver reads and confirms. A signer signs the documents on which they have placements."""

    request_document = models.ForeignKey(RequestDocument, models.PROTECT, related_name="approvals")
    signer = models.ForeignKey(Signer, models.PROTECT, related_name="approvals", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["signer", "request_document"], name="approval_once_per_document")
        ]


class FirstOpening(models.Model):
    """When a signer's page was first opened with the documents on it, and from which address. Stated in the proof
    alone: the journal has no such event."""

    signer = models.OneToOneField(Signer, models.PROTECT, primary_key=True, related_name="first_opening")
    opened_at = models.DateTimeField()
    ip = models.CharField(max_length=45, blank=True)


class Reminder(models.Model):
    """One of the times that a signer was invited again, by a member, an application or, ``automatic``, by the service;
    ``number`` counts from 1. ``message``: what the member writes, until the mail is out.

    ``mail`` is {"taken_at", "acknowledgement"} once the mail server has the mail; ``journaled`` follows with the
    journal entry. It is {"refused": true} where the mail was refused for good, and {"invited": true} where the
    invitation, which was refused, is sent again in its place.
    """

    signer = models.ForeignKey(Signer, models.PROTECT, related_name="reminders")
    number = models.SmallIntegerField()
    automatic = models.BooleanField(default=False, db_default=False)
    asked_at = models.DateTimeField(default=clock.now)
    message = models.TextField(max_length=LONGEST_REMINDER, blank=True, default="", db_default="")
    mail: "models.JSONField[Any, Any]" = models.JSONField(null=True)
    journaled = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["signer", "number"], name="reminder_once_per_number")]


class SearchTerm(models.Model):
    """A word that a request is found by: of its signers' names, addresses and mail domains, of its file names, and
    of its title, external id and metadata.

    Triggers on requests, their signers and documents keep it (docs/decisions/long-lists.md); nothing else writes it.
    Its key is the index that :mod:`paraph.signature_requests.search` reads.
    """

    pk = models.CompositePrimaryKey("organization_id", "environment", "term", "request_id")
    organization = models.ForeignKey(
        Organization, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    environment = models.CharField(max_length=10, choices=Environment)
    term = models.CharField(max_length=100, db_collation="C")
    request = models.ForeignKey(
        SignatureRequest, models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
