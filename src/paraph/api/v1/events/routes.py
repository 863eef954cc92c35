"""Events: what webhooks tell, for those who ask (docs/decisions/events.md)."""

import json

from django.http import HttpResponse

from paraph.api.v1.authentication import ApiRequest
from paraph.api.v1.endpoint import takes
from paraph.api.v1.events.output import Event, Events
from paraph.api.v1.events.query import PARAMETERS, event_query
from paraph.api.v1.problems import not_found
from paraph.api.v1.responses import json_response
from paraph.audit_trail.models import EventType
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.scope import scoped
from paraph.webhooks.event_log import EventPage, ListedEvent, end_of, page_after
from paraph.webhooks.payload import links


@takes(*PARAMETERS)
def list_events(request: ApiRequest) -> HttpResponse:
    """List the events of the key's environment behind a cursor."""
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
