"""Uploaded documents (rule 2.1)."""

from typing import Any

from django.db import models

from paraph.kernel import clock
from paraph.pdf.untrusted.passive import PASSIVE, page_facts
from paraph.tenants.models import Environment, Organization

ORDINARY = PASSIVE | {"rotated_pages": 0, "drawn_differently": [], "altered_after_seal": [], "method": "incremental"}
"""What the preflight report says of nearly every file."""


class DocumentStatus(models.TextChoices):
    PENDING = "pending"
    READY = "ready"


class Document(models.Model):
    """An uploaded PDF. ``pages`` holds the size of each page as a reader sees it, ``[[width, height], …]`` in points,
    after crop box, rotation and UserUnit. ``preflight`` is the part of the report that is neither :data:`ORDINARY` nor
    follows from ``pages``; empty without a report.

    ``method`` says what has to be done to the file before it can be sealed
    (:data:`paraph.pdf.structure.normalise.Method`), "" for documents of earlier versions. Where the upload cannot be
    sealed as it is, a prepared file is stored beside it (``prepared_sha256``, ``prepared_size``). ``clean_contents``:
    whether what is drawn after the contents of a page of that file shows, whatever the page
    (:class:`paraph.pdf.structure.graphics_state.PageEndings`), and nothing refers to an object beyond its last. From
    ``file_deleted_at`` on both files are gone, and no request can begin with them.
    """

    organization = models.ForeignKey(Organization, models.PROTECT, related_name="+", db_index=False)
    environment = models.CharField(max_length=10, choices=Environment)
    name = models.CharField(max_length=255)
    sha256 = models.BinaryField()
    file_size = models.BigIntegerField()
    pages = models.JSONField()
    preflight = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=DocumentStatus, default=DocumentStatus.PENDING)
    object_key = models.CharField(max_length=200)
    method = models.CharField(max_length=12, default="", db_default="")
    clean_contents = models.BooleanField(default=False, db_default=False)
    prepared_sha256 = models.BinaryField(null=True)
    prepared_size = models.BigIntegerField(null=True)
    file_deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["object_key"], name="document_object_key")]
        indexes = [models.Index(fields=["organization", "environment", "created_at", "id"])]

    @property
    def shown_key(self) -> str:
        """The key of the file that signers see, that tags are searched in, and that is sealed."""
        return prepared_key(self.object_key) if self.prepared_sha256 is not None else self.object_key

    @property
    def shown_sha256(self) -> bytes:
        """The SHA-256 of the file under :attr:`shown_key`."""
        return bytes(self.sha256 if self.prepared_sha256 is None else self.prepared_sha256)

    def facts(self) -> dict[str, object]:
        """Return what the activity log keeps of a document: not its name, which may be a person's, as the log forgets
        nothing."""
        sha256 = bytes(self.sha256).hex()
        return {"environment": self.environment, "file_size": self.file_size, "sha256_hash": sha256}

    def keep_report(self, report: dict[str, Any]) -> None:
        """Set ``preflight`` to the part of the report that does not follow from ``pages``, which must be set before."""
        known = ORDINARY | page_facts(self.pages)
        self.preflight = {name: fact for name, fact in report.items() if (name, fact) not in known.items()}

    def report(self) -> dict[str, Any] | None:
        """Return the whole preflight report; None where there is none."""
        return ORDINARY | page_facts(self.pages) | self.preflight if self.preflight else None

    def remarks(self) -> dict[str, Any]:
        """Return the parts of the preflight report that say that the document can look different than on the signer's
        page: ``prints_differently``, ``can_change`` and, where there are any, ``print_unknown``, ``drawn_differently``
        and ``altered_after_seal``; empty where none does."""
        always = ("prints_differently", "can_change")
        names = (*always, "print_unknown", "drawn_differently", "altered_after_seal")
        found = {name: self.preflight[name] for name in names if self.preflight.get(name)}
        return {name: [] for name in always} | found if found else {}

    def preparation_facts(self) -> dict[str, Any]:
        """Return the digests of upload and prepared file, and the prepared file's size; empty for a document that is
        sealed as uploaded. Signers see the prepared file, which is a prefix of the sealed one."""
        if self.prepared_sha256 is None:
            return {}
        return {
            "uploaded_pdf_sha256": bytes(self.sha256).hex(),
            "prepared_pdf_sha256": self.shown_sha256.hex(),
            "prepared_pdf_size": self.prepared_size,
        }


def prepared_key(object_key: str) -> str:
    """Return the key of the prepared file of the upload with this key."""
    return f"prepared/{object_key.removeprefix('documents/')}"


class UnrenderablePage(models.Model):
    """A page of which no picture can be drawn, by a fault of the file: its document cannot be signed meanwhile."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="+")
    page_number = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["document", "page_number"], name="unshown_page_once")]


class ObjectToDelete(models.Model):
    """An object of the store that no row names any more (:mod:`paraph.documents.objects_to_delete`)."""

    object_key = models.CharField(max_length=200, primary_key=True)
    since = models.DateTimeField(default=clock.now)

    class Meta:
        indexes = [models.Index(fields=["since"], name="object_to_delete_since")]
