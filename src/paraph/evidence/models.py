"""Sealed documents and proof files: one each, whatever happens to the workers that make them."""

from django.db import models

from paraph.kernel import clock
from paraph.signature_requests.models import RequestDocument, SignatureRequest


class SealedDocument(models.Model):
    """``seal``: :func:`paraph.evidence.facts.exact_facts`."""

    request_document = models.OneToOneField(RequestDocument, models.PROTECT, related_name="sealed")
    object_key = models.CharField(max_length=200, unique=True)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    seal = models.JSONField()
    created_at = models.DateTimeField(default=clock.now)


class ProofFile(models.Model):
    """The sealed proof of a request, unique per request (specification 2.2)."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="proof")
    object_key = models.CharField(max_length=200, unique=True)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    seal = models.JSONField()
    created_at = models.DateTimeField(default=clock.now)


class SealingFailure(models.Model):
    """Why a request is not finalized yet: the latest cause, gone once it is. What operators look at and retry."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="sealing_failure")
    stage = models.CharField(max_length=10)
    cause = models.TextField()
    attempts = models.IntegerField(default=1)
    failed_at = models.DateTimeField(default=clock.now)
