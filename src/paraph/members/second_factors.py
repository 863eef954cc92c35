"""Who has a second factor."""

from collections.abc import Collection

from allauth.mfa.models import Authenticator


def with_second_factor(user_ids: Collection[int]) -> set[int]:
    """Returns those of the accounts that have an authenticator app, a security key or a passkey."""
    kinds = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return set(Authenticator.objects.filter(user_id__in=user_ids, type__in=kinds).values_list("user_id", flat=True))
