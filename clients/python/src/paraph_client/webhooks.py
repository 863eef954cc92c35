"""Checking that a webhook comes from the service."""

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
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        raise InvalidSignatureError("the webhook's signature does not match its body and your secret")
    payload: dict[str, Any] = json.loads(body)
    return payload
