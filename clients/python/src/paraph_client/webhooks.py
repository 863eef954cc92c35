"""Webhooks: checking that one comes from the service, and signing one as the service does."""

import hashlib
import hmac
import json
from typing import Any

from paraph_client.errors import InvalidSignatureError


def verify_webhook(body: bytes, signature: str, secret: str) -> dict[str, Any]:
    """The payload of a genuine delivery.

    ``body`` is the raw body, before JSON parsing; ``signature`` the header ``X-Service-Signature``
    (``sha256=<hex>``); ``secret`` the application's ``webhook_secret``. Compares in constant time.
    Raises :class:`InvalidSignatureError` when they do not belong together.
    """
    if not hmac.compare_digest(signature_of(body, secret).encode(), signature.encode()):
        raise InvalidSignatureError("the webhook's signature does not match its body and your secret")
    payload: dict[str, Any] = json.loads(body)
    return payload


def signature_of(body: bytes, secret: str) -> str:
    """The header ``X-Service-Signature`` of a delivery with this raw body."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
