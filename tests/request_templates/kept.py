"""Templates, and CSVs for them."""

from paraph.flow.sending.create import Sender
from paraph.request_templates.bulk_rows import check_rows
from paraph.request_templates.csv_file import read_csv
from paraph.request_templates.models import BulkSend, Template
from paraph.request_templates.saving import Names, of_draft, save_template
from tests.drafts.author import IBAN, PETS, SIGNED_ON, Author, asking
from tests.factories import VISITOR

ROLES = ("Tenant", "Landlord", "Witness")
DEPOSIT = {"name": "Deposit", "type": "number", "required": True}
READ = {"name": "House rules", "type": "checkbox", "required": True}


def template_of(charles: Author, *, roles: int = 1, name: str = "Lease") -> Template:
    made = of_draft(charles.draft(signers=roles))
    return save_template(charles.scope, made, charles.actor, Names(name, ROLES[:roles]))


def template_asking(charles: Author) -> Template:
    """Return a template of a tenant, who fills in fields of five types, and a landlord, who approves."""
    draft = asking(charles, IBAN, PETS, DEPOSIT, READ, SIGNED_ON, signers=2)
    draft.content["signers"][1]["role"] = "approver"
    draft.content |= {"copies": [{"first_name": "Mary", "last_name": "S", "email": "mary@example.com"}]}
    return save_template(charles.scope, of_draft(draft), charles.actor, Names("Lease", ROLES[:2]))


def csv_of(*people: str, delimiter: str = ",") -> bytes:
    """Return a CSV for one role, in which "Ada Lovelace ada@example.com" is a row."""
    rows = ["First name,Last name,E-mail", *(",".join(person.split()) for person in people)]
    return "\r\n".join(rows).replace(",", delimiter).encode()


def bulk_of(charles: Author, template: Template, content: bytes) -> BulkSend:
    return check_rows(charles.scope, template, charles.member.user, "people.csv", read_csv(content))


def sending(charles: Author) -> Sender:
    return Sender(VISITOR, charles.actor)
