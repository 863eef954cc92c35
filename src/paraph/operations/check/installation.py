"""Whether this machine fits the installation that the database belongs to."""

from collections.abc import Iterator

from django.conf import settings

from paraph.database.sessions import UNKEPT, connection_parameters, keeps_sessions
from paraph.kernel.master_key import fingerprint
from paraph.operations.check.outcome import Outcome, failed, ok, warning
from paraph.tenants.installation import fingerprint_in_use, secret_is_ours


def secret_key() -> Iterator[Outcome]:
    """``secret key``: whether it is the one that the database was first used with."""
    if secret_is_ours():
        if fingerprint_in_use() != fingerprint(settings.SECRETS.newest):
            yield warning(
                "secret key", "The earlier secret is still in use: once all machines have both, paraph secret rotate."
            )
            return
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
