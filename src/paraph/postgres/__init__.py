"""The embedded PostgreSQL 18, whose programs come in a wheel. No Django."""

from paraph.postgres.keeper import Keeper
from paraph.postgres.location import embedded_url
from paraph.postgres.server import Server

__all__ = ["Keeper", "Server", "embedded_url"]
