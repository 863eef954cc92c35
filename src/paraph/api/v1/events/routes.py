"""Events: what webhooks tell, for those who ask (docs/decisions/events.md)."""

import json

from django.http import HttpResponse

from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.events.output import Event, Events
from paraph.api.v1.events.query import PARAMETERS, event_query
from paraph.api.v1.operation import operation
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response
from paraph.audit_trail.models import EventType
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.scope import scoped
from paraph.webhooks.event_log import EventPage, ListedEvent, end_of, page_after
from paraph.webhooks.payload import links


@operation(
    "listEvents",
    "GET /events",
    Events,
    "The events behind the cursor.",
    accepts=PARAMETERS,
    refuses=("not_found", "cursor_expired", "validation_query"),
)
def list_events(request: ApiRequest) -> HttpResponse:
    """List events.

    Lists what webhooks tell of all requests of the key's environment, those sent from the dashboard too, with or
    without a webhook URL, in the order in which it was committed. Go on from `next`: none is missed and none comes
    twice, whatever happens meanwhile. Events are kept for 30 days. With a filter, `next` lies behind what the filter
    leaves out.
    """
    asked, scope = event_query(request.GET), request.scope
    about = asked.choice.request_id
    if about is not None and not scoped(SignatureRequest, scope).filter(pk=about).exists():
        raise not_found()
    page = (
        EventPage([], end_of(scope), False)
        if asked.latest
        else page_after(scope, asked.after, asked.choice, asked.limit)
    )
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
