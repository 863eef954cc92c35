"""The secrets that webhooks are signed with (rule 6.1), encrypted in the rows of their applications."""

from datetime import datetime

from django.conf import settings

from paraph.kernel import clock

WEBHOOK_SECRETS = "webhook-secrets"
"""The purpose of the key that they are encrypted with."""


def encrypted_secret(secret: str) -> bytes:
    encrypted: bytes = settings.SECRETS.encrypt(WEBHOOK_SECRETS, secret.encode())
    return encrypted


def webhook_secret(encrypted: bytes) -> str:
    plain: bytes = settings.SECRETS.decrypt(WEBHOOK_SECRETS, bytes(encrypted))
    return plain.decode()


def webhook_secrets(encrypted: bytes, following: bytes | None, following_at: datetime | None) -> list[str]:
    """Return the secrets that a webhook is signed with now, from the columns of an application: one, or during an
    overlap the one that ends and the one that follows."""
    if following is None or following_at is None:
        return [webhook_secret(encrypted)]
    if clock.now() >= following_at:
        return [webhook_secret(following)]
    return [webhook_secret(encrypted), webhook_secret(following)]
