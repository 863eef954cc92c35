"""What a new organization does first, and what of it is done."""

from collections import Counter
from typing import NamedTuple

from django.utils.translation import gettext as _

from paraph.signature_requests.models import RequestStatus
from paraph.tenants.models import Application, Member
from paraph.tenants.rights import Right, may


class Step(NamedTuple):
    """``address`` is the name of the page where it is done."""

    label: str
    address: str
    is_done: bool


def first_steps(member: Member, requests: Counter[str]) -> list[Step]:
    """Return the steps that this member can take; none once all are done. ``requests`` counts them by status."""
    organization = member.organization
    steps = []
    if may(member.role, Right.SEND):
        steps.append(Step(_("Send a request to yourself as a test"), "requests", requests.total() > 0))
        steps.append(Step(_("Get one signed and sealed"), "requests", requests[RequestStatus.COMPLETED] > 0))
    if may(member.role, Right.INVITE):
        others = organization.members.exclude(pk=member.pk).exists()
        steps.append(Step(_("Invite a colleague"), "members", others))
        steps.append(Step(_("Set a contact for signers' questions"), "settings", bool(organization.contact_email)))
    if may(member.role, Right.BUILD):
        made = Application.objects.filter(organization=organization).exists()
        steps.append(Step(_("Create an application to use the API"), "applications", made))
    return [] if all(step.is_done for step in steps) else steps
