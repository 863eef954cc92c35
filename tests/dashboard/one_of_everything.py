"""An organization with one of everything that an address of the dashboard can name."""

import re
from dataclasses import dataclass
from typing import Any

from paraph.documents.models import Document
from paraph.drafts.models import Draft
from paraph.kernel import clock
from paraph.request_templates.models import BulkSend, Template
from paraph.tenants.models import ApiKey, Invitation, Organization, Role
from paraph.webhooks.models import Delivery
from tests.dashboard.conftest import LogIn
from tests.dashboard.matrix import addresses
from tests.dashboard.test_bulk_sends import GOOD, csv
from tests.dashboard.test_request import finished, invited
from tests.dashboard.test_requests import beside
from tests.dashboard.test_templates import kept
from tests.factories import sign
from tests.logos import logo_for
from tests.tenancy import create_application, create_branding_profile
from tests.webhooks.parties import REFUSED, answer_all, told


@dataclass
class Everything:
    organization: Organization
    ids: dict[str, int]
    special: dict[str, dict[str, int]]
    """Ids that differ from the usual ones, by the name of the address."""

    def addresses(self, organization_id: int = 0) -> dict[str, str]:
        """Return each address by its name; with ``organization_id``, that organization's with the ids of this one."""
        return {
            name: f"/app/{self._filled(route, name, organization_id or self.organization.pk)}"
            for name, route in addresses().items()
        }

    def _filled(self, route: str, name: str, organization_id: int) -> str:
        ids = self.ids | self.special.get(name, {}) | {"organization_id": organization_id}
        return re.sub(r"<int:(\w+)>", lambda found: str(ids[found[1]]), route)


def one_of_everything(log_in: LogIn) -> Everything:
    made, _ = told(environment="production", signers=2, mode="sequential", send_email=True)
    invited(made.signers[0])
    done = beside(made, environment="production")
    sign(done)
    finished(done)
    organization = Organization.objects.get(pk=made.request.organization_id)
    _, owner = log_in(Role.OWNER, at=organization)
    other, _ = log_in(Role.OBSERVER, at=organization)
    answer_all(REFUSED, clock.now())
    address = kept(owner, organization)
    owner.post(f"{address}/bulk", {"file": csv(GOOD)})
    owner.post(f"/app/{organization.pk}/members", {"email": "new@example.com", "role": "member"})
    profile = create_branding_profile(organization.pk)
    logo_for(profile)
    draft, application = Draft.objects.get(), made.request.application
    assert application
    ids: dict[str, Any] = {
        "application_id": application.pk,
        "key_id": ApiKey.objects.get(application=application).pk,
        "delivery_id": Delivery.objects.get().pk,
        "profile_id": profile.pk,
        "request_id": made.request.pk,
        "signer_id": made.signers[0].pk,
        "document_id": Document.objects.earliest("pk").pk,
        "number": 1,
        "zoom": 200,
        "draft_id": draft.pk,
        "width": 200,
        "height": 80,
        "member_id": other.pk,
        "invitation_id": Invitation.objects.get().pk,
        "template_id": Template.objects.get().pk,
        "bulk_send_id": BulkSend.objects.get().pk,
    }
    sealed = {"request_id": done.request.pk, "document_id": done.request_documents[0].document_id}
    for_first_call = create_application(organization.pk, "sandbox", "first").application
    special = {
        "first_call": {"application_id": for_first_call.pk},
        "request_proof": sealed,
        "request_everything": sealed,
        "request_file": sealed,
        "signed_stamp": {
            "request_id": done.request.pk,
            "placement_id": done.request_documents[0].placements.earliest("pk").pk,
        },
        "draft_stamp": {"signer_id": int(draft.signers[0].ref)},
        "draft_values": {"signer_id": int(draft.signers[0].ref), "document_id": draft.documents.get().document_id},
    }
    return Everything(organization, ids, special)
