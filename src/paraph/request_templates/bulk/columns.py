"""Which column of a CSV holds which field of which role."""

from collections.abc import Collection, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from paraph.kernel.errors import DomainError
from paraph.request_templates.models import Role
from paraph.signature_requests.models import Channel

FIELDS = {
    "first_name": gettext_lazy("First name"),
    "last_name": gettext_lazy("Last name"),
    "email": gettext_lazy("E-mail"),
    "phone": gettext_lazy("Phone"),
}
_PLAIN = {"first_name": "first name", "last_name": "last name", "email": "e-mail", "phone": "phone"}
_PEOPLE = (("Ada", "Lovelace"), ("Grace", "Hopper"), ("Alan", "Turing"), ("Katherine", "Johnson"), ("Emmy", "Noether"))

FieldColumns = dict[tuple[int, str], int]
"""The column of a role, as an index, and a field. A phone that is not needed may have none."""


def find_columns(roles: Sequence[Role], columns: Sequence[str]) -> FieldColumns:
    """Raise ``DomainError("validation_error", …)``, which names the columns that are missing or stand there twice."""
    names = [folded(column) for column in columns]
    places: FieldColumns = {}
    missing = []
    for index, role in enumerate(roles):
        for field in FIELDS:
            wanted = _names(role, field, alone=len(roles) == 1)
            found = [place for place, name in enumerate(names) if name in wanted]
            if len(found) > 1:
                sentence = _("The file has two columns named “%(column)s”.")
                raise DomainError("validation_error", sentence % {"column": columns[found[1]]})
            if found:
                places[index, field] = found[0]
            elif field != "phone" or role.otp_channel == Channel.SMS:
                missing.append(column_name(role, field))
    if missing:
        sentence = _("The file is missing these columns: %(columns)s.")
        raise DomainError("validation_error", sentence % {"columns": ", ".join(f"“{name}”" for name in missing)})
    return places


def names_in(places: FieldColumns, cells: Sequence[str]) -> list[str]:
    """Return the names of the people of a row, in the order of their roles, as far as the row has them."""
    named = ("first_name", "last_name")
    people = [
        " ".join(" ".join(cells[places[role, field]] for field in named if places[role, field] < len(cells)).split())
        for role in sorted({role for role, _field in places})
    ]
    return [name for name in people if name]


def unused_columns(places: Collection[int], columns: Sequence[str]) -> list[str]:
    return [column for index, column in enumerate(columns) if index not in places and column]


def sample(roles: Sequence[Role]) -> tuple[list[str], list[str]]:
    """Return the header that the roles want, and a row as an example."""
    columns = [column_name(role, field) for role in roles for field in FIELDS]
    return columns, [cell for index in range(len(roles)) for cell in _example(index)]


def _example(index: int) -> list[str]:
    """Return a person of their own for each role, in the order of :data:`FIELDS`. The phone is written so that a
    spreadsheet takes it for text."""
    first_name, last_name = _PEOPLE[index % len(_PEOPLE)]
    number = "" if index < len(_PEOPLE) else str(index + 1)
    return [first_name, last_name, f"{first_name.lower()}{number}@example.com", f"00 33 6 12 34 56 {78 + index % 20}"]


def column_name(role: Role, field: str) -> str:
    return f"{role.name}: {FIELDS[field]}"


def _names(role: Role, field: str, *, alone: bool) -> set[str]:
    """In the language of the page and in English; a template with one role needs no role's name."""
    fields = {str(FIELDS[field]), _PLAIN[field]}
    return {folded(f"{role.name}: {name}") for name in fields} | ({folded(name) for name in fields} if alone else set())


def folded(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())
