"""The embedded PostgreSQL 18: binaries from a wheel, started and stopped by us. No Django."""

from paraph.postgres.keeper import Keeper
from paraph.postgres.location import embedded_url
from paraph.postgres.server import Server

__all__ = ["Keeper", "Server", "embedded_url"]
