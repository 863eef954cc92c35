"""Single sign-on with an OpenID Connect provider: who may log in with it. Needs the extra ``paraph[sso]``."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialApp, SocialLogin
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from paraph.kernel.places import machine_of_others
from paraph.tenants.models import User


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """allauth's ``SOCIALACCOUNT_ADAPTER``."""

    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        """Let in people whose address the provider vouches for, in one of the domains that the operator named."""
        domains = [domain.lower() for domain in settings.PARAPH.sso_domains]
        for address in sociallogin.email_addresses:
            if address.verified and (not domains or address.email.lower().rpartition("@")[2] in domains):
                return
        sentence = _("The single sign-on has not confirmed your address, or its domain may not log in here.")
        page = render(request, "socialaccount/authentication_error.html", {"sentence": sentence}, status=403)
        raise ImmediateHttpResponse(page)

    def get_requests_session(self) -> Any:
        """Return the session that sends requests to the provider, each inside :func:`machine_of_others`."""
        session = super().get_requests_session()
        ask = session.request

        def asked(*arguments: Any, **options: Any) -> Any:
            with machine_of_others("single sign-on"):
                return ask(*arguments, **options)

        session.request = asked
        return session

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:  # noqa: ARG002  allauth's form
        """Return True: everybody whom the operator's provider lets in gets an account, without an organization until
        they are invited."""
        return True

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> User:
        user: User = super().populate_user(request, sociallogin, data)
        user.name = str(data.get("name") or "")[:200]
        return user


class PublicAddressAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:  # noqa: ARG002  allauth's form
        """Return the address that the provider sends people back to: below the public address of the service, whatever
        Host header the request has."""
        path = reverse("openid_connect_callback", kwargs={"provider_id": self.provider_id})
        return f"{settings.PARAPH.public_url}{path}"


class StrictProvider(OpenIDConnectProvider):  # type: ignore[misc]
    """allauth's provider, stricter about what it is told. Its views are those of ``urls.py`` beside this file."""

    oauth2_adapter_class = PublicAddressAdapter

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        """Return the address, verified if the provider says ``true``. Some send a string, and any other string than
        "true" counts as no."""
        addresses: list[EmailAddress] = super().extract_email_addresses(data)
        for address in addresses:
            address.verified = address.verified is True or address.verified == "true"
        return addresses
