"""Whether the service answers (rule 4.10)."""

from typing import Literal

from django.http import HttpResponse
from pydantic import Field

from paraph import __version__
from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.operation import operation
from paraph.api.v1.responses import json_response
from paraph.api.v1.shapes import Output, Timestamp
from paraph.kernel import clock


class Health(Output):
    """The service answers."""

    status: Literal["ok"] = Field(description="Always `ok`: whoever reads it was answered.")
    environment: Literal["sandbox", "production"] = Field(description="The environment that the key belongs to.")
    version: str = Field(min_length=1, description="Version of the service.", examples=["0.1.0"])
    time: Timestamp = Field(description="The service's clock, in UTC.")


@operation("readHealth", "GET /health", Health, "It answers.")
def read_health(request: ApiRequest) -> HttpResponse:
    """Ask whether the service answers.

    Tells that the service answers, and which environment the key belongs to. Counts as a call.
    """
    return json_response(
        Health.build(
            status="ok",
            environment=request.scope.environment,
            version=__version__,
            time=clock.iso(clock.now()),
        )
    )
