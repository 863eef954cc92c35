"""Settings of seals: their keys, their level and their timestamps."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field

from paraph.kernel.settings.formats import CommaSeparated

BUILT_IN_TIMESTAMPS = "built-in"


class SealingSettings(BaseModel):
    """Which keys seal, and which authorities give timestamps."""

    sealing_key: str = Field(
        "",
        description="Key of the seals of production: a PEM or PKCS#12 file, pkcs11:…, awskms:…; "
        "default: development keys.",
    )
    sealing_certificate: Path | None = Field(
        None, description="PEM file of the seal's certificate and those above it; not needed with PKCS#12."
    )
    sealing_passphrase: str = Field("", description="Passphrase of the sealing key's file, or PIN of its token.")
    sandbox_sealing_key: str = Field(
        "",
        description="Key of the seals of sandbox files, in the same forms; default: a development key of its own, "
        "whatever seals in production.",
    )
    sandbox_sealing_certificate: Path | None = Field(
        None, description="PEM file of the certificate of sandbox seals and those above it."
    )
    sandbox_sealing_passphrase: str = Field(
        "", description="Passphrase of the sandbox sealing key's file, or PIN of its token."
    )
    development_key: Literal["p-256", "rsa-3072"] = Field(
        "p-256", description="Kind of the development keys that the first start makes: p-256 or rsa-3072."
    )
    seal_level: Literal["B-B", "B-T", "B-LT", "B-LTA"] = Field(
        "B-LTA", description="PAdES level of seals; where it cannot be had, the best below it."
    )
    timestamp_authorities: CommaSeparated = Field(
        [BUILT_IN_TIMESTAMPS], description="RFC 3161 authorities, tried in order, separated by commas."
    )
    timestamp_roots: Path | None = Field(None, description="PEM file of the roots that timestamp authorities chain to.")
    serve_authority: bool = Field(
        False, description="Whether the built-in timestamp authority answers over HTTP, at /authority/."
    )
