"""A new API key and a new webhook secret for an application, while the ones before still hold."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from paraph.kernel import clock, tokens
from paraph.kernel.errors import DomainError
from paraph.tenants.models import ApiKey, Application
from paraph.tenants.registration import encrypted_secret, existing_application, webhook_secret

LONGEST_OVERLAP = timedelta(days=90)


@dataclass(frozen=True)
class Rotated:
    """``api_key`` and ``webhook_secret`` exist here alone: shown once, never stored. ``ends_at``: until when the key
    and the secret before hold."""

    application: Application
    api_key: str
    webhook_secret: str
    ends_at: datetime


def rotate(application_id: int, overlap: timedelta) -> Rotated:
    """Gives the application a new key, which holds at once, and a new secret, which signs its webhooks after the
    ``overlap``. Until then the earlier keys hold as well, and webhooks carry the signatures of both secrets.

    Rotating again ends an overlap that still runs: the key made last and its secret become the earlier ones. Raises
    ``DomainError("not_found" | "validation_error", …)``.
    """
    if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
        raise DomainError("validation_error", f"The overlap must be at most {LONGEST_OVERLAP.days} days.")
    api_key, secret, now = tokens.random_hex(32), tokens.random_hex(32), clock.now()
    with transaction.atomic():
        existing_application(application_id)
        application = Application.objects.select_for_update().get(pk=application_id)
        if application.next_webhook_secret_encrypted is not None:
            application.webhook_secret_encrypted = application.next_webhook_secret_encrypted
        _end_keys(application_id, now, now + overlap)
        ApiKey.objects.create(application=application, sha256=tokens.sha256(api_key.encode()))
        application.next_webhook_secret_encrypted = encrypted_secret(secret)
        application.next_webhook_secret_at = now + overlap
        application.save(
            update_fields=["webhook_secret_encrypted", "next_webhook_secret_encrypted", "next_webhook_secret_at"]
        )
    return Rotated(application, api_key, secret, now + overlap)


def webhook_secrets(encrypted: bytes, following: bytes | None, following_at: datetime | None) -> list[str]:
    """Returns the secrets that a webhook is signed with now, from the columns of an application: one, or during an
    overlap the one that ends and the one that follows."""
    if following is None or following_at is None:
        return [webhook_secret(encrypted)]
    if clock.now() >= following_at:
        return [webhook_secret(following)]
    return [webhook_secret(encrypted), webhook_secret(following)]


def _end_keys(application_id: int, now: datetime, ends_at: datetime) -> None:
    """Ends the keys of an overlap that still runs at once, and the others at ``ends_at``."""
    keys = ApiKey.objects.filter(application_id=application_id)
    keys.filter(revoked_at__gt=now).update(revoked_at=now)
    keys.filter(revoked_at=None).update(revoked_at=ends_at)
