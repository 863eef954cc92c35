"""Who acts, where the activity log tells of it."""

from paraph.api.v1.authentication import ApiRequest
from paraph.server.client_address import client_address
from paraph.tenants.admin_log import Actor
from paraph.tenants.models import ActorKind


def actor(request: ApiRequest) -> Actor:
    return Actor(ActorKind.API, request.scope.application_id, ip=client_address(request))
