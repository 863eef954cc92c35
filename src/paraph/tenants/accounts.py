"""Making accounts, setting their first password, logging them out everywhere; when members last visited, and which
mails about their requests they want."""

from base64 import b64decode, b64encode
from collections.abc import Collection
from datetime import timedelta

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, validate_email
from django.db import transaction
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.tenants.admin_log import Action, Actor, note
from paraph.tenants.models import MailKind, Member, MutedMail, User

_LONGEST_EMAIL, _LONGEST_NAME = 254, 200
_PRECISION = timedelta(minutes=5)


def account(email: str, name: str = "") -> User:
    """Return the account of the address; make one without a password if there is none. The address counts as
    confirmed: the caller vouches for it, or its owner has followed a link. Raise ``DomainError``."""
    email = checked_address(email)
    user, is_new = User.objects.get_or_create(email=email, defaults={"name": name.strip()[:_LONGEST_NAME]})
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    EmailAddress.objects.update_or_create(
        user=user, email=email, defaults={"verified": True}, create_defaults={"verified": True, "primary": is_new}
    )
    return user


def checked_address(email: str) -> str:
    """Return the address as accounts have it, in lower case. Raise ``DomainError("validation_error", …)``."""
    email = email.strip().lower()
    try:
        validate_email(email)
        MaxLengthValidator(_LONGEST_EMAIL)(email)
    except ValidationError as problem:
        raise DomainError("validation_error", _("This is not a valid e-mail address.")) from problem
    return email


def set_first_password(user: User, password: str) -> None:
    """Set the password of an account that has none. Raise ``DomainError("validation_error", …)``, also for an account
    that has a password, which only its owner may change."""
    if user.has_usable_password():
        sentence = _("%(email)s already has an account with a password.")
        raise DomainError("validation_error", sentence % {"email": user.email})
    try:
        validate_password(password, user)
    except ValidationError as problem:
        raise DomainError("validation_error", " ".join(problem.messages)) from problem
    user.set_password(password)
    user.save(update_fields=["password"])


def end_sessions(user: User) -> None:
    """Log the account out everywhere."""
    for session in UserSession.objects.filter(user_id=user.pk):
        session.end()


@transaction.atomic
def note_account_change(user: User, actor: Actor, action: Action) -> None:
    """Note the change in the log of each of the user's organizations; always in the same order, so that two changes at
    once cannot deadlock."""
    for organization_id in user.memberships.order_by("organization_id").values_list("organization_id", flat=True):
        note(organization_id, actor, action, user.email)


def password_link(user: User) -> str:
    """Return a link with which the owner of an account can set its password, once and within
    ``PASSWORD_RESET_TIMEOUT``: the same kind of link as in the mail for a forgotten password."""
    address = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return f"{settings.PARAPH.public_url}{reverse('account_reset_password_from_key', kwargs=address)}"


def seen(member: Member) -> None:
    """Note the time and the language of the member's visit, at most every five minutes, so that not every page view
    writes to the database."""
    now = clock.now()
    if member.last_seen_at is None or member.last_seen_at <= now - _PRECISION:
        Member.objects.filter(pk=member.pk).update(last_seen_at=now, last_language=(get_language() or "")[:5])
        member.last_seen_at = now


def wanted_mails(user: User) -> list[str]:
    """Return the kinds of mails that the user has not turned off."""
    muted = set(user.muted_mails.values_list("kind", flat=True))
    return [kind.value for kind in MailKind if kind not in muted]


def wants(user: User, kind: str) -> bool:
    return not MutedMail.objects.filter(user=user, kind=kind).exists()


@transaction.atomic
def mute_all_but(user: User, wanted: Collection[str]) -> None:
    """Turn the ``wanted`` kinds of mails on, and all others off."""
    user.muted_mails.filter(kind__in=wanted).delete()
    unwanted = [MutedMail(user=user, kind=kind) for kind in MailKind if kind not in wanted]
    MutedMail.objects.bulk_create(unwanted, ignore_conflicts=True)


_SECOND_FACTORS = "second factors"


def with_second_factor(user_ids: Collection[int]) -> set[int]:
    """Return the ids of those accounts that have an authenticator app, a security key or a passkey."""
    kinds = [Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN]
    return set(Authenticator.objects.filter(user_id__in=user_ids, type__in=kinds).values_list("user_id", flat=True))


def encrypt_factor(text: str) -> str:
    return b64encode(settings.SECRETS.encrypt(_SECOND_FACTORS, text.encode())).decode()


def decrypt_factor(text: str) -> str:
    """Return the text that :func:`encrypt_factor` encrypted. Raise ``ValueError`` if no secret opens it."""
    plain: bytes = settings.SECRETS.decrypt(_SECOND_FACTORS, b64decode(text))
    return plain.decode()


def renew_factor(text: str) -> str | None:
    """Return the text encrypted with the secret in use, None where it is so already. Raise ``ValueError`` where no
    secret opens it."""
    sealed = settings.SECRETS.renewed(_SECOND_FACTORS, b64decode(text))
    return None if sealed is None else b64encode(sealed).decode()
