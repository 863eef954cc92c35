"""The operations of the API in the order in which the OpenAPI document lists them, and where they are answered."""

from collections.abc import Iterator
from typing import Literal

from django.http import HttpResponse
from django.urls import URLPattern, path
from pydantic import Field

from paraph import __version__
from paraph.api.v1 import (
    audit_logs,
    branding_profiles,
    documents,
    drafts,
    events,
    sandbox_acts,
    sent_requests,
    signature_requests,
    templates,
)
from paraph.api.v1.endpoint import ApiRequest, Operation, endpoint, json_response, operation
from paraph.api.v1.shapes import Output, Timestamp
from paraph.kernel import clock


class Health(Output):
    """The service is up."""

    status: Literal["ok"] = Field(description="Always `ok`: whoever reads it was answered.")
    environment: Literal["sandbox", "production"] = Field(description="The environment that the key belongs to.")
    version: str = Field(min_length=1, description="Version of the service.", examples=["0.1.0"])
    time: Timestamp = Field(description="The service's clock, in UTC.")


@operation("readHealth", "GET /health", Health, "OK")
def read_health(request: ApiRequest) -> HttpResponse:
    """Health check.

    Tells that the service is up, and which environment the key belongs to. Counts as a call.
    """
    return json_response(
        Health.build(
            status="ok", environment=request.scope.environment, version=__version__, time=clock.iso(clock.now())
        )
    )


_MODULES = (
    *(documents, signature_requests, sent_requests, audit_logs, templates),
    *(drafts, events, branding_profiles, sandbox_acts),
)
OPERATIONS: list[Operation] = [
    *(each for module in _MODULES for each in vars(module).values() if isinstance(each, Operation)),
    read_health,
]


def routes() -> Iterator[URLPattern]:
    """Yield a route for each path, with the view of its operations."""
    by_path: dict[str, dict[str, Operation]] = {}
    for each in OPERATIONS:
        by_path.setdefault(each.path, {})[each.method] = each
    for address, methods in by_path.items():
        route = address.replace("{", "<int:").replace("}", ">")
        yield path(f"api/v1{route}", endpoint(**methods))
