"""Accounts of people: made, given their first password, logged out everywhere."""

from allauth.account.models import EmailAddress
from allauth.usersessions.models import UserSession
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext as _

from paraph.kernel.errors import DomainError
from paraph.tenants.models import User

_LONGEST_EMAIL, _LONGEST_NAME = 254, 200


def account(email: str, name: str = "") -> User:
    """Returns the account of the address, a new one without a password where there is none. The address counts as
    confirmed: whoever calls this vouches for it, or has seen its owner follow a link. Raises ``DomainError``."""
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
    """Returns the address as accounts have it, in lower case. Raises ``DomainError("validation_error", …)``."""
    email = email.strip().lower()
    try:
        validate_email(email)
    except ValidationError as problem:
        raise DomainError("validation_error", _("This is no e-mail address.")) from problem
    if len(email) > _LONGEST_EMAIL:
        raise DomainError("validation_error", _("This is no e-mail address."))
    return email


def set_first_password(user: User, password: str) -> None:
    """Sets the password of an account that has none. Raises ``DomainError("validation_error", …)``, also for an account
    that has one: it belongs to its owner."""
    if user.has_usable_password():
        raise DomainError(
            "validation_error", _("%(email)s has an account with a password already.") % {"email": user.email}
        )
    try:
        validate_password(password, user)
    except ValidationError as problem:
        raise DomainError("validation_error", " ".join(problem.messages)) from problem
    user.set_password(password)
    user.save(update_fields=["password"])


def end_sessions(user: User) -> None:
    """Logs the account out everywhere."""
    for session in UserSession.objects.filter(user_id=user.pk):
        session.end()
