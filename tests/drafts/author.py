"""A member with a draft that is ready to be sent, and drafts that ask something of their signers."""

from dataclasses import dataclass
from typing import Any

from paraph.documents.models import Document
from paraph.drafts import editing
from paraph.drafts.content import signer_of
from paraph.drafts.models import Draft, Placed
from paraph.flow.sending.create import Sender
from paraph.flow.sending.drafts import send_draft
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import ActorKind, Member, Role, User
from paraph.tenants.scope import TenantScope
from tests.api.v1.api_clients import CONTRACT
from tests.factories import VISITOR, uploaded
from tests.tenancy import create_organization

IBAN = {"name": "IBAN", "type": "text", "required": True, "max_length": 34}
PETS = {"name": "Pets", "type": "choice", "options": ["None", "A cat"], "required": False}
SIGNED_ON = {"name": "Date", "type": "signed_on"}
PLACE: dict[str, Any] = {"page_number": 1, "x": 60, "y": 500, "width": 160, "height": 18}
_LAST = {"Ada": "Lovelace", "Grace": "Hopper", "Alan": "Turing"}


@dataclass
class Author:
    member: Member
    scope: TenantScope

    @property
    def actor(self) -> Actor:
        return Actor(ActorKind.MEMBER, self.member.user_id, self.member.user.email, "203.0.113.5")

    def document(self, content: bytes = CONTRACT, name: str = "contract.pdf") -> Document:
        return uploaded(self.scope, content, name)

    def begun(self, document: Document, *names: str) -> Draft:
        """Return a draft of the document with signers of these first names, and no place for them."""
        draft = editing.begin(self.scope, self.member.user, [document.pk])
        people = [
            {"first_name": name, "last_name": _LAST.get(name, "X"), "email": f"{name.lower()}@example.com"}
            for name in names
        ]
        editing.replace_signers(draft, [signer_of(each) for each in people])
        return draft

    def draft(self, *, signers: int = 1) -> Draft:
        """Return a draft of one document, with a stamp on it for each signer."""
        draft = self.begun(self.document(), *list(_LAST)[:signers])
        [document] = draft.files()
        stamps = [
            Placed(document, signer, page_number=2, x=50, y=50 + 100 * signer.position, width=200, height=80)
            for signer in draft.signers
        ]
        editing.replace_places(draft, stamps)
        return draft

    def send(self, draft: Draft) -> int:
        return send_draft(self.scope, draft.pk, Sender(VISITOR, self.actor))


def author(plan: str = "pro") -> Author:
    organization = create_organization("Analytical Engines", plan)
    user = User.objects.create(email=f"charles-{organization.pk}@example.com")
    member = Member.objects.create(organization=organization, user=user, role=Role.MEMBER)
    return Author(member, TenantScope(organization.pk, "production", plan, None))


def asking(charles: Author, *contents: dict[str, Any], signers: int = 1) -> Draft:
    """Return a draft of one document that asks its first signer for these fields, one under the other."""
    draft = charles.draft(signers=signers)
    [document], signer = draft.files(), draft.signers[0]
    fields = [
        Placed(document, signer, **PLACE | {"y": 500 - 30 * number}, field=content)
        for number, content in enumerate(contents)
    ]
    editing.replace_places(draft, [*draft.places(), *fields])
    return draft
