"""Typed client of the Paraph electronic-signature API, sync and async."""

from paraph_client.asynchronous import AsyncClient
from paraph_client.errors import InvalidSignatureError, ParaphError
from paraph_client.inputs import DocumentInput, Placement, SignerInput, Stamp, at, under_tag
from paraph_client.models import (
    AuditLogEntry,
    BrandingProfile,
    Delivery,
    Document,
    DownloadUrls,
    Health,
    Page,
    Pagination,
    SignatureRequest,
    Signer,
)
from paraph_client.preflight import Preflight
from paraph_client.synchronous import Client
from paraph_client.webhooks import verify_webhook

__all__ = [
    "AsyncClient",
    "AuditLogEntry",
    "BrandingProfile",
    "Client",
    "Delivery",
    "Document",
    "DocumentInput",
    "DownloadUrls",
    "Health",
    "InvalidSignatureError",
    "Page",
    "Pagination",
    "ParaphError",
    "Placement",
    "Preflight",
    "SignatureRequest",
    "Signer",
    "SignerInput",
    "Stamp",
    "at",
    "under_tag",
    "verify_webhook",
]
