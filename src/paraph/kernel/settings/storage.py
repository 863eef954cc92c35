"""Settings of the object store: where it is, how its objects are encrypted, how callers reach it."""

from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator

from paraph.kernel.settings.formats import CommaSeparated

_SHORTEST = 32
SERVED_BY_US = "none"


class StorageSettings(BaseModel):
    """Where uploads, sealed files and proofs are kept."""

    storage_url: str = Field(
        "", description="Object store (s3://, gs://, az://); default: a folder in the data folder."
    )
    storage_public_url: str = Field(
        "",
        description="Endpoint of the bucket as callers reach it, for the addresses of downloads; none: the service "
        "hands the files out itself.",
    )
    storage_key: str = Field("", description="Key that stored files are encrypted with; default: they are not.")
    storage_key_previous: CommaSeparated = Field(
        [], description="Further keys that stored files are opened with, separated by commas."
    )

    @field_validator("storage_public_url")
    @classmethod
    def _check_public_url(cls, value: str) -> str:
        parts = urlsplit(value)
        if value not in ("", SERVED_BY_US) and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("must be an http or https address, or none")
        return value.rstrip("/")

    @field_validator("storage_key", "storage_key_previous")
    @classmethod
    def _check_keys(cls, value: str | list[str]) -> str | list[str]:
        for key in [value] if isinstance(value, str) else value:
            if key and len(key) < _SHORTEST:
                raise ValueError(f"must have at least {_SHORTEST} characters")
        return value
