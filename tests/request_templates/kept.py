"""A template with two roles, and CSVs for it."""

from paraph.flow.sending.create import Sender
from paraph.request_templates.bulk_rows import check_rows
from paraph.request_templates.csv_file import read_csv
from paraph.request_templates.models import BulkSend, Template
from paraph.request_templates.saving import Names, of_draft, save_template
from tests.drafts.author import Author
from tests.factories import VISITOR

ROLES = ("Tenant", "Landlord", "Witness")


def template_of(charles: Author, *, roles: int = 1, name: str = "Lease") -> Template:
    made = of_draft(charles.draft(signers=roles))
    return save_template(charles.scope, made, charles.actor, Names(name, ROLES[:roles]))


def csv_of(*people: str, delimiter: str = ",") -> bytes:
    """For one role: "Ada Lovelace ada@example.com" is a row."""
    rows = ["First name,Last name,E-mail", *(",".join(person.split()) for person in people)]
    return "\r\n".join(rows).replace(",", delimiter).encode()


def bulk_of(charles: Author, template: Template, content: bytes) -> BulkSend:
    return check_rows(charles.scope, template, charles.member.user, "people.csv", read_csv(content))


def sending(charles: Author) -> Sender:
    return Sender(VISITOR, charles.actor)
