"""One of the organization's requests, of either environment."""

from django.http import Http404

from paraph.dashboard.decorators import scope
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Environment, Member
from paraph.tenants.scope import TenantScope, scoped


def own_request(member: Member, request_id: int) -> tuple[TenantScope, SignatureRequest]:
    """Return the request, and the organization in its environment. Raise ``Http404``."""
    for environment in Environment:
        asking = scope(member, environment)
        rows = scoped(SignatureRequest, asking).select_related("application", "sent_by")
        if found := rows.filter(pk=request_id).first():
            return asking, found
    raise Http404
