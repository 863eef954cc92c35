"""Sealed documents and proof files: one each, whatever happens to the workers that make them."""

from django.db import models

from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument, SignatureRequest


class SealedDocument(models.Model):
    """``seal``: :func:`paraph.evidence.facts.exact_facts`. ``timestamp_due_at``: when a timestamp is to be kept beside
    the file, because it has none or its newest ages; null for never. ``timestamp_attempts``: how often that failed in
    a row."""

    request_document = models.OneToOneField(RequestDocument, models.PROTECT, related_name="sealed")
    object_key = models.CharField(max_length=200, unique=True)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    seal = models.JSONField()
    created_at = models.DateTimeField(default=clock.now)
    timestamp_due_at = models.DateTimeField(null=True, db_index=True)
    timestamp_attempts = models.IntegerField(default=0, db_default=0)


class ProofFile(models.Model):
    """The sealed proof of a request, unique per request (specification 2.2)."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="proof")
    object_key = models.CharField(max_length=200, unique=True)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    seal = models.JSONField()
    created_at = models.DateTimeField(default=clock.now)
    timestamp_due_at = models.DateTimeField(null=True, db_index=True)
    timestamp_attempts = models.IntegerField(default=0, db_default=0)


class SealingFailure(models.Model):
    """Why a request is not finalized yet: the latest cause, gone once it is. What operators look at and retry.

    ``cause`` is for operators, and may name paths and hosts. ``kind``: what clients are told instead
    (:func:`paraph.evidence.failures.told`)."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="sealing_failure")
    stage = models.CharField(max_length=10)
    kind = models.CharField(max_length=12, default="", db_default="")
    cause = models.TextField()
    attempts = models.IntegerField(default=1)
    failed_at = models.DateTimeField(default=clock.now)


class KeptTimestamp(models.Model):
    """An RFC 3161 token over a sealed document or proof that never changes, kept beside it: one that came late, or one
    that renews those before it. ``statuses``: of the certificates of seal and authority at that time, each DER in
    base64 (``certificates``, ``crls``, ``ocsps``)."""

    object_key = models.CharField(max_length=200)
    position = models.IntegerField()
    token = models.BinaryField()
    statuses = models.JSONField()
    stamped_at = models.DateTimeField()
    authority = models.TextField()
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=["object_key", "position"], name="one_timestamp_per_position"),)


class CertificateStatus(models.Model):
    """What was last heard of a certificate that seals or timestamps rest on. ``content`` is a revocation list
    (``kind`` "crl") or a status answer ("ocsp"), DER; empty until one came. It is asked for again at ``due_at``, as
    long as somebody asks for it."""

    certificate_sha256 = models.BinaryField(unique=True)
    certificate = models.BinaryField()
    issuer = models.BinaryField()
    kind = models.CharField(max_length=4, default="")
    content = models.BinaryField(default=bytes)
    holds_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(default=clock.now, db_index=True)
    asked_at = models.DateTimeField(default=clock.now)
    last_error = models.TextField(default="")
