"""What django-allauth does here in the service's own way: addresses, mails, who may sign up, second factors, and what
is noted in the activity log when somebody changes how they log in."""

from collections.abc import Mapping
from functools import partial
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account import signals as account
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.forms import SignupForm
from allauth.core import context
from allauth.mfa import signals as second_factors
from allauth.mfa.adapter import DefaultMFAAdapter
from django import forms
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.dispatch import Signal
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language, gettext_lazy

from paraph.account_mail.mail_account import hand_over
from paraph.dashboard.decorators import actor_of
from paraph.server.client_address import client_address
from paraph.tenants import accounts
from paraph.tenants.accounts import note_account_change
from paraph.tenants.admin_log import Action
from paraph.tenants.models import User

_LINKS = ("password_reset_url", "activate_url", "signup_url")


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that the journal would name, behind trusted proxies or not."""
        return client_address(request) or cast(str, super().get_client_ip(request))

    def get_reauthentication_methods(self, user: User | AnonymousUser) -> list[dict[str, str]]:
        """Return how the person can prove again who they are: by the provider where it alone knows them."""
        methods: list[dict[str, str]] = super().get_reauthentication_methods(user)
        if methods or not settings.PARAPH.sso_issuer:
            return methods
        address = reverse("openid_connect_login", kwargs={"provider_id": "sso"})
        return [{"id": "sso", "description": settings.PARAPH.sso_name, "url": address}]

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether strangers may sign up, or this one comes with the address that an invitation went to
        (``stash_verified_email``)."""
        return settings.PARAPH.registration == "open" or bool(invited_address(request))

    def is_safe_url(self, url: str) -> bool:
        """Return whether a page may send the browser on to this address: within the service, whatever Host header the
        request has."""
        return url_has_allowed_host_and_scheme(url, allowed_hosts={urlsplit(settings.PARAPH.public_url).netloc})

    def send_mail(self, template_prefix: str, email: str, context: Mapping[str, Any]) -> None:
        """Hand the mail over to a job, so that the answer takes as long as it does where there is nobody to write to.

        Links begin with the public address of the service, never with the Host header of the request.
        """
        content = {**context, **{name: _public(context[name]) for name in _LINKS if name in context}, "email": email}
        subject = render_to_string(f"{template_prefix}_subject.txt", content)
        text = render_to_string(f"{template_prefix}_message.txt", content)
        # Of several links, the mail to somebody who has an account already is about the first.
        links = _LINKS[:1] if template_prefix.endswith("account_already_exists") else _LINKS
        link = next((content[name] for name in links if name in content), "")
        hand_over(email, get_language() or "en", " ".join(subject.split()), text, link)


def invited_address(request: HttpRequest) -> str:
    """Return the address that came with an invitation in this session, "" without one."""
    return str(request.session.get("account_verified_email") or "")


def _public(url: str) -> str:
    parts = urlsplit(url)
    return f"{settings.PARAPH.public_url}{parts.path}{f'?{parts.query}' if parts.query else ''}"


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's ``MFA_ADAPTER``: secrets of second factors are kept encrypted, the QR code is part of the page."""

    encrypt = staticmethod(accounts.encrypt_factor)
    decrypt = staticmethod(accounts.decrypt_factor)

    def build_totp_svg(self, url: str) -> str:
        """Return the ``svg`` element alone, which can stand in a page: images by ``data:`` are not loaded."""
        document = cast(str, super().build_totp_svg(url))
        return document[document.index("<svg") :]


class SignUpForm(SignupForm):  # type: ignore[misc]
    """The form to sign up, which also asks for a name. The address of an invitation cannot be changed."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=200, widget=forms.TextInput(attrs={"autocomplete": "name"})
    )
    field_order = ["name", "email", "password1"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if invited := invited_address(context.request):
            self.fields["email"].initial = invited
            self.fields["email"].disabled = True  # what a browser sends for it does not count

    def custom_signup(self, request: HttpRequest, user: User) -> None:  # noqa: ARG002  allauth's form
        user.name = self.cleaned_data["name"]
        user.save(update_fields=["name"])


_CHANGES: dict[Action, tuple[Signal, ...]] = {
    Action.PASSWORD_CHANGED: (account.password_changed, account.password_set, account.password_reset),
    Action.ADDRESS_CHANGED: (account.email_changed,),
    Action.SECOND_FACTOR_ADDED: (second_factors.authenticator_added,),
    Action.SECOND_FACTOR_REMOVED: (second_factors.authenticator_removed,),
}


def listen() -> None:
    for action, signals in _CHANGES.items():
        for signal in signals:
            signal.connect(partial(_note, action), weak=False, dispatch_uid=f"{action} {id(signal)}")


def _note(action: Action, *, request: HttpRequest, user: User, **_more: Any) -> None:
    note_account_change(user, actor_of(user, request), action)
