"""A document as the API shows it (rule 2.1)."""

from typing import Any, Literal, Self

from pydantic import Field

from paraph.api.v1.documents.preflight import Preflight
from paraph.api.v1.shapes import Digest, Id, Output, Pagination, Timestamp, Url
from paraph.documents import models
from paraph.kernel.clock import iso


class Document(Output):
    """An uploaded PDF."""

    id: Id = Field(description="Identifies the document in its environment.")
    content_type: Literal["pdf"] = Field(description="Always `pdf`.")
    sha256_hash: Digest = Field(description="SHA-256 of the uploaded file in hexadecimal, computed by the service.")
    file_size: int = Field(description="Bytes.", ge=1, json_schema_extra={"format": "int64"})
    status: Literal["pending", "ready"] = Field(description="`ready` once the file can be used and downloaded.")
    created_at: Timestamp = Field(description="When it was uploaded.")

    @classmethod
    def of(cls, row: models.Document, **more: Any) -> Self:
        return cls.build(
            id=row.pk,
            content_type="pdf",
            sha256_hash=bytes(row.sha256).hex(),
            file_size=row.file_size,
            status=row.status,
            created_at=iso(row.created_at),
            **more,
        )


class UploadedDocument(Document):
    """A document as its upload answers it."""

    preflight: Preflight | None = Field(
        description="What the file holds: pages, encryption, signatures, forms, scripts. Null until the file has been "
        "read."
    )


class DocumentWithDownload(UploadedDocument):
    """A document read by its id."""

    download_url: Url | None = Field(
        description="Presigned address of the uploaded file, valid for 15 minutes; null while it is `pending`, and "
        "once the file is deleted by the organization's retention."
    )


class Documents(Output):
    """A page of documents."""

    data: list[Document] = Field(max_length=100, description="The entries of the page; empty beyond the last.")
    pagination: Pagination
