"""Uploaded documents (specification 2.1)."""

from django.db import models

from paraph.kernel import clock
from paraph.organizations.models import Environment, Organization


class DocumentStatus(models.TextChoices):
    PENDING = "pending"
    READY = "ready"


class Document(models.Model):
    """``name`` is the file name given at upload; ``pages`` holds what the reader sees of each page,
    ``[[width, height], …]`` in points, after crop box, rotation and UserUnit.

    ``method`` is what had to be done to the file before it can be sealed
    (:data:`paraph.pdf.structure.extendable_variants.Method`), empty
    where that was not looked at. What came of it, unless that is the upload itself, is kept beside the upload:
    ``prepared_sha256`` and ``prepared_size``."""

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+")
    environment = models.CharField(max_length=10, choices=Environment)
    name = models.CharField(max_length=255)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    pages = models.JSONField()
    preflight = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.PENDING)
    object_key = models.CharField(max_length=200, unique=True)
    method = models.CharField(max_length=12, default="", db_default="")
    prepared_sha256 = models.BinaryField(null=True)
    prepared_size = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "environment", "created_at", "id"]),
            models.Index(
                fields=["organization", "environment", "status", "created_at", "id"], name="document_by_status"
            ),
        ]

    @property
    def shown_key(self) -> str:
        """The object that signers see, in which tags are searched, and which is sealed."""
        return prepared_key(self.object_key) if self.prepared_sha256 is not None else self.object_key

    @property
    def shown_sha256(self) -> bytes:
        """Its SHA-256."""
        return bytes(self.sha256 if self.prepared_sha256 is None else self.prepared_sha256)


def prepared_key(object_key: str) -> str:
    """Where the file is kept that stands in for the upload of that key."""
    return f"prepared/{object_key.removeprefix('documents/')}"


class UnshownPage(models.Model):
    """A page whose picture failed by fault of the file (``documents/unshown_pages.py``)."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    page_number = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "page_number"], name="unshown_page_once")]
