"""Who does something with an organization."""

from dataclasses import dataclass

from paraph.tenants.admin_log.models import ActorKind


@dataclass(frozen=True)
class Actor:
    """``id`` and ``email`` are those of the member's account, or ``id`` that of an application; ``ip`` the address of
    the call."""

    kind: str
    id: int | None = None
    email: str = ""
    ip: str = ""


OPERATOR = Actor(ActorKind.OPERATOR)
SERVICE = Actor(ActorKind.SERVICE)
SIGNER = Actor(ActorKind.SIGNER)
"""Whoever signs: the log names request and signer by their ids alone, so that a signer can be erased."""
