"""Settings of mails and SMS: their gateways, their recipients and how many are sent."""

from typing import Literal

from pydantic import BaseModel, Field

from paraph.kernel.ceilings import PerHourAndDay
from paraph.kernel.settings.formats import Ceilings, JsonStrings


class MessageSettings(BaseModel):
    """How messages are sent, to whom, and at most how many."""

    smtp_url: str = Field("", description="Mail gateway; default: the captured inbox.")
    mail_provider: str = Field("", description="Mail provider instead of SMTP, by its name in django-anymail.")
    mail_provider_settings: JsonStrings = Field(
        {}, description="The provider's settings in django-anymail, as a JSON object."
    )
    sms_url: str = Field("", description="SMS gateway (twilio://, apprise+…); default: the captured inbox.")
    mail: Literal["captured"] | None = Field(
        None,
        description="captured: a service with a public address keeps messages of production where no gateway is "
        "configured; "
        "default: it refuses them.",
    )
    mail_from: str = Field("Paraph <no-reply@localhost>", description="Sender of mails.")
    registration: Literal["closed", "invited", "open"] = Field(
        "closed", description="Whether strangers may get an organization of their own, and with it a sandbox key."
    )
    sandbox_mail: Literal["everyone", "confirmed"] | None = Field(
        None,
        description="Whom messages of the sandbox go to; default: confirmed where registration is open, else everyone.",
    )
    messages_per_destination: Ceilings = Field(
        PerHourAndDay(10, 30),
        description="Most messages to one address or number: of one organization in production, of all in the sandbox.",
    )
    messages_per_destination_in_all: Ceilings = Field(
        PerHourAndDay(50, 150),
        description="Most messages to one address or number in production, of all organizations together.",
    )
    messages_free_sandbox: Ceilings = Field(
        PerHourAndDay(60, 200), description="Most messages of an organization on the plan Free, in sandbox."
    )
    messages_sandbox: Ceilings = Field(
        PerHourAndDay(2_000, 10_000), description="Most messages of an organization on another plan, in sandbox."
    )
    messages_pro: Ceilings = Field(
        PerHourAndDay(5_000, 30_000), description="Most messages of an organization on the plan Pro, in production."
    )
    messages_enterprise: Ceilings = Field(
        PerHourAndDay(30_000, 300_000),
        description="Most messages of an organization on the plan Enterprise, in production.",
    )
    sms_per_country_and_day: int = Field(
        1_000,
        ge=0,
        description="Most SMS to numbers of one country in a day and environment, whoever sends them; 0: no limit.",
    )
    sms_per_organization_and_day: int = Field(
        1_000, ge=0, description="Most SMS of one organization in a day and environment; 0: no limit."
    )

    @property
    def sandbox_mails_everyone(self) -> bool:
        """Whether sandbox messages may go to any recipient. The default is yes, unless strangers can register and so
        send messages through the sandbox."""
        if self.sandbox_mail is not None:
            return self.sandbox_mail == "everyone"
        return self.registration != "open"
