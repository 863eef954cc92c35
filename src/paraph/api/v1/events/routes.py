"""Events: what webhooks tell, for those who ask (docs/decisions/events.md)."""

import json

from django.http import HttpResponse

from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.events.output import Event, Events
from paraph.api.v1.filters import LATEST, strict
from paraph.api.v1.operation import operation, query
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response
from paraph.audit_trail.models import EventType
from paraph.signature_requests.models import SignatureRequest
from paraph.signature_requests.values import LARGEST_ID
from paraph.tenants.scope import scoped
from paraph.webhooks.event_log import Choice, Cursor, EventPage, ListedEvent, end_of, page_after
from paraph.webhooks.payload import EVENTS, links

_DEFAULT_LIMIT = 50
_LARGEST_LIMIT = 100
_PARAMETERS = (
    query(
        "after",
        "A cursor returned as `next`; `latest` for the end. Without it, from the oldest that are kept.",
        type="string",
        pattern="^(latest|[A-Za-z0-9_-]{22})$",
        examples=[LATEST],
    ),
    query("limit", "How many at most.", type="integer", minimum=1, maximum=_LARGEST_LIMIT, default=_DEFAULT_LIMIT),
    query("event", "Only those of the type.", type="string", enum=list(EVENTS)),
    query(
        "signature_request_id",
        "Only those of the request.",
        type="integer",
        minimum=1,
        maximum=LARGEST_ID,
        format="int64",
    ),
)


@operation(
    "listEvents",
    "GET /events",
    Events,
    "The events behind the cursor.",
    accepts=_PARAMETERS,
    refuses=("not_found", "cursor_expired", "validation_query"),
)
def list_events(request: ApiRequest) -> HttpResponse:
    """List events.

    Lists what webhooks tell of all requests of the key's environment, those sent from the dashboard too, with or
    without a webhook URL, in the order in which it was committed. Go on from `next`: none is missed and none comes
    twice, whatever happens meanwhile. Events are kept for 30 days. With a filter, `next` lies behind what the filter
    leaves out.
    """
    asked, scope = strict(request.GET, *_PARAMETERS), request.scope
    after, about = asked.get("after"), asked.get("signature_request_id")
    if about is not None and not scoped(SignatureRequest, scope).filter(pk=about).exists():
        raise not_found()
    if after == LATEST:
        page = EventPage([], end_of(scope), False)
    else:
        choice = Choice(asked.get("event", ""), about)
        page = page_after(scope, Cursor.read(after) if after else None, choice, asked.get("limit", _DEFAULT_LIMIT))
    return json_response(Events.build(data=_told(page.events), next=str(page.following), has_more=page.has_more))


def _told(events: list[ListedEvent]) -> list[Event]:
    completed = {each.request_id for each in events if each.event_type == EventType.COMPLETED}
    linked = links(completed) if completed else {}
    return [
        Event.build(
            id=each.id,
            **json.loads(each.payload),
            **(linked[each.request_id] if each.event_type == EventType.COMPLETED else {}),
        )
        for each in events
    ]
