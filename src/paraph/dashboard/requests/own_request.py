"""One of the organization's requests, of either environment."""

from django.http import Http404

from paraph.dashboard.door import caller
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import Caller, scoped


def own_request(member: Member, request_id: int) -> tuple[Caller, SignatureRequest]:
    """The request, and the organization in its environment. Raises ``Http404``."""
    for environment in Environment:
        asking = caller(member, environment)
        rows = scoped(SignatureRequest, asking).select_related("application", "sent_by")
        if found := rows.filter(pk=request_id).first():
            return asking, found
    raise Http404
