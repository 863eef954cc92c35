"""Typed client of the Paraph electronic-signature API, sync and async."""

from paraph_client.answers import (
    AuditLogEntry,
    BrandingProfile,
    Delivery,
    Document,
    DownloadUrls,
    Draft,
    Event,
    Health,
    Preview,
    Problem,
    Reminders,
    SignatureRequest,
    Signer,
    StampPlace,
    Tag,
    Template,
)
from paraph_client.asynchronous import AsyncClient
from paraph_client.errors import InvalidSignatureError, ParaphError
from paraph_client.inputs import (
    DocumentInput,
    Placement,
    RolePlacement,
    RoleSigner,
    SignerInput,
    Stamp,
    TemplateDocument,
    TemplateRole,
    at,
    under_tag,
)
from paraph_client.lists import Events, Page, Pagination
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
    "Draft",
    "Event",
    "Events",
    "Health",
    "InvalidSignatureError",
    "Page",
    "Pagination",
    "ParaphError",
    "Placement",
    "Preflight",
    "Preview",
    "Problem",
    "Reminders",
    "RolePlacement",
    "RoleSigner",
    "SignatureRequest",
    "Signer",
    "SignerInput",
    "Stamp",
    "StampPlace",
    "Tag",
    "Template",
    "TemplateDocument",
    "TemplateRole",
    "at",
    "under_tag",
    "verify_webhook",
]
