"""Telling outages of the database or the object store, and refusals of the database, from faults of the service."""

import psycopg
from django.db import InterfaceError, OperationalError

from paraph.kernel.errors import AwayError

_AWAY = (AwayError, OperationalError, InterfaceError, psycopg.OperationalError, psycopg.InterfaceError)
_READ_ONLY = "25006"  # read_only_sql_transaction: another server has taken over from this one


def is_outage(error: BaseException | None) -> bool:
    """Return whether the error, or one that caused it, says that the database is away, restarts, lost the connection,
    takes no more connections or has no room, or that the object store fails: not the caller's fault, usually brief."""
    while error:
        if isinstance(error, _AWAY) or getattr(error, "sqlstate", None) == _READ_ONLY:
            return True
        error = error.__cause__
    return False


def cause_of_outage(error: BaseException) -> str:
    """Return the database's own words, on one line."""
    return " ".join(str(error.__cause__ or error).split())


def outage_sentence(error: BaseException) -> str:
    """Return the sentence for the log: what is away, and the cause."""
    if isinstance(error, AwayError):
        return str(error.strerror)
    return f"the database does not answer: {cause_of_outage(error)}"


_REFUSALS = {  # by the SQLSTATE
    "42501": "The database refuses: {}. Its owner can allow that to the role that DATABASE_URL names.",
    "42P01": "The database lacks what this version needs ({}): run paraph migrate.",
}


def refusal_sentence(error: BaseException) -> str:
    """Return a sentence for whoever gave the command: what the role may not do, which table is missing, or that the
    object store fails; "" for any other error."""
    if isinstance(error, AwayError):
        return outage_sentence(error)
    cause = error.__cause__ or error
    sentence = _REFUSALS.get(getattr(cause, "sqlstate", None) or "", "")
    return sentence.format(str(cause).partition("\n")[0])
