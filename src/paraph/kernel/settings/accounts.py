"""Settings of people's accounts: single sign-on with a provider of the operator's, and what owners may do."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, field_validator, model_validator

from paraph.kernel.settings.formats import CommaSeparated


class AccountSettings(BaseModel):
    """How people log in besides by password and passkey, and what the operator leaves to owners."""

    sso_issuer: str = Field("", description="OpenID Connect provider that people may log in with; needs paraph[sso].")
    sso_client_id: str = Field("", description="Id by which the provider knows this service.")
    sso_client_secret: str = Field("", description="Secret that goes with it.")
    sso_name: str = Field("Single sign-on", description="Words of the button on the log-in page.")
    sso_domains: CommaSeparated = Field(
        [], description="Domains of the addresses that may log in by it, separated by commas; default: all."
    )

    owners_set_retention: bool = Field(
        True, description="Whether owners say in the dashboard how long files are kept; else the operator alone does."
    )

    @field_validator("sso_issuer")
    @classmethod
    def _check_issuer(cls, value: str) -> str:
        if not value:
            return value
        if urlsplit(value).scheme not in ("https", "http") or not urlsplit(value).hostname:
            raise ValueError("must be the address of an OpenID Connect provider, such as https://id.example.com")
        if not (find_spec("jwt") and find_spec("requests") and find_spec("oauthlib")):
            raise ValueError("single sign-on needs the extra: pip install 'paraph[sso]'")
        return value.rstrip("/")

    @model_validator(mode="after")
    def _check_client(self) -> "AccountSettings":
        if self.sso_issuer and not (self.sso_client_id and self.sso_client_secret):
            raise ValueError("PARAPH_SSO_ISSUER wants PARAPH_SSO_CLIENT_ID and PARAPH_SSO_CLIENT_SECRET beside it")
        return self
