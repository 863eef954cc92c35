"""The settings of the service: ``PARAPH_*`` variables (and ``DATABASE_URL``), read once and checked.

Each field is documented for operators in docs/configuration.md; a test compares the two.
"""

import json
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from paraph.kernel import machine
from paraph.kernel.ceilings import PerHourAndDay
from paraph.kernel.errors import DomainError

BUILT_IN_TIMESTAMPS = "built-in"

_Ceilings = Annotated[PerHourAndDay, NoDecode]


class Environment(BaseSettings):
    """What operators set. The defaults give a whole service on one machine."""

    model_config = SettingsConfigDict(
        env_prefix="PARAPH_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    data_dir: Path = Field(Path("paraph-data"), description="Folder of everything the service keeps.")
    host: str = Field("127.0.0.1", description="Address that the web server listens on.")
    port: int = Field(8000, ge=1, le=65535, description="Port that the web server listens on.")
    base_url: str = Field("", description="Public address of the service, without a path; default: host and port.")
    database_url: str = Field(
        "", validation_alias="DATABASE_URL", description="PostgreSQL to use instead of the embedded one."
    )
    postgres_dir: Path | None = Field(None, description="Folder of the embedded PostgreSQL cluster.")
    secret_key: str = Field(
        "",
        description="Secret that all keys of the service are derived from; default: made at the first start.",
    )
    storage_url: str = Field(
        "", description="Object store (s3://, gs://, az://); default: a folder in the data folder."
    )
    sealing_key: str = Field(
        "",
        description="Key of the seals of production: a PEM or PKCS#12 file, pkcs11:…, awskms:…; "
        "default: development keys.",
    )
    sealing_certificate: Path | None = Field(
        None, description="PEM file of the seal's certificate and those above it; not needed with PKCS#12."
    )
    sealing_passphrase: str = Field("", description="Passphrase of the sealing key's file, or PIN of its token.")
    sandbox_sealing_key: str = Field(
        "",
        description="Key of the seals of sandbox files, in the same forms; default: a development key of its own, "
        "whatever seals in production.",
    )
    sandbox_sealing_certificate: Path | None = Field(
        None, description="PEM file of the certificate of sandbox seals and those above it."
    )
    sandbox_sealing_passphrase: str = Field(
        "", description="Passphrase of the sandbox sealing key's file, or PIN of its token."
    )
    development_key: Literal["p-256", "rsa-3072"] = Field(
        "p-256", description="Kind of the development keys that the first start makes: p-256 or rsa-3072."
    )
    seal_level: Literal["B-B", "B-T", "B-LT", "B-LTA"] = Field(
        "B-LTA", description="PAdES level of seals; where it cannot be had, the best below it."
    )
    timestamp_authorities: Annotated[list[str], NoDecode] = Field(
        [BUILT_IN_TIMESTAMPS], description="RFC 3161 authorities, tried in order, separated by commas."
    )
    timestamp_roots: Path | None = Field(None, description="PEM file of the roots that timestamp authorities chain to.")
    serve_authority: bool = Field(
        False, description="Whether the built-in timestamp authority answers over HTTP, at /authority/."
    )
    smtp_url: str = Field("", description="Mail gateway; default: the captured inbox.")
    mail_provider: str = Field("", description="Mail provider instead of SMTP, by its name in django-anymail.")
    mail_provider_settings: Annotated[dict[str, str], NoDecode] = Field(
        {}, description="The provider's settings in django-anymail, as a JSON object."
    )
    sms_url: str = Field("", description="SMS gateway (twilio://, apprise+…); default: the captured inbox.")
    mail_from: str = Field("Paraph <no-reply@localhost>", description="Sender of mails.")
    registration: Literal["closed", "invited", "open"] = Field(
        "closed", description="Whether strangers may get an organization of their own, and with it a sandbox key."
    )
    sandbox_mail: Literal["everyone", "confirmed"] | None = Field(
        None,
        description="Whom messages of the sandbox go to; default: confirmed where registration is open, else everyone.",
    )
    messages_per_destination: _Ceilings = Field(
        PerHourAndDay(10, 30), description="Most messages to one address or number, whoever sends them."
    )
    messages_free_sandbox: _Ceilings = Field(
        PerHourAndDay(60, 200), description="Most messages of an organization on the plan Free, in sandbox."
    )
    messages_sandbox: _Ceilings = Field(
        PerHourAndDay(2_000, 10_000), description="Most messages of an organization on another plan, in sandbox."
    )
    messages_pro: _Ceilings = Field(
        PerHourAndDay(5_000, 30_000), description="Most messages of an organization on the plan Pro, in production."
    )
    messages_enterprise: _Ceilings = Field(
        PerHourAndDay(30_000, 300_000),
        description="Most messages of an organization on the plan Enterprise, in production.",
    )
    sms_per_country_and_day: int = Field(
        1_000, ge=0, description="Most SMS to numbers of one country in a day, whoever sends them; 0: no limit."
    )
    sms_per_organization_and_day: int = Field(
        1_000, ge=0, description="Most SMS of one organization in a day; 0: no limit."
    )
    allow_private_addresses: bool | None = Field(
        None,
        description="Whether webhooks may go to private addresses; default: only where host and base URL are local.",
    )
    outbound_proxy: str = Field(
        "", description="HTTP proxy for webhooks and callbacks, http://[user:password@]host:port."
    )
    webhook_retention_days: int = Field(
        30, ge=1, description="Days that delivered and failed webhooks are kept with their attempts."
    )
    confinement: Literal["best", "strict"] = Field(
        "best",
        description="Whether PDFs are read with the confinement that the kernel offers, or only with all of it.",
    )
    upload_limit_mb: int = Field(50, ge=1, description="Largest upload, in MiB.")
    free_space_mb: int = Field(
        512, ge=0, description="Free disk space, in MiB, below which uploads are refused; 0: none."
    )
    sandbox_storage_mb: int = Field(
        1024, ge=0, description="What an organization may store in the sandbox, in MiB; 0: no limit."
    )
    production_storage_mb: int = Field(
        0, ge=0, description="What an organization may store in production, in MiB; 0: no limit."
    )
    page_limit: int = Field(2000, ge=1, description="Most pages of an upload.")
    web_processes: int = Field(0, ge=0, description="Web processes; 0: one per core.")
    web_threads: int = Field(8, ge=1, description="Threads of each web process.")
    body_seconds: int = Field(
        20, ge=1, description="Seconds that a request's body may take, and one more for every 64 KiB of it."
    )
    rate_limit_factor: int = Field(
        1, ge=1, description="What an organization's ceilings of calls and of messages are multiplied by."
    )
    wrong_codes_per_destination: int = Field(
        30, ge=1, description="Wrong codes for one address or number, in all requests, before none is taken for a day."
    )
    wrong_codes_per_organization: int = Field(
        500, ge=1, description="Wrong codes in the requests of one organization before none is taken for an hour."
    )
    worker_processes: int = Field(0, ge=0, description="Job worker processes; 0: one per core.")
    trusted_proxies: Annotated[list[str], NoDecode] = Field(
        [],
        description="Networks whose X-Forwarded-For is believed, separated by commas (10.0.0.0/8, 127.0.0.1).",
    )
    worker_concurrency: int = Field(
        2, ge=1, description="Jobs that each worker process does at a time; as many mails besides."
    )
    metrics_token: str = Field("", description="Token that opens /metrics; default: open to this machine only.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level to be logged.")

    _mask_wrapped: ClassVar[bool] = True
    """Django's settings look for it on each value each time, and pydantic takes long to say that there is none."""

    @field_validator("timestamp_authorities", "trusted_proxies", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value

    @field_validator(
        "messages_per_destination",
        "messages_free_sandbox",
        "messages_sandbox",
        "messages_pro",
        "messages_enterprise",
        mode="before",
    )
    @classmethod
    def _ceilings(cls, value: Any) -> Any:
        return PerHourAndDay.parse(value) if isinstance(value, str) else value

    @field_validator("mail_provider_settings", mode="before")
    @classmethod
    def _parse(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator("trusted_proxies")
    @classmethod
    def _networks(cls, value: list[str]) -> list[str]:
        return [str(ip_network(item, strict=False)) for item in value]

    @field_validator("outbound_proxy")
    @classmethod
    def _check_proxy(cls, value: str) -> str:
        parts = urlsplit(value)
        if value and (parts.scheme != "http" or not parts.hostname):
            raise ValueError("must be http://[user:password@]host:port")
        return value

    @property
    def public_url(self) -> str:
        """``scheme://host[:port]`` without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.base_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def private_addresses_allowed(self) -> bool:
        """Without a word from the operator: only while nothing beyond this machine is meant to reach the service.
        A service behind a proxy of the same machine listens on localhost too, but has a public address."""
        if self.allow_private_addresses is not None:
            return self.allow_private_addresses
        return self.is_local

    @property
    def sandbox_mails_everyone(self) -> bool:
        """Whether messages of the sandbox go to whomever they are for. Without a word from the operator: only while
        no stranger can get a key."""
        if self.sandbox_mail is not None:
            return self.sandbox_mail == "everyone"
        return self.registration != "open"

    @property
    def is_local(self) -> bool:
        """Whether nothing beyond this machine is meant to reach the service."""
        return _is_local(self.host) and _is_local(urlsplit(self.public_url).hostname or "")

    @property
    def processes(self) -> tuple[int, int]:
        """How many web and how many worker processes to run."""
        return self.web_processes or machine.cores(), self.worker_processes or machine.cores()


def read() -> Environment:
    """The environment, checked. Raises ``DomainError("configuration", …)`` naming each bad variable."""
    try:
        return Environment()
    except ValidationError as error:
        problems = "; ".join(
            f"{_variable(str(problem['loc'][0]))}: {problem['msg'].lower()}" for problem in error.errors()
        )
        raise DomainError("configuration", f"The environment has mistakes: {problems}.") from error


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _variable(field: str) -> str:
    return field if field == "DATABASE_URL" else f"PARAPH_{field.upper()}"
