"""Where people leave for the provider and come back from it: allauth's views, with the adapter of the service."""

from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.http import HttpRequest
from django.urls import path

from paraph.dashboard.account.single_sign_on import PublicAddressAdapter

_ID = "sso"


def _adapter(request: HttpRequest) -> PublicAddressAdapter:
    return PublicAddressAdapter(request, _ID)


urlpatterns = [
    path(f"oidc/{_ID}/{rest}", view.adapter_view(_adapter), {"provider_id": _ID}, name=f"openid_connect_{name}")
    for name, rest, view in (("login", "login/", OAuth2LoginView), ("callback", "login/callback/", OAuth2CallbackView))
]
