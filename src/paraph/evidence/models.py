"""Sealed documents, proof files, and the timestamps and certificate statuses that belong to them."""

import base64
from typing import Any

from django.db import models

from paraph.kernel import clock
from paraph.pdf.pki.certificate import makes_qualified_seals
from paraph.signature_requests.models import RequestDocument, SignatureRequest


class SharedContent(models.Model):
    """Content that many seals or timestamps share, kept once, by its digest (:mod:`paraph.evidence.sealed_files`)."""

    sha256 = models.BinaryField(unique=True)
    content = models.JSONField()


class SealedFile(models.Model):
    """What a sealed document and a proof have in common. ``seal`` holds those :attr:`facts` that are the file's own,
    and ``shared`` what many files have alike: the other ``facts``, and the ``certificates``, which are the chains of
    ``seal``, ``timestamp`` and ``archive_timestamp``.

    ``timestamp_due_at`` is when a timestamp beside the file is needed, because it has none or its newest ages; null for
    never. After a failure, that is the time of the next try, and ``timestamp_late_since`` says when it was due.
    """

    object_key = models.CharField(max_length=200)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    seal = models.JSONField()
    shared = models.ForeignKey(SharedContent, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=clock.now)
    timestamp_due_at = models.DateTimeField(null=True, db_index=True)
    timestamp_late_since = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        constraints = (models.UniqueConstraint(fields=["object_key"], name="%(class)s_object_key"),)
        indexes = [
            models.Index(
                "timestamp_late_since", condition=models.Q(timestamp_late_since__isnull=False), name="%(class)s_late"
            )
        ]

    @property
    def facts(self) -> dict[str, Any]:
        """What :func:`paraph.evidence.sealed_files.seal_facts` states, ``sealed_at``, and ``timestamped_at`` as exact
        as the authority stated it."""
        return {"signed_pdf_sha256": bytes(self.sha256).hex(), **self.shared.content["facts"], **self.seal}

    @property
    def is_qualified(self) -> bool:
        """Whether the certificate of the seal states that its seals are qualified electronic seals."""
        chain = self.shared.content["certificates"].get("seal", [])
        return bool(chain) and makes_qualified_seals(base64.b64decode(chain[0]))


class SealedDocument(SealedFile):
    """A sealed document, one per document of a request."""

    request_document = models.OneToOneField(RequestDocument, models.PROTECT, related_name="sealed")


class ProofFile(SealedFile):
    """The sealed proof of a request, one per request (rule 2.2). ``log_index``: the index of its entry in the
    transparency log; null until it has one, and :data:`NEVER_LOGGED` for the sandbox."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="proof")
    log_index = models.BigIntegerField(null=True)

    class Meta(SealedFile.Meta):
        indexes = [
            *SealedFile.Meta.indexes,
            models.Index(fields=["id"], condition=models.Q(log_index__isnull=True), name="prooffile_unlogged"),
        ]


NEVER_LOGGED = -1


class SealingFailure(models.Model):
    """The latest fault that keeps a request from being finalized, until it is. ``cause`` is for operators, and may name
    paths and hosts; ``kind`` decides what clients see instead (:func:`paraph.evidence.failures.public_cause`)."""

    request = models.OneToOneField(SignatureRequest, models.PROTECT, related_name="sealing_failure")
    stage = models.CharField(max_length=10)
    kind = models.CharField(max_length=12, default="", db_default="")
    cause = models.TextField()
    attempts = models.IntegerField(default=1)
    failed_at = models.DateTimeField(default=clock.now)

    @property
    def facts(self) -> dict[str, Any]:
        """The fault as operators see it."""
        moment = clock.iso(self.failed_at)
        return {"stage": self.stage, "cause": self.cause, "attempts": self.attempts, "failed_at": moment}


class KeptTimestamp(models.Model):
    """An RFC 3161 token beside a sealed document or proof: a late token, or one that renews the tokens before it.
    ``shared`` has the statuses of the certificates of seal and authority at that time: ``certificates``, ``crls`` and
    ``ocsps``."""

    object_key = models.CharField(max_length=200)
    position = models.IntegerField()
    token = models.BinaryField()
    shared = models.ForeignKey(SharedContent, models.PROTECT, related_name="+")

    class Meta:
        constraints = (models.UniqueConstraint(fields=["object_key", "position"], name="one_timestamp_per_position"),)


class BundleTimestamp(models.Model):
    """The RFC 3161 token over the manifest of a request's evidence bundle, made once for each content that a bundle has
    had, and the chain of its authority: DER of each certificate in base64."""

    request = models.ForeignKey(SignatureRequest, models.PROTECT, related_name="+", db_index=False)
    manifest_sha256 = models.BinaryField()
    token = models.BinaryField()
    authority = models.JSONField()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["request", "manifest_sha256"], name="one_timestamp_a_manifest"),)


class CertificateStatus(models.Model):
    """The last known status of a certificate that seals or timestamps depend on. ``content`` is a revocation list
    (``kind`` "crl") or an OCSP response ("ocsp"), DER; empty until the first one. It is fetched again at ``due_at``, as
    long as the certificate is in use (``asked_at``)."""

    certificate_sha256 = models.BinaryField(unique=True)
    certificate = models.BinaryField()
    issuer = models.BinaryField()
    kind = models.CharField(max_length=4, default="")
    content = models.BinaryField(default=bytes)
    holds_until = models.DateTimeField(null=True)
    due_at = models.DateTimeField(default=clock.now, db_index=True)
    asked_at = models.DateTimeField(default=clock.now)
    last_error = models.TextField(default="")


class Backup(models.Model):
    """A backup by ``paraph backup``. ``as_of``: what was committed later is not in it. ``problems``: how many objects
    were missing or changed."""

    as_of = models.DateTimeField()
    problems = models.IntegerField()

    class Meta:
        indexes = (models.Index(fields=["as_of"], condition=models.Q(problems=0), name="sound_backup"),)
