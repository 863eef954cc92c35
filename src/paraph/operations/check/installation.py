"""Whether this machine fits the installation that the database belongs to."""

from collections.abc import Iterator

from paraph.database.sessions import UNKEPT, connection_parameters, keeps_sessions
from paraph.operations.check.outcome import Outcome, failed, ok
from paraph.organizations.installation import secret_is_ours


def secret_key() -> Iterator[Outcome]:
    """``secret key``: whether it is the one that the database was first used with."""
    if secret_is_ours():
        yield ok("secret key", "The secret key is that of the installation.")
        return
    yield failed(
        "secret key",
        "The secret key of this machine is not that of the installation: its links, codes and secrets would be void "
        "elsewhere. Give it the same PARAPH_SECRET_KEY, or the same secret.key in its data folder, as the others have.",
    )


def sessions() -> Iterator[Outcome]:
    """``sessions``: whether a pooler between the service and its database takes them apart."""
    if keeps_sessions(**connection_parameters()):
        yield ok("sessions", "Connections to the database keep their sessions.")
    else:
        yield failed("sessions", UNKEPT)
