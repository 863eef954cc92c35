"""Entries of the audit trail (rule 2.5) and their types. A database trigger refuses UPDATE, DELETE and
TRUNCATE."""

from enum import StrEnum
from typing import Any, ClassVar

from django.db import models

from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Environment, Organization


class EventType(StrEnum):
    """The types of entries, in the order in which a request meets them."""

    CREATED = "signature_request.created"
    IDENTITY_DECLARED = "signature_request.identity_declared"
    SIGNER_NOTIFIED = "signer.notified"
    DELIVERY_FAILED = "signer.delivery_failed"
    CORRECTED = "signer.corrected"
    EXTENDED = "request.extended"
    OTP_SENT = "signer.otp_sent"
    SIGNED = "signer.signed"
    COMPLETED = "request.completed"
    COMPLETION_NOTIFIED = "request.completion_notified"
    EXPIRED = "request.expired"
    PADES_SIGNED = "signature_request.pades_signed"
    CERTIFICATE_ISSUED = "signature_request.certificate_issued"


class SharedFacts(models.Model):
    """Facts that very many entries state, by their digest: the words of a consent, the key and the authority of a seal.
    There are few such rows, and they stay."""

    sha256 = models.BinaryField(unique=True)
    content = models.JSONField()


class _Entries(models.Manager["Entry"]):
    def get_queryset(self) -> models.QuerySet["Entry"]:
        return super().get_queryset().select_related("shared")


class Entry(models.Model):
    """One event of a request. ``position`` counts from 1 within the request; ``hash`` covers the fields and the hash of
    the entry before; ``event_type`` is an :class:`~paraph.audit_trail.models.EventType`.

    ``format`` says what the hash covers: in 1 the fields, none of which is a personal value; in 2 commitments, made
    with ``salts``, in the place of personal values (:mod:`paraph.audit_trail.journal`). ``metadata`` lacks what is
    ``shared``; :attr:`stated` has all of it.
    """

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="journal", db_index=False)
    position = models.IntegerField()
    event_type = models.CharField(max_length=50)
    signer = models.ForeignKey(Signer, models.PROTECT, null=True, related_name="+", db_index=False)
    ip = models.CharField(max_length=45, blank=True)
    user_agent = models.CharField(max_length=500, blank=True)
    metadata = models.JSONField(default=dict)
    shared = models.ForeignKey(SharedFacts, models.PROTECT, null=True, related_name="+", db_index=False)
    created_at = models.DateTimeField(default=clock.now)
    hash = models.BinaryField()
    format = models.SmallIntegerField(default=1, db_default=1)
    salts: "models.JSONField[Any, Any]" = models.JSONField(null=True)

    objects = _Entries()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "position"], name="journal_position")]
        indexes = [models.Index(fields=["signer"], condition=models.Q(signer__isnull=False), name="journal_signer")]
        ordering: ClassVar = ["position"]

    @property
    def stated(self) -> dict[str, Any]:
        return {**self.metadata, **(self.shared.content if self.shared else {})}
