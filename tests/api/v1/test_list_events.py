"""GET /events: clients that ask get the events of webhooks, each once and none missed."""

import json
import re
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from procrastinate.contrib.django import app

from paraph.audit_trail.models import Entry
from paraph.flow.housekeeping.retention import delete_files
from paraph.kernel import clock
from paraph.signature_requests.models import SignatureRequest
from paraph.webhooks.event_log import DAYS_KEPT, prune_events
from paraph.webhooks.models import Delivery, Event, EventStream
from paraph.webhooks.outbox import EVENTS, body, release
from tests.api.v1.api_clients import ApiClient, api_client, error, invalid, other_clients
from tests.api.v1.contract import said
from tests.docs.blocks import changed, shape
from tests.factories import Scene, scene, seal_everything
from tests.webhooks.parties import record, told

pytestmark = pytest.mark.django_db

PATH = "/events"


def commit() -> None:
    """Do what the end of a transaction does, because each test here runs within one."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def of(made: Scene) -> ApiClient:
    """A client of the request's organization."""
    return api_client(organization=made.request.organization)


def happened(made: Scene, *event_types: str) -> list[int]:
    """Record these events; return their ids."""
    for event_type in event_types:
        record(made.request, event_type, made.signers[0] if event_type.startswith("signer.") else None)
    commit()
    return list(Entry.objects.order_by("pk").values_list("pk", flat=True))[-len(event_types) :]


def ids(page: Any) -> list[int]:
    assert page.status_code == 200, page.content
    return [each["id"] for each in page.json()["data"]]


def age(days: float, **chosen: Any) -> None:
    moment = clock.now() - timedelta(days=days)
    Event.objects.filter(**chosen).update(published_at=moment)


def test_an_event_is_what_its_webhook_says_with_the_id_of_the_journal() -> None:
    made, _ = told()
    [entry_id] = happened(made, "signer.notified")
    [listed] = of(made).get(PATH).json()["data"]
    assert listed == {"id": entry_id, **json.loads(Delivery.objects.get().payload)}
    assert listed["signer"]["email"] == made.signers[0].email


def test_the_example_of_the_page_is_what_is_answered() -> None:
    made, _ = told()
    record(made.request, "request.completed")
    seal_everything(made.request)
    release(made.request.pk)
    commit()
    [path] = re.findall(r"^GET (/api/v1/events.*)$", changed("docs/webhooks.md", "GET ", {}), re.MULTILINE)
    assert {"after", "limit"} == set(parse_qs(urlsplit(path).query)) and path.startswith(f"/api/v1{PATH}?")
    example = json.loads(changed("docs/webhooks.md", '{"data"', {}))
    answered = of(made).get(PATH, event="request.completed").json()
    assert shape(example) == shape(answered)
    assert of(made).get(PATH, after=answered["next"], limit=100).status_code == 200


@pytest.mark.parametrize("application", [True, False], ids=["without a webhook URL", "sent from the dashboard"])
def test_there_are_events_where_nobody_is_told(application: bool) -> None:
    made = scene(environment="production")
    if not application:
        SignatureRequest.objects.update(application=None)
        made.request.refresh_from_db()
    made_ids = happened(made, "signer.notified", "signer.otp_sent", "signer.signed", "request.expired")
    assert not Delivery.objects.exists()
    client = api_client("pro", "production", made.request.organization)
    assert ids(client.get(PATH)) == made_ids


def test_what_has_no_webhook_is_no_event(made: Scene) -> None:
    happened(made, "request.completion_notified", "signature_request.pades_signed", "signer.signed")
    assert [each["event"] for each in of(made).get(PATH).json()["data"]] == ["signer.signed"]


def test_completion_is_listed_when_it_is_released_with_links_that_end_with_the_files() -> None:
    made, _ = told()
    client = of(made)
    [completed] = happened(made, "request.completed")
    later = happened(made, "signer.notified")
    page = client.get(PATH)
    assert ids(page) == later
    seal_everything(made.request)
    release(made.request.pk)
    release(made.request.pk)
    commit()
    after = client.get(PATH, after=page.json()["next"]).json()
    assert [each["id"] for each in after["data"]] == [completed]
    stored = Delivery.objects.get(event_type="request.completed")
    sent = json.loads(body("request.completed", stored.payload, made.request.pk))
    assert set(after["data"][0]) == {"id", *sent}
    assert after["data"][0]["documents"][0]["signed_url"].partition("?")[0] in sent["documents"][0]["signed_url"]
    assert after["data"][0]["certificate_expires_in"] == 900
    SignatureRequest.objects.update(status="completed", finalized=True)
    assert delete_files(made.request.pk)
    commit()
    [listed] = client.get(PATH, event="request.completed").json()["data"]
    assert (listed["documents"], listed["certificate_url"], listed["certificate_expires_in"]) == ([], None, None)


def test_a_reader_goes_on_from_next(made: Scene) -> None:
    client = of(made)
    made_ids = happened(made, *["signer.notified"] * 7)
    seen, after, more = list[list[int]](), dict[str, str](), True
    while more:
        page = client.get(PATH, limit=3, **after)
        seen.append(ids(page))
        after, more = {"after": page.json()["next"]}, page.json()["has_more"]
    assert seen == [made_ids[:3], made_ids[3:6], made_ids[6:]]
    assert ids(client.get(PATH, **after)) == []
    assert client.get(PATH, **after).json()["next"] == after["after"]
    assert ids(client.get(PATH, limit=3, **after)) == []
    new = happened(made, "signer.signed")
    assert ids(client.get(PATH, **after)) == new


def test_fifty_are_listed_unless_another_limit_is_named(made: Scene) -> None:
    made_ids = happened(made, *["signer.notified"] * 51)
    page = of(made).get(PATH)
    assert ids(page) == made_ids[:50] and page.json()["has_more"]
    assert ids(of(made).get(PATH, limit=100)) == made_ids


def test_latest_is_the_end(made: Scene) -> None:
    """This holds where there are no events, too."""
    client = of(made)
    for event_type in ("signer.notified", "signer.signed"):
        page = client.get(PATH, after="latest").json()
        assert page["data"] == [] and page["has_more"] is False
        assert ids(client.get(PATH, after=page["next"])) == []
        new = happened(made, event_type)
        assert ids(client.get(PATH, after=page["next"])) == new


def test_filters() -> None:
    made, other = scene(), scene()
    SignatureRequest.objects.filter(pk=other.request.pk).update(organization=made.request.organization)
    other.request.refresh_from_db()
    client = of(made)
    [first, signed] = happened(made, "signer.notified", "signer.signed")
    [of_other, expired] = happened(other, "signer.notified", "request.expired")
    assert ids(client.get(PATH, event="signer.notified")) == [first, of_other]
    assert ids(client.get(PATH, signature_request_id=made.request.pk)) == [first, signed]
    both = client.get(PATH, signature_request_id=other.request.pk, event="request.expired")
    assert ids(both) == [expired]
    one = client.get(PATH, event="signer.notified", limit=1)
    assert ids(one) == [first] and one.json()["has_more"]
    assert ids(client.get(PATH, event="signer.notified", after=one.json()["next"])) == [of_other]
    assert both.json()["next"] == client.get(PATH, after="latest").json()["next"]  # past the events left out


def test_others_see_nothing(owner: ApiClient, made: Scene) -> None:
    happened(made, "signer.notified")
    cursor = of(made).get(PATH).json()["next"]
    for name, client in other_clients(of(made)).items():
        assert ids(client.get(PATH)) == [], name
        error(client.get(PATH, signature_request_id=made.request.pk), 404, "not_found")
        error(client.get(PATH, after=cursor), 410, "cursor_expired")


def test_what_is_unreadable_is_named(owner: ApiClient) -> None:
    assert invalid(owner.get(PATH, after="1", limit=500)) == said("listEvents", "validation_query")
    assert said("listEvents", "validation_query").startswith("after must be")
    for query in ({"limit": 0}, {"limit": "x"}, {"event": "signer.created"}, {"signature_request_id": "x"},
                  {"after": ""}, {"after": "A" * 22 + "="}, {"after": "_" * 22}, {"after": "é" * 22},
                  {"limit": [1, 2]}, {"signature_request_id": 2**63}):  # fmt: skip
        message = invalid(owner.get(PATH, **query))
        assert next(iter(query)) in message
    assert ", ".join(EVENTS) in invalid(owner.get(PATH, event="x"))


def test_events_are_kept_for_thirty_days_and_older_cursors_end(made: Scene) -> None:
    client = of(made)
    start = client.get(PATH, after="latest").json()["next"]
    happened(made, "signer.notified")
    first = client.get(PATH).json()["next"]
    [*_, third] = happened(made, "signer.otp_sent", "signer.signed")
    middle = client.get(PATH, after=first, limit=1).json()["next"]
    age(DAYS_KEPT + 0.1, event_type__in=["signer.notified", "signer.otp_sent"])
    age(DAYS_KEPT - 0.1, event_type="signer.signed")
    app.tasks["paraph.flow.jobs.prune_webhooks"].func(timestamp=0)  # as workers do each hour
    assert prune_events(clock.now()) == 0
    assert ids(client.get(PATH)) == [third]
    assert ids(client.get(PATH, after=middle)) == [third]  # all later events are there
    for old in (start, first):
        assert error(client.get(PATH, after=old), 410, "cursor_expired") == said("listEvents", "cursor_expired")


def test_a_reader_of_a_quiet_environment_has_missed_nothing(made: Scene) -> None:
    client = of(made)
    happened(made, "signer.notified")
    cursor = client.get(PATH).json()["next"]
    age(DAYS_KEPT + 1)
    assert prune_events(clock.now()) == 1 and EventStream.objects.get().position == 1
    assert ids(client.get(PATH, after=cursor)) == [] and ids(client.get(PATH)) == []
    assert ids(client.get(PATH, after=cursor)) == [] and client.get(PATH).json()["next"] == cursor
    new = happened(made, "signer.signed")
    assert ids(client.get(PATH, after=cursor)) == new


def test_a_cursor_of_what_a_restored_database_lacks_ends(made: Scene) -> None:
    """A restored database gives the same positions to other events."""
    client = of(made)
    happened(made, "signer.notified")
    Event.objects.all().delete()
    EventStream.objects.all().delete()
    lost = "AAAAAAAAAAEABlcSrHJAAA"
    error(client.get(PATH, after=lost), 410, "cursor_expired")
    happened(made, "signer.signed")
    error(client.get(PATH, after=lost), 410, "cursor_expired")
