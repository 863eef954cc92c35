"""Whether the service answers (specification 4.10)."""

from ninja import Router

from paraph import __version__
from paraph.api.v1.answers import Answer, answer
from paraph.api.v1.auth import ApiRequest
from paraph.api.v1.openapi import schemas
from paraph.kernel import clock

router = Router(tags=["Service"])


@router.get("", response=schemas.Health, operation_id="readHealth")
def read_health(request: ApiRequest) -> Answer:
    """Tells that the service answers, and which environment the key belongs to."""
    return answer(
        {
            "status": "ok",
            "environment": request.caller.environment,
            "version": __version__,
            "time": clock.iso(clock.now()),
        }
    )
