"""The environment as the settings read it: no name that is misspelt, and values from files (``NAME_FILE``)."""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from paraph.kernel.errors import DomainError
from paraph.kernel.spelling import nearest

OTHERS = {
    *("PARAPH_URL", "PARAPH_API_KEY", "PARAPH_WEBHOOK_SECRET", "PARAPH_UPSTREAM"),  # of clients and compose.yaml
    *("PARAPH_CORPUS", "PARAPH_CORPUS_ALL", "PARAPH_NO_SKIPS", "PARAPH_PDF", "PARAPH_RECORD"),  # of the project's tests
    *("PARAPH_TEST_DATABASE_OWNER", "PARAPH_TEST_FIRST_START"),
}
"""Names that may be set beside the settings, and are none."""

_SERVICE_LINK = re.compile(
    r"PARAPH(_[A-Z0-9_]+)?_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)=.*|PORT_\d+_(TCP|UDP|SCTP)_(PROTO|PORT|ADDR)=.*"
    r"|PORT(_\d+_(TCP|UDP|SCTP))?=(tcp|udp|sctp)://\S+:\d+)"
)
"""What Kubernetes tells a pod of services named paraph, paraph-web, …: among it PARAPH_PORT, an address."""


def read_environment(fields: Mapping[str, str]) -> dict[str, str]:
    """Return the values that the environment gives to settings, by field. ``fields``: that of each variable. A value is
    that of the variable, or stands in the file that ``NAME_FILE`` names, without a line break at its end. What is empty
    counts as not set; case does not matter in names.

    Raise ``DomainError("configuration", …)`` that names every mistake: a name ``PARAPH_…`` that is no setting, a
    setting that is given both ways, a file that is empty or cannot be read.
    """
    set_ = {name.upper(): value for name, value in os.environ.items() if value}
    given = {name: value for name, value in set_.items() if not _SERVICE_LINK.fullmatch(f"{name}={value}")}
    in_files = {f"{name}_FILE": name for name in fields if name != "PARAPH_DATA_DIR"}  # which commands always set
    mistakes = list(_unknown(given, {*fields, *in_files}))
    for name in sorted(in_files.keys() & given.keys()):
        try:
            if in_files[name] in given:
                raise ValueError(f"{in_files[name]} is set, too")
            given[in_files[name]] = _content(Path(given[name]))
        except ValueError as error:
            mistakes.append(f"{name}: {error}")
    if mistakes:
        raise DomainError("configuration", f"The environment has mistakes: {'; '.join(mistakes)}.")
    return {field: given[name] for name, field in fields.items() if name in given}


def _unknown(given: Collection[str], known: Collection[str]) -> Iterator[str]:
    for name in sorted(given):
        if name.startswith("PARAPH_") and name not in known and name not in OTHERS:
            meant = nearest(name, known)
            yield f"{name} is no setting" + (f", {meant} may be meant" if meant else "")


def _content(path: Path) -> str:
    """Raise ``ValueError`` that quotes nothing of the file."""
    try:
        content = path.read_text()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    if not content.strip():
        raise ValueError(f"{path} is empty")
    return content.removesuffix("\n").removesuffix("\r")
