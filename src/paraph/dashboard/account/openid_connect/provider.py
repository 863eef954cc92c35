"""Which provider of django-allauth logs people in: named in ``SOCIALACCOUNT_PROVIDERS``."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialApp
from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse


class PublicAddressAdapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]
    def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:  # noqa: ARG002  allauth's form
        """Return the address that the provider sends people back to: below the public address of the service, whatever
        Host header the request has."""
        path = reverse("openid_connect_callback", kwargs={"provider_id": self.provider_id})
        return f"{settings.PARAPH.public_url}{path}"


class StrictProvider(OpenIDConnectProvider):  # type: ignore[misc]
    oauth2_adapter_class = PublicAddressAdapter

    def extract_email_addresses(self, data: dict[str, Any]) -> list[EmailAddress]:
        """Return the address, verified if the provider says ``true``. Some send a string, and any other string than
        "true" counts as no."""
        addresses: list[EmailAddress] = super().extract_email_addresses(data)
        for address in addresses:
            address.verified = address.verified is True or address.verified == "true"
        return addresses
