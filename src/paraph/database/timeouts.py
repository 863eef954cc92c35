"""For how long each end of a connection waits for the other, where the machine or the network between may be gone.

Such an end says nothing: a connection would wait for minutes to be made, and for hours to be found dead. The server
would hold the locks and transactions of a lost machine as long.
"""

from psycopg import ConnectionInfo

PARAMETERS = {
    "connect_timeout": 5,  # s
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,  # ms
}
"""Of every connection; in libpq's names, so that DATABASE_URL may say otherwise."""

_OF_THE_SERVER = {
    "keepalives_idle": "tcp_keepalives_idle",
    "keepalives_interval": "tcp_keepalives_interval",
    "keepalives_count": "tcp_keepalives_count",
    "tcp_user_timeout": "tcp_user_timeout",
}


def statement(connected: ConnectionInfo) -> str:
    """Return the statement that has the server give its end of this connection up as early as we do ours. Changes
    nothing where there is no network in between. (As ``options`` of the connection it would cost nothing, but poolers
    refuse them.)
    """
    if not connected.hostaddr:
        return ""
    given = connected.get_parameters()
    return "".join(f"SET {name} = {int(given[ours])}; " for ours, name in _OF_THE_SERVER.items() if ours in given)
