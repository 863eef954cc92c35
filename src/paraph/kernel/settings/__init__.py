"""The settings of the service: ``PARAPH_*`` variables (and ``DATABASE_URL``), read once and checked.

Each field is documented for operators in docs/configuration.md; a test compares the two.
"""

from typing import ClassVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from paraph.kernel.errors import DomainError
from paraph.kernel.settings.accounts import AccountSettings
from paraph.kernel.settings.limits import LimitSettings
from paraph.kernel.settings.messages import MessageSettings
from paraph.kernel.settings.sealing import BUILT_IN_TIMESTAMPS, SealingSettings
from paraph.kernel.settings.service import ServiceSettings
from paraph.kernel.settings.storage import SERVED_BY_US, StorageSettings

__all__ = ["BUILT_IN_TIMESTAMPS", "SERVED_BY_US", "Settings", "read_settings"]


class Settings(
    ServiceSettings, StorageSettings, SealingSettings, MessageSettings, LimitSettings, AccountSettings, BaseSettings
):
    """What operators set. The defaults give a whole service on one machine."""

    model_config = SettingsConfigDict(
        env_prefix="PARAPH_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    _mask_wrapped: ClassVar[bool] = True
    """Django's settings look this name up on each value at each access; without it, pydantic's search is slow."""


def read_settings() -> Settings:
    """Return the checked settings. Raise ``DomainError("configuration", …)`` that names each bad variable."""
    try:
        return Settings()
    except ValidationError as error:
        problems = "; ".join(
            f"{_variable(str(problem['loc'][0]))}: {_sentence(problem['msg'])}" for problem in error.errors()
        )
        raise DomainError("configuration", f"The environment has mistakes: {problems}.") from error


def _sentence(message: str) -> str:
    own = message.removeprefix("Value error, ")
    return f"{own[:1].lower()}{own[1:]}"


def _variable(field: str) -> str:
    return field if field == "DATABASE_URL" else f"PARAPH_{field.upper()}"
