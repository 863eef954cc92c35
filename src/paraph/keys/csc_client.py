"""What a provider of remote seals knows the operator by."""

from dataclasses import dataclass, field

PREFIX = "csc+"
"""The beginning of a provider's address."""


@dataclass(frozen=True)
class CscClient:
    """What a provider knows the operator by: ``PARAPH_CSC_CLIENT_ID``, ``PARAPH_CSC_CLIENT_SECRET`` and
    ``PARAPH_CSC_PIN``."""

    id: str = ""
    secret: str = field(default="", repr=False)
    pin: str = field(default="", repr=False)
