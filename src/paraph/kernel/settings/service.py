"""Settings of the service as a whole: its folders, addresses, processes, network and log."""

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import dj_database_url
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict
from pydantic import BaseModel, Field, field_validator

from paraph.kernel import machine
from paraph.kernel.settings.formats import CommaSeparated


class ServiceSettings(BaseModel):
    """Where the service keeps its files, listens, and connects to."""

    data_dir: Path = Field(Path("paraph-data"), description="Folder of everything the service keeps.")
    host: str = Field("127.0.0.1", description="Address that the web server listens on.")
    port: int = Field(8000, ge=1, le=65535, description="Port that the web server listens on.")
    base_url: str = Field("", description="Public address of the service, without a path; default: host and port.")
    database_url: str = Field(
        "", validation_alias="DATABASE_URL", description="PostgreSQL to use instead of the embedded one."
    )
    postgres_dir: Path | None = Field(None, description="Folder of the embedded PostgreSQL cluster.")
    secret_key: str = Field(
        "", description="Secret that all keys of the service are derived from; default: made at the first start."
    )
    secret_key_previous: CommaSeparated = Field(
        [], description="Earlier secrets, separated by commas, that are accepted while the secret is being rotated."
    )
    web_processes: int = Field(0, ge=0, description="Web processes; 0: one per core.")
    web_threads: int = Field(16, ge=1, description="Threads of each web process.")
    drain_seconds: int | None = Field(
        None,
        ge=0,
        description="Seconds between SIGTERM, when /readyz begins to say 503, and the end of the web server; default: "
        "5 for paraph web, none for paraph serve.",
    )
    worker_processes: int = Field(0, ge=0, description="Job worker processes; 0: one per core.")
    worker_concurrency: int = Field(
        2, ge=1, description="Jobs that each worker process does at a time; as many mails besides."
    )
    trusted_proxies: CommaSeparated = Field(
        [], description="Networks whose X-Forwarded-For is believed, separated by commas (10.0.0.0/8, 127.0.0.1)."
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
        "best", description="Whether PDFs are read with the confinement that the kernel offers, or only with all of it."
    )
    metrics_token: str = Field("", description="Token that opens /metrics; default: open to this machine only.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="Least level to be logged.")

    @field_validator("database_url")
    @classmethod
    def _check_database(cls, value: str) -> str:
        """Both readers of the address have to understand it, Django's and PostgreSQL's own. Neither may say what is
        wrong: they quote the password."""
        if value and not _is_database(value):
            raise ValueError(
                "must be postgresql://[user[:password]@]host[:port]/database, with @ : / ? # and % in a user or "
                "password written as %40 %3A %2F %3F %23 and %25; several hosts are named in ?host=a,b"
            )
        return value

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
    def is_local(self) -> bool:
        """Whether only this machine is meant to reach the service. A service behind a proxy on the same machine
        listens on localhost too, but has a public address."""
        return _is_loopback(self.host) and _is_loopback(urlsplit(self.public_url).hostname or "")

    @property
    def is_public(self) -> bool:
        """Whether others than this machine are meant to reach the service: its address is one of HTTPS and not this
        machine's."""
        parts = urlsplit(self.public_url)
        return parts.scheme == "https" and not _is_loopback(parts.hostname or "")

    @property
    def lacks_proxy(self) -> str:
        """What is wrong where a public address has no proxy in front, and how it is mended; "" where nothing is."""
        if not self.is_public or self.trusted_proxies:
            return ""
        return (
            f"{self.public_url} is a public address, and PARAPH_TRUSTED_PROXIES names no proxy. The service must not "
            "face the internet by itself: put nginx, Caddy or HAProxy in front as docs/proxies.md has them, and name "
            "the proxy's own address, such as PARAPH_TRUSTED_PROXIES=127.0.0.1."
        )

    @property
    def private_addresses_allowed(self) -> bool:
        """The operator's choice; by default only while the service is local."""
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
        """Sessions that a worker opens at most: one for each job of two queues, three to serve each, upkeep,
        webhooks."""
        return 2 * self.worker_concurrency + 11


def _is_database(address: str) -> bool:
    try:
        theirs, ours = conninfo_to_dict(address), dj_database_url.parse(address)
    except (ValueError, ProgrammingError):
        return False
    host = ours["HOST"] or str(ours.get("OPTIONS", {}).get("host", ""))
    read = [ours["USER"], ours["PASSWORD"], host.lower(), ours["NAME"]]
    same = read == [
        str(theirs.get("user", "")),
        str(theirs.get("password", "")),
        str(theirs.get("host", "")).lower(),
        str(theirs.get("dbname", "")),
    ]
    return same and ours["NAME"] != "" and urlsplit(address).scheme in ("postgres", "postgresql")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
