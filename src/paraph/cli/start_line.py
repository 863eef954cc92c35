"""The line that each start leaves in the log: which version begins, and how it is set up."""

import platform
from typing import Any, Literal, get_origin
from urllib.parse import urlsplit

import structlog

from paraph import __version__
from paraph.kernel.rates import PerHourAndDay
from paraph.kernel.settings import Settings, read_settings

log = structlog.get_logger("paraph.start")

_TOKENS = ("pkcs11", "awskms", "arn")


def log_start(command: str) -> None:
    """Log it. Of the settings that are set, those that are numbers or choices show their values; texts show only that
    they are set, because a secret may stand in any of them."""
    settings = read_settings()
    web_processes, worker_processes = settings.processes
    log.info(
        "Paraph starts",
        command=command,
        version=__version__,
        python=platform.python_version(),
        database="own" if settings.database_url else "embedded",
        storage=urlsplit(settings.storage_url).scheme or "folder",
        sealing_key=_kind_of_key(settings.sealing_key),
        confinement=settings.confinement,
        web_processes=web_processes,
        worker_processes=worker_processes,
        settings={_variable(name): _shown(settings, name) for name in sorted(settings.model_fields_set)},
    )


def _kind_of_key(address: str) -> str:
    scheme = address.partition(":")[0]
    return scheme if scheme in _TOKENS else "file" if address else "development"


def _variable(name: str) -> str:
    return str(Settings.model_fields[name].validation_alias or f"PARAPH_{name.upper()}")


def _shown(settings: Settings, name: str) -> Any:
    value = getattr(settings, name)
    if isinstance(value, PerHourAndDay):
        return str(value)
    chosen = get_origin(Settings.model_fields[name].annotation) is Literal
    return value if chosen or isinstance(value, int) else "set"
