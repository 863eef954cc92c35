"""What a request may be given of its creator's own: ``external_id``, ``metadata``, ``reminders``, ``redirect_url``."""

import json
from typing import Any

from paraph.flow.ending import end_early
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.admin_log import OPERATOR
from paraph.webhooks.models import Delivery
from tests.api.v1.api_clients import ApiClient, api_client, invalid, made, other_clients, payload

METADATA = {"property": "Lime Street 4", "a.b-c_D9": "", "unit": "3 é"}


def created(owner: ApiClient, **changes: Any) -> dict[str, Any]:
    return made(owner.create(payload(owner.document(), **changes)))


def refused(owner: ApiClient, **changes: Any) -> str:
    message = invalid(owner.create(payload(owner.document(), **changes)))
    assert not SignatureRequest.objects.exists()
    return message


def test_every_answer_has_what_was_given(owner: ApiClient) -> None:
    answer = created(owner, external_id="lease-4711", metadata=METADATA)
    read = owner.get(f"/signature_requests/{answer['id']}").json()
    [listed] = owner.get("/signature_requests").json()["data"]
    for each in (answer, read, listed):
        assert (each["external_id"], each["metadata"]) == ("lease-4711", METADATA)


def test_without_any_they_are_empty_and_there_is_a_longest(owner: ApiClient) -> None:
    longest = {f"{number:0>40}": "x" * 500 for number in range(50)}
    cases: list[tuple[dict[str, Any], Any, dict[str, str]]] = [
        ({}, None, {}),
        ({"external_id": None, "metadata": None}, None, {}),
        ({"metadata": {}}, None, {}),
        ({"external_id": "e" * 200, "metadata": longest}, "e" * 200, longest),
    ]
    for given, external_id, metadata in cases:
        answer = created(owner, **given)
        assert (answer["external_id"], answer["metadata"]) == (external_id, metadata)


def test_bounds(owner: ApiClient) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"external_id": ""}, "external_id: it must not be empty."),
        ({"external_id": "e" * 201}, "external_id: it must have at most 200 characters."),
        ({"external_id": 4711}, "external_id: it must be a string."),
        ({"metadata": "x"}, "metadata: it must be an object."),
        ({"metadata": {str(each): "" for each in range(51)}}, "metadata: it must have at most 50 keys, not 51."),
        ({"metadata": {"a b": "x"}}, "metadata: the key “a b” must have 1 to 40 characters from A-Z, a-z, 0-9, "),
        ({"metadata": {"": "x"}}, "metadata: the key “” must have 1 to 40 characters"),
        ({"metadata": {"k" * 41: "x"}}, f"metadata: the key “{'k' * 41}” must have 1 to 40 characters"),
        ({"metadata": {"\ud800": "x"}}, "metadata: the key “?” must have 1 to 40 characters"),
        ({"metadata": {"a\n": "x"}}, "must have 1 to 40 characters"),
        ({"metadata": {"a": 1}}, "metadata: the value of “a” must be a string."),
        ({"metadata": {"a": None}}, "metadata: the value of “a” must be a string."),
        ({"metadata": {"a": "x" * 501}}, "metadata: the value of “a” must have at most 500 characters, not 501."),
        (
            {"metadata": {"a": "\0"}},
            "metadata: the value of “a” must not contain control characters or lone surrogates.",
        ),
        (
            {"metadata": {"a": 1, "b": "\ud800"}},
            "metadata: the value of “a” must be a string. the value of “b” must not contain control characters",
        ),
    ]
    for changes, sentence in cases:
        assert sentence in refused(owner, **changes)


def test_the_list_is_filtered_by_it_verbatim(owner: ApiClient) -> None:
    ids = [created(owner, external_id=each)["id"] for each in ("a", "b", "A", "a")]
    created(owner)

    def found(**query: Any) -> list[int]:
        answer = owner.get("/signature_requests", **query).json()
        listed = [each["id"] for each in answer["data"]]
        assert answer["pagination"]["count"] == len(listed) or "limit" in query
        return listed

    assert found(external_id="a") == [ids[0], ids[3]]
    assert found(external_id="a", order="desc") == [ids[3], ids[0]]
    assert found(external_id="a", limit=1, page=2) == [ids[3]]
    assert found(external_id="a", status="completed") == found(external_id="c") == []
    assert found(external_id="a", created_after="2001-01-01") == [ids[0], ids[3]]
    for name, other in other_clients(owner).items():
        assert other.get("/signature_requests", external_id="a").json()["data"] == [], name


def test_a_filter_that_nothing_could_have(owner: ApiClient) -> None:
    for value in ("", " ", "e" * 201, "a\0"):
        message = invalid(owner.get("/signature_requests", external_id=value))
        assert message.startswith("external_id must be a text of 1 to 200 characters, not “")


def test_webhooks_have_them_where_they_were_given(owner: ApiClient) -> None:
    given = created(owner, external_id="lease-4711", metadata=METADATA)["id"]
    bare = created(owner)["id"]
    for request_id in (given, bare):
        end_early(OPERATOR, request_id, "Signed on paper.")
    told = {row.request_id: json.loads(row.payload) for row in Delivery.objects.all()}
    shared = {"status": "expired", "mode": "sequential"}
    assert told[given]["signature_request"] == {
        "id": given,
        **shared,
        "external_id": "lease-4711",
        "metadata": METADATA,
    }
    assert told[bare]["signature_request"] == {"id": bare, **shared}
    assert told[given]["metadata"] == told[bare]["metadata"] == {"ended_early": True, "reason": "Signed on paper."}


MAILS = {"send_email": True, "identity_declaration_accepted": True}


def test_reminders_are_answered_as_given(owner: ApiClient) -> None:
    answer = created(owner, **MAILS, reminders={"every_days": 30, "at_most": 10})
    assert answer["reminders"] == {"every_days": 30, "at_most": 10}
    assert owner.get(f"/signature_requests/{answer['id']}").json()["reminders"] == answer["reminders"]
    assert created(owner, **MAILS, reminders=None)["reminders"] is None


def test_reminders_have_bounds(owner: ApiClient) -> None:
    cases: list[tuple[Any, str]] = [
        ({"every_days": 0, "at_most": 1}, "reminders.every_days: it must be from 1 to 30, not 0."),
        ({"every_days": 31, "at_most": 1}, "reminders.every_days: it must be from 1 to 30, not 31."),
        ({"every_days": 1, "at_most": 11}, "reminders.at_most: it must be from 1 to 10, not 11."),
        ({"every_days": 1.5, "at_most": 1}, "reminders.every_days: it must be an integer."),
        ({"every_days": 1}, "reminders.at_most: it is required."),
        ([], "reminders: it must be an object."),
    ]
    for reminders, sentence in cases:
        assert refused(owner, **MAILS, reminders=reminders) == sentence


def test_reminders_need_mails(owner: ApiClient) -> None:
    message = refused(owner, reminders={"every_days": 3, "at_most": 5})
    assert message == "reminders: send_email must be true where signers are to be reminded."


PAGE = "https://example.com/done?x=1#top"


def test_where_signers_may_go_on(owner: ApiClient) -> None:
    answer = created(owner, redirect_url=PAGE)
    assert answer["redirect_url"] == owner.get(f"/signature_requests/{answer['id']}").json()["redirect_url"] == PAGE
    assert created(owner)["redirect_url"] is None
    assert created(owner, redirect_url="http://localhost:3000/done")["redirect_url"] == "http://localhost:3000/done"


def test_a_page_is_an_https_address(owner: ApiClient) -> None:
    cases: list[tuple[Any, str]] = [
        ("http://example.com/", "redirect_url: “http://example.com/” is not an https address."),
        ("http://localhost.example.com/", "redirect_url: “http://localhost.example.com/” is not an https address."),
        ("http://localhost:99999/", "redirect_url: “http://localhost:99999/” is not the address of a page."),
        ("http://localhost@example.com/", "redirect_url: “http://localhost@example.com/” is not an https address."),
        ("https://ada@example.com/", "redirect_url: “https://ada@example.com/” cannot be called: it needs a host, "),
        ("javascript:alert(1)", "redirect_url: “javascript:alert(1)” is not an https address."),
        ("https://", "redirect_url: “https://” is not an https address."),
        ("https://example.com/" + "x" * 2000, "redirect_url: it must have at most 2000 characters."),
        (7, "redirect_url: it must be a string."),
    ]
    for address, sentence in cases:
        assert refused(owner, redirect_url=address).startswith(sentence)


def test_in_production_localhost_is_no_place_to_go_on(db: None) -> None:
    owner = api_client(environment="production")
    message = refused(owner, redirect_url="http://LOCALHOST/")
    assert message == "redirect_url: it must be an https address in production."
    assert created(owner, redirect_url=PAGE)["redirect_url"] == PAGE
