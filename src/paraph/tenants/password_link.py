"""A link by which the owner of an account sets its password, within an hour and once."""

from allauth.account.forms import default_token_generator
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.urls import reverse

from paraph.tenants.models import User


def password_link(user: User) -> str:
    """Returns the link, as a mail for a forgotten password has it (``PASSWORD_RESET_TIMEOUT``)."""
    address = {"uidb36": user_pk_to_url_str(user), "key": default_token_generator.make_token(user)}
    return f"{settings.PARAPH.public_url}{reverse('account_reset_password_from_key', kwargs=address)}"
