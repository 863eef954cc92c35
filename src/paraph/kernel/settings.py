"""The settings of the service: ``PARAPH_*`` variables (and ``DATABASE_URL``) or the files that they name, checked.
docs/configuration.md says what each field means; a test compares the two."""

import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

import dj_database_url
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    FilePath,
    ValidationError,
    model_validator,
)

from paraph.kernel import machine
from paraph.kernel.errors import DomainError
from paraph.kernel.rates import PerHourAndDay
from paraph.kernel.secrets import SHORTEST
from paraph.kernel.spelling import nearest

BUILT_IN_TIMESTAMPS = "built-in"
SERVED_BY_US = "none"


def _read_by(read: Callable[[str], Any]) -> BeforeValidator:
    return BeforeValidator(lambda value: read(value) if isinstance(value, str) else value)


def _split(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _check_database(value: str) -> str:
    """Check that Django and PostgreSQL's own library both understand the address. Their errors are not shown, because
    they quote the password."""
    if value and not _is_database(value):
        raise ValueError(
            "must be postgresql://[user[:password]@]host[:port]/database, with @ : / ? # and % in a user or "
            "password written as %40 %3A %2F %3F %23 and %25; several hosts are named in ?host=a,b"
        )
    return value


def _is_database(address: str) -> bool:
    try:
        theirs, ours = conninfo_to_dict(address), dj_database_url.parse(address)
    except (ValueError, ProgrammingError):
        return False
    host = ours["HOST"] or str(ours.get("OPTIONS", {}).get("host", ""))
    read = {"user": ours["USER"], "password": ours["PASSWORD"], "host": host.lower(), "dbname": ours["NAME"]}
    meant = {name: str(theirs.get(name, "")) for name in read}
    is_same = read == {**meant, "host": meant["host"].lower()}
    return is_same and ours["NAME"] != "" and urlsplit(address).scheme in ("postgres", "postgresql")


def _check_key(value: str) -> str:
    if value and len(value) < SHORTEST:
        raise ValueError(f"must have at least {SHORTEST} characters")
    return value


def _check_proxy(value: str) -> str:
    if value and not _is_address(value, "http"):
        raise ValueError("must be http://[user:password@]host:port")
    return value


def _check_public_url(value: str) -> str:
    if value not in ("", SERVED_BY_US) and not _is_address(value, "http", "https"):
        raise ValueError("must be an http or https address, or none")
    return value.rstrip("/")


def _check_issuer(value: str) -> str:
    if value and not _is_address(value, "http", "https"):
        raise ValueError("must be the address of an OpenID Connect provider, such as https://id.example.com")
    if value and not (find_spec("jwt") and find_spec("requests") and find_spec("oauthlib")):
        raise ValueError("single sign-on needs the extra: pip install 'paraph[sso]'")
    return value.rstrip("/")


def _networks(items: list[str]) -> list[str]:
    return [str(ip_network(item, strict=False)) for item in items]


def _is_address(value: str, *schemes: str) -> bool:
    parts = urlsplit(value)
    return parts.scheme in schemes and bool(parts.hostname)


CommaSeparated = Annotated[list[str], _read_by(_split)]
Networks = Annotated[CommaSeparated, AfterValidator(_networks)]
StorageKey = Annotated[str, AfterValidator(_check_key)]
Ceilings = Annotated[PerHourAndDay, _read_by(PerHourAndDay.parse)]
JsonStrings = Annotated[dict[str, str], _read_by(json.loads)]


class Settings(BaseModel):
    """What operators set. The defaults give a whole service on one machine."""

    model_config = ConfigDict(populate_by_name=True)

    _mask_wrapped: ClassVar[bool] = True
    """Django's settings look this name up in each value at each access; without the name, pydantic's search is slow."""

    # Where the service keeps its files, listens, and connects to.
    data_dir: Path = Path("paraph-data")
    host: str = "127.0.0.1"
    port: int = Field(8000, ge=1, le=65535)
    base_url: str = ""
    database_url: Annotated[str, AfterValidator(_check_database)] = Field("", validation_alias="DATABASE_URL")
    postgres_dir: Path | None = None
    secret_key: str = ""
    secret_key_previous: CommaSeparated = []
    web_processes: int = Field(0, ge=0)
    web_threads: int = Field(16, ge=1)
    drain_seconds: int | None = Field(None, ge=0)
    worker_processes: int = Field(0, ge=0)
    worker_concurrency: int = Field(2, ge=1)
    trusted_proxies: Networks = []
    allow_private_addresses: bool | None = None
    outbound_proxy: Annotated[str, AfterValidator(_check_proxy)] = ""
    webhook_retention_days: int = Field(30, ge=1)
    confinement: Literal["best", "strict"] = "best"
    metrics_token: str = ""
    operator: str = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    # Where uploads, sealed files and proofs are kept.
    storage_url: str = ""
    storage_public_url: Annotated[str, AfterValidator(_check_public_url)] = ""
    storage_key: StorageKey = ""
    storage_key_previous: Annotated[list[StorageKey], _read_by(_split)] = []

    # Which keys seal, and which authorities give timestamps.
    sealing_key: str = ""
    sealing_certificate: Path | None = None
    sealing_passphrase: str = ""
    sandbox_sealing_key: str = ""
    sandbox_sealing_certificate: Path | None = None
    sandbox_sealing_passphrase: str = ""
    csc_client_id: str = ""
    csc_client_secret: str = ""
    csc_pin: str = ""
    development_key: Literal["p-256", "rsa-3072"] = "p-256"
    seal_level: Literal["B-B", "B-T", "B-LT", "B-LTA"] = "B-LTA"
    timestamp_authorities: CommaSeparated = [BUILT_IN_TIMESTAMPS]
    timestamp_roots: Path | None = None
    serve_authority: bool = False
    verify_page: bool = True
    verify_roots: FilePath | None = None

    # The log that holds all proofs, and the witnesses of this and of other logs.
    log_key: Path | None = None
    witnesses: CommaSeparated = []
    witness_for: CommaSeparated = []

    # How messages are sent, to whom, and at most how many.
    smtp_url: str = ""
    mail_provider: str = ""
    mail_provider_settings: JsonStrings = {}
    sms_url: str = ""
    mail: Literal["captured"] | None = None
    mail_from: str = "Paraph <no-reply@localhost>"
    registration: Literal["closed", "invited", "open"] = "closed"
    sandbox_mail: Literal["everyone", "confirmed"] | None = None
    messages_per_destination: Ceilings = PerHourAndDay(10, 30)
    messages_per_destination_in_all: Ceilings = PerHourAndDay(50, 150)
    messages_free_sandbox: Ceilings = PerHourAndDay(60, 200)
    messages_sandbox: Ceilings = PerHourAndDay(2_000, 10_000)
    messages_pro: Ceilings = PerHourAndDay(5_000, 30_000)
    messages_enterprise: Ceilings = PerHourAndDay(30_000, 300_000)
    sms_per_country_and_day: int = Field(1_000, ge=0)
    sms_per_organization_and_day: int = Field(1_000, ge=0)

    # The largest uploads, bodies and stores, and the ceilings of calls and of wrong codes.
    upload_limit_mb: int = Field(50, ge=1)
    page_limit: int = Field(2000, ge=1)
    free_space_mb: int = Field(512, ge=0)
    sandbox_storage_mb: int = Field(1024, ge=0)
    production_storage_mb: int = Field(0, ge=0)
    sandbox_requests: int = Field(100_000, ge=0)
    kept_templates: int = Field(1_000, ge=0)
    kept_drafts: int = Field(200, ge=0)
    kept_bulk_rows: int = Field(5_000, ge=0)
    rate_limit_factor: int = Field(1, ge=1)
    wrong_codes_per_destination: int = Field(30, ge=1)
    wrong_codes_per_organization: int = Field(500, ge=1)
    web_sends_free: int = Field(5, ge=0)
    web_sends_pro: int = Field(100, ge=0)

    # How people log in other than by password and passkey, and what the operator leaves to owners.
    sso_issuer: Annotated[str, AfterValidator(_check_issuer)] = ""
    sso_client_id: str = ""
    sso_client_secret: str = ""
    sso_name: str = "Single sign-on"
    sso_domains: CommaSeparated = []
    owners_set_retention: bool = True

    @property
    def public_url(self) -> str:
        """``scheme://host[:port]`` without a slash at the end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.base_url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def is_local(self) -> bool:
        """Whether only this machine is meant to reach the service. A service behind a proxy on the same machine
        listens on localhost too, but has a public address."""
        return _is_loopback(self.host) and _is_loopback(urlsplit(self.public_url).hostname or "")

    @property
    def is_public(self) -> bool:
        """Whether other machines are meant to reach the service: its address has the scheme https and a host that is
        not this machine."""
        parts = urlsplit(self.public_url)
        return parts.scheme == "https" and not _is_loopback(parts.hostname or "")

    @property
    def lacks_proxy(self) -> str:
        """What is wrong if a public address has no proxy in front, and how to mend it; "" if nothing is wrong."""
        if not self.is_public or self.trusted_proxies:
            return ""
        return (
            f"{self.public_url} is a public address, and PARAPH_TRUSTED_PROXIES names no proxy. The service must not "
            "face the internet by itself: put nginx, Caddy or HAProxy in front as docs/proxies.md has them, and name "
            "the proxy's own address, such as PARAPH_TRUSTED_PROXIES=127.0.0.1."
        )

    @property
    def private_addresses_allowed(self) -> bool:
        """Whether private addresses may be called: the operator's choice; by default only if the service is local."""
        return self.is_local if self.allow_private_addresses is None else self.allow_private_addresses

    @property
    def processes(self) -> tuple[int, int]:
        """The numbers of web processes and of worker processes to run."""
        return self.web_processes or machine.cores(), self.worker_processes or machine.cores()

    @property
    def sessions_of_web_process(self) -> int:
        """Sessions of PostgreSQL that a web process opens at most: one for each thread, two for its checks."""
        return self.web_threads + 2

    @property
    def sessions_of_worker(self) -> int:
        """Sessions that a worker opens at most: one for each job of two queues, three for each queue itself, and those
        of upkeep and webhooks."""
        return 2 * self.worker_concurrency + 11

    @property
    def sandbox_mails_everyone(self) -> bool:
        """Whether sandbox messages may go to any recipient. The default is yes, unless strangers can register and so
        send messages through the sandbox."""
        return self.registration != "open" if self.sandbox_mail is None else self.sandbox_mail == "everyone"

    @model_validator(mode="after")
    def _check_client(self) -> "Settings":
        if self.sso_issuer and not (self.sso_client_id and self.sso_client_secret):
            raise ValueError("PARAPH_SSO_ISSUER wants PARAPH_SSO_CLIENT_ID and PARAPH_SSO_CLIENT_SECRET beside it")
        return self


def read_settings() -> Settings:
    """Return the checked settings of the environment. Raise ``DomainError("configuration", …)`` that names each bad
    variable."""
    given = read_environment({variable(field): field for field in Settings.model_fields})
    try:
        return Settings.model_validate(given)
    except ValidationError as error:
        problems = [": ".join([*map(variable, each["loc"][:1]), _sentence(each["msg"])]) for each in error.errors()]
        raise DomainError("configuration", f"The environment has mistakes: {'; '.join(problems)}.") from error


def _sentence(message: str) -> str:
    own = message.removeprefix("Value error, ")
    return own if own.startswith("PARAPH_") else f"{own[:1].lower()}{own[1:]}"


def variable(field: object) -> str:
    """Return the name of the variable of a field, which may be named as in pydantic's errors."""
    return "DATABASE_URL" if field in ("DATABASE_URL", "database_url") else f"PARAPH_{str(field).upper()}"


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


OTHERS = {
    "PARAPH_URL", "PARAPH_API_KEY", "PARAPH_WEBHOOK_SECRET", "PARAPH_UPSTREAM",  # of clients and compose.yaml
    "PARAPH_CORPUS", "PARAPH_CORPUS_ALL", "PARAPH_NO_SKIPS", "PARAPH_PDF", "PARAPH_RECORD",  # of the project's tests
    "PARAPH_TEST_DATABASE_OWNER", "PARAPH_TEST_FIRST_START",
}  # fmt: skip
"""Variables that may be set but are no settings of the service."""

_SERVICE_LINK = re.compile(
    r"PARAPH(_[A-Z0-9_]+)?_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)=.*|PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=.*"
    r"|PORT(_\d+_(TCP|UDP|SCTP))?=(tcp|udp|sctp)://\S+:\d+)"
)
"""Variables that Kubernetes sets in a pod for services named paraph, paraph-web, …, such as PARAPH_PORT, an address."""


def read_environment(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the values that the environment gives to settings, by field. ``fields``: the field of each variable. A
    value is that of the variable, or the content of the file that ``NAME_FILE`` names, without a line break at its end.
    An empty variable counts as not set; names are case-insensitive. Raise ``DomainError("configuration", …)``, which
    names every mistake: an unknown name, a setting that is given both ways, a file that is empty or cannot be read."""
    set_ = {name.upper(): value for name, value in os.environ.items() if value}
    given = {name: value for name, value in set_.items() if not _SERVICE_LINK.fullmatch(f"{name}={value}")}
    in_files = {f"{name}_FILE": name for name in fields if name != "PARAPH_DATA_DIR"}  # which is always set by commands
    mistakes = list(_unknown(given, {*fields, *in_files}))
    for name in sorted(in_files.keys() & given.keys()):
        try:
            if in_files[name] in given:
                raise ValueError(f"{in_files[name]} is set, too")
            given[in_files[name]] = _content(Path(given[name]))
        except ValueError as error:
            mistakes.append(f"{name}: {error}")
    if mistakes:
        raise DomainError("configuration", f"The environment has mistakes: {'; '.join(mistakes)}.")
    return {field: given[name] for name, field in fields.items() if name in given}


def _unknown(given: Collection[str], known: Collection[str]) -> Iterator[str]:
    for name in sorted(given):
        if name.startswith("PARAPH_") and name not in known and name not in OTHERS:
            meant = nearest(name, known)
            yield f"{name} is no setting" + (f", {meant} may be meant" if meant else "")


def _content(path: Path) -> str:
    """Return the text of the file. Raise ``ValueError``, which quotes nothing of it."""
    try:
        content = path.read_text()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    if not content.strip():
        raise ValueError(f"{path} is empty")
    return content.removesuffix("\n").removesuffix("\r")
