"""Uploaded documents (specification 2.1)."""

from django.db import models

from paraph.kernel import clock
from paraph.organizations.models import Environment, Organization


class DocumentStatus(models.TextChoices):
    PENDING = "pending"
    READY = "ready"


class Document(models.Model):
    """``name`` is the file name given at upload; ``pages`` holds what the reader sees of each page,
    ``[[width, height], …]`` in points, after crop box, rotation and UserUnit."""

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    name = models.CharField(max_length=255)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    pages = models.JSONField()
    preflight = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.PENDING)
    object_key = models.CharField(max_length=200, unique=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "environment", "created_at", "id"]),
            models.Index(
                fields=["organization", "environment", "status", "created_at", "id"], name="document_by_status"
            ),
        ]


class UnshownPage(models.Model):
    """A page whose picture failed by fault of the file (``documents/unshown_pages.py``)."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    page_number = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "page_number"], name="unshown_page_once")]
