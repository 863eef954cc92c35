"""Addresses of keys in PKCS#11 tokens (RFC 7512)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, unquote_to_bytes

from paraph.kernel.errors import DomainError

_OF_TOKENS = ("token", "serial", "manufacturer", "model")
_KNOWN = {*_OF_TOKENS, "object", "id", "type"}
_KNOWN_QUERY = {"module-path", "pin-source"}


@dataclass(frozen=True)
class Pkcs11Uri:
    """The parts that identify one private key. An empty part matches any."""

    module: Path
    """The vendor's library."""
    token: Mapping[str, str]
    """Those of ``token`` (the label), ``serial``, ``manufacturer`` and ``model`` that the address gives."""
    label: str
    id: bytes
    pin_file: Path | None


def parse(address: str) -> Pkcs11Uri:
    """Parses ``pkcs11:token=…;object=…;id=…?module-path=…&pin-source=file:…`` with percent-encoded values.

    Raises ``DomainError("configuration", …)`` with a sentence that does not quote the values.
    """
    path, _, query = address.removeprefix("pkcs11:").partition("?")
    attributes = _attributes(path.split(";"), _KNOWN)
    options = _attributes(query.split("&"), _KNOWN_QUERY)
    if attributes.get("type", "private") != "private":
        raise _refusal("it must name a private key, type=private")
    if "module-path" not in options:
        raise _refusal("it lacks ?module-path=, the vendor's library")
    if not any(name in attributes for name in ("object", "id")):
        raise _refusal("it names no key: it needs object= or id=")
    source = unquote(options["pin-source"]) if "pin-source" in options else ""
    return Pkcs11Uri(
        module=Path(unquote(options["module-path"])),
        token={name: unquote(attributes[name]) for name in _OF_TOKENS if name in attributes},
        label=unquote(attributes.get("object", "")),
        id=unquote_to_bytes(attributes.get("id", "")),
        pin_file=_file(source) if source else None,
    )


def address_of(token: str, serial: str, label: str, identifier: bytes) -> str:
    """The address without its query: the key's name in the journal and the proof. It contains no secret."""
    parts = {"token": token, "serial": serial, "object": label}
    named = [f"{name}={quote(value, safe='')}" for name, value in parts.items() if value]
    return "pkcs11:" + ";".join([*named, *([f"id={_percent(identifier)}"] if identifier else [])])


def _attributes(fields: list[str], known: set[str]) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for field in filter(None, fields):
        name, equals, value = field.partition("=")
        if name == "pin-value":
            raise _refusal(
                "a PIN does not belong there: put it in a file, pin-source=file:…, or set PARAPH_SEALING_PASSPHRASE"
            )
        if not equals or name not in known or name in attributes:
            raise _refusal(f"{name[:40]!r} cannot be used there; known are {', '.join(sorted(known))}, each once")
        attributes[name] = value
    return attributes


def _file(source: str) -> Path:
    path = source.removeprefix("file://").removeprefix("file:")
    if not path.startswith("/"):
        raise _refusal("pin-source must be file: and a path from the root")
    return Path(path)


def _percent(value: bytes) -> str:
    return "".join(f"%{byte:02X}" for byte in value)


def _refusal(why: str) -> DomainError:
    return DomainError("configuration", f"PARAPH_SEALING_KEY is no address of a PKCS#11 key: {why}.")
