"""Completing what is entered of signers: with people of earlier requests, and with oneself."""

from collections.abc import Iterable, Iterator

from django.http import QueryDict

from paraph.signature_requests import values
from paraph.signature_requests.models import Signer
from paraph.tenants.models import User

_KNOWN = ("first_name", "last_name", "phone")
_MOST_DIGITS = 3  # of the number of rows, which the form bounds


def completed(entered: QueryDict, known: Iterable[Signer]) -> QueryDict:
    """Return what was entered, with name and number where the address of somebody known stands without a name, as in
    a browser without scripts."""
    content, by_address = entered.copy(), {signer.email.lower(): signer for signer in known}
    for row in _rows(content):
        signer = by_address.get(content.get(f"{row}-email", "").strip().lower())
        if signer and not _any(content, row, "first_name", "last_name"):
            for name in _KNOWN:
                content[f"{row}-{name}"] = content.get(f"{row}-{name}") or getattr(signer, name)
    return content


def with_account(entered: QueryDict, user: User) -> QueryDict:
    """Return what was entered, with the owner of the account in the first blank row, else in one more; as it is where
    their address stands there already."""
    content, rows = entered.copy(), list(_rows(entered))
    if any(content.get(f"{row}-email", "").strip().lower() == user.email for row in rows):
        return content
    row = next((row for row in rows if not _any(content, row, "email", "first_name", "last_name")), "")
    if not row:
        row = f"signer-{len(rows)}"
        content["signer-TOTAL_FORMS"] = str(len(rows) + 1)
        content[f"{row}-otp_channel"] = "email"
    content[f"{row}-email"] = user.email
    content[f"{row}-first_name"], content[f"{row}-last_name"] = _names(user.name)
    return content


def _names(name: str) -> tuple[str, str]:
    """Split a name where most names can be split; where it is one word, somebody has to enter the other."""
    first, _, last = " ".join(name.split()).rpartition(" ")
    return (first or last)[: values.LONGEST_NAME], (last if first else "")[: values.LONGEST_NAME]


def _rows(content: QueryDict) -> Iterator[str]:
    count = content.get("signer-TOTAL_FORMS", "")
    if count.isdecimal() and len(count) <= _MOST_DIGITS:
        yield from (f"signer-{number}" for number in range(int(count)))


def _any(content: QueryDict, row: str, *names: str) -> bool:
    return any(content.get(f"{row}-{name}", "").strip() for name in names)
