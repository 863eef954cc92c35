"""Who has a second factor, and how its secrets are encrypted."""

from base64 import b64decode, b64encode
from collections.abc import Collection

from allauth.mfa.models import Authenticator
from django.conf import settings

_PURPOSE = "second factors"


def with_second_factor(user_ids: Collection[int]) -> set[int]:
    """Return those of the accounts that have an authenticator app, a security key or a passkey."""
    kinds = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return set(Authenticator.objects.filter(user_id__in=user_ids, type__in=kinds).values_list("user_id", flat=True))


def encrypted(text: str) -> str:
    return b64encode(settings.SECRETS.encrypt(_PURPOSE, text.encode())).decode()


def decrypted(text: str) -> str:
    """Return the text that was :func:`encrypted`. Raise ``ValueError`` where no secret opens it."""
    plain: bytes = settings.SECRETS.decrypt(_PURPOSE, b64decode(text))
    return plain.decode()


def renewed(text: str) -> str | None:
    """Return the text encrypted with the secret in use, None where it is so already. Raises as :func:`decrypted`."""
    sealed = settings.SECRETS.renewed(_PURPOSE, b64decode(text))
    return None if sealed is None else b64encode(sealed).decode()
