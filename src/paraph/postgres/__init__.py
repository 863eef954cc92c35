"""The embedded PostgreSQL 18, whose programs come in a wheel. No Django."""

from paraph.postgres.cluster import embedded_url
from paraph.postgres.server import Keeper, Server

__all__ = ["Keeper", "Server", "embedded_url"]
