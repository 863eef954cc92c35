"""The environment as the settings read it: no name that is misspelt, and values from files (``NAME_FILE``)."""

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path

from paraph.kernel.errors import DomainError
from paraph.kernel.spelling import nearest

OTHERS = frozenset(
    {
        # Of the clients and their examples, and of the proxy in compose.yaml.
        *("PARAPH_URL", "PARAPH_API_KEY", "PARAPH_WEBHOOK_SECRET", "PARAPH_UPSTREAM"),
        # Of the project's own tests, which read the settings in their process.
        *("PARAPH_CORPUS", "PARAPH_CORPUS_ALL", "PARAPH_NO_SKIPS", "PARAPH_PDF", "PARAPH_RECORD"),
        *("PARAPH_TEST_DATABASE_OWNER", "PARAPH_TEST_FIRST_START"),
    }
)
"""Names that may be set beside the settings, and are none."""

# What Kubernetes tells a pod of a service named paraph, or paraph-web: also PARAPH_PORT, with an address for a value.
_LINK = re.compile(
    r"PARAPH(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_LINKED_PORT = re.compile(r"PARAPH(_[A-Z0-9_]+)?_PORT=(tcp|udp|sctp)://\S+:\d+")


def read_environment(settings: Collection[str]) -> dict[str, str]:
    """Return the values of these settings that the environment gives, itself or in the file that ``NAME_FILE`` names,
    without a line break at its end. What is empty counts as not set; case does not matter in names.

    Raise ``DomainError("configuration", …)`` that names every mistake: a name ``PARAPH_…`` that is no setting, a
    setting that is given both ways, a file that is empty or cannot be read.
    """
    given = {name.upper(): value for name, value in os.environ.items() if value and not _is_service_link(name, value)}
    in_files = {f"{name}_FILE": name for name in settings if name != "PARAPH_DATA_DIR"}  # which is always exported
    mistakes = list(_unknown(given, {*settings, *in_files}))
    for variable, name in in_files.items():
        if variable not in given:
            continue
        if name in given:
            mistakes.append(f"{name} and {variable} are both set")
            continue
        try:
            given[name] = _content(Path(given[variable]))
        except ValueError as error:
            mistakes.append(f"{variable}: {given[variable]} {error}")
    if mistakes:
        raise DomainError("configuration", f"The environment has mistakes: {'; '.join(mistakes)}.")
    return {name: given[name] for name in settings if name in given}


def _is_service_link(name: str, value: str) -> bool:
    return bool(_LINK.fullmatch(name) or _LINKED_PORT.fullmatch(f"{name}={value}"))


def _unknown(given: Collection[str], known: Collection[str]) -> Iterator[str]:
    for name in sorted(given):
        if name.startswith("PARAPH_") and name not in known and name not in OTHERS:
            meant = nearest(name, known)
            yield f"{name} is no setting" + (f", {meant} may be meant" if meant else "")


def _content(path: Path) -> str:
    """Raise ``ValueError`` that says what is wrong with the file."""
    try:
        content = path.read_text()
    except UnicodeDecodeError as error:
        raise ValueError("is no text in UTF-8") from error
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror}") from error
    if not content.strip():
        raise ValueError("is empty")
    return content.removesuffix("\n").removesuffix("\r")
