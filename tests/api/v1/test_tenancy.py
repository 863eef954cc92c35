"""Nobody sees what belongs to another organization or environment (rule 5.1): 404, never 403.

Every route of the OpenAPI document is walked, and a route that this file does not know fails it.
"""

import json
import re
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from paraph.audit_trail.models import Entry
from paraph.documents.models import Document
from paraph.flow.sending.invite import invite
from paraph.idempotency.models import IdempotencyKey
from paraph.signature_requests.models import SignatureRequest
from tests.api.v1 import contract
from tests.api.v1.api_clients import (
    REPLAYED,
    ApiClient,
    api_client,
    branding_profile,
    error,
    invalid,
    keyed,
    other_clients,
    payload,
)

BY_ID = {
    "GET /documents/{document_id}",
    "GET /documents/{document_id}/tags",
    "GET /signature_requests/{request_id}",
    "GET /signature_requests/{signature_request_id}/audit_logs",
    "GET /templates/{template_id}",
}
ELSEWHERE = {
    "GET /events",  # test_list_events.py
    "GET /drafts/{draft_id}",  # test_drafts.py
    "GET /signature_requests/{request_id}/evidence",  # test_read_signature_request.py
}
PEOPLE = [
    {"role": "ada", "first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com"},
    {"role": "grace", "first_name": "Grace", "last_name": "Hopper", "email": "grace@example.com"},
]
ACTS: dict[str, Any] = {
    "POST /signature_requests/{request_id}/end": {"reason": "Signed on paper."},
    "POST /signature_requests/{request_id}/signers/{signer_id}/remind": {},
    "POST /signature_requests/{request_id}/signers/{signer_id}/correct": {"last_name": "Byron"},
    "POST /signature_requests/{request_id}/extend": {"validity_days": 90},
    "POST /templates/{template_id}/signature_requests": {"signature_request": {"signers": PEOPLE}},
    "DELETE /templates/{template_id}": {},
}
"""Each act, with a body that it takes."""
OTHER_CONTENT: dict[str, Any] = {
    "end": {"reason": "Another."},
    "correct": {"last_name": "King"},
    "extend": {"validity_days": 89},
}
OTHER_CONTENT["sign"] = {"signature": {"type": "typed", "hand": 2}}
LISTS = {"GET /documents", "GET /signature_requests", "GET /templates"}
_OF_SIGNER = "POST /sandbox/signature_requests/{request_id}/signers/{signer_id}"
SANDBOX_ACTS = {f"{_OF_SIGNER}/sign", f"{_OF_SIGNER}/decline", "POST /sandbox/signature_requests/{request_id}/expire"}
SHARED_LISTS = {"GET /branding_profiles"}  # shared by all environments of the organization
MAKING = {"POST /documents", "POST /signature_requests", "POST /signature_requests/preview"}
MAKING |= {"POST /templates", "POST /drafts"}
OF_NOBODY = {"GET /health"}  # test_endpoint.py
STRANGERS = ["other organization", "other environment", "both"]
NOBODYS = 2**40
QUERIES: list[dict[str, Any]] = [{}, {"page": 1, "limit": 100}, {"order": "desc"}]
QUERIES.append({"created_after": "2000-01-01", "created_before": "2100-01-01"})


@dataclass
class World:
    """The owner and the strangers; ``ids``: those of the owner's rows, by their names in paths."""

    owner: ApiClient
    strangers: dict[str, ApiClient]
    ids: dict[str, int]

    def path(self, route: str, ids: dict[str, int] | None = None) -> str:
        return route.partition(" ")[2].format(**(self.ids if ids is None else ids))

    def act(self, route: str, client: ApiClient, path: str) -> Any:
        return client.send(route.partition(" ")[0], path, json.dumps(ACTS.get(route, {})).encode())

    def nobodys(self, route: str) -> str:
        return self.path(route, dict.fromkeys(self.ids, NOBODYS))


@pytest.fixture
def world(owner: ApiClient) -> World:
    document = owner.document()
    profile = branding_profile(owner).pk
    wanted = payload(document, branding_profile_id=profile, send_email=True, identity_declaration_accepted=True)
    created = owner.create(wanted).json()
    request, signer = created["id"], created["signers"][0]["id"]
    invite(signer)
    SignatureRequest.objects.update(decline_allowed=True)
    strangers = {**other_clients(owner), "both": api_client("enterprise", "production")}
    template = owner.post("/templates", {"template": as_template(payload(document))}).json()["id"]
    ids = {"document_id": document, "request_id": request, "signature_request_id": request, "profile_id": profile}
    ids |= {"signer_id": signer, "template_id": template}
    return World(owner, strangers, ids)


def as_template(request: dict[str, Any]) -> dict[str, Any]:
    """Return the request as a template, with a role in the place of each signer."""
    roles = [{"name": signer["ref"]} for signer in request.pop("signers")]
    for document in request["documents"]:
        placed = document.pop("signers")
        document["roles"] = [{"role": each["signer_ref"], "stamps": each["stamps"]} for each in placed]
    return {"name": "Contract", "roles": roles, **request}


def routes() -> set[str]:
    return {f"{method} {path.removeprefix('/api/v1')}" for method, path, _ in contract.operations()}


def test_every_route_is_walked_by_one_of_the_tests_below() -> None:
    known = [BY_ID, ELSEWHERE, set(ACTS), SANDBOX_ACTS, LISTS, SHARED_LISTS, MAKING, OF_NOBODY]
    assert routes() == set.union(*known)
    assert sum(map(len, known)) == len(routes())
    with_ids = BY_ID | ELSEWHERE | set(ACTS) | SANDBOX_ACTS
    assert {route for route in routes() if "{" in route} == with_ids - {"GET /events"}


def test_foreign_ids_are_404(world: World) -> None:
    """The words are those that an unknown id gets."""
    for route in sorted(BY_ID):
        assert world.owner.get(world.path(route)).status_code == 200
        for name, stranger in world.strangers.items():
            foreign, nobodys = stranger.get(world.path(route)), stranger.get(world.nobodys(route))
            assert error(foreign, 404, "not_found") == error(nobodys, 404, "not_found"), name
            assert stranger.send("HEAD", world.path(route)).status_code == 404, name


def test_nothing_foreign_is_acted_on(world: World) -> None:
    """This holds with an idempotency key as without one."""
    before = [world.owner.get(kept).json() for kept in ("/signature_requests", "/templates")]
    for route, stranger in product(sorted(ACTS), world.strangers.values()):
        for caller in (stranger, keyed(stranger, "one")):
            foreign, nobodys = (world.act(route, caller, path) for path in (world.path(route), world.nobodys(route)))
            assert error(foreign, 404, "not_found") == error(nobodys, 404, "not_found"), route
    assert [world.owner.get(kept).json() for kept in ("/signature_requests", "/templates")] == before


def test_a_signer_of_another_request_is_404(world: World) -> None:
    another = world.owner.create(payload(world.owner.document())).json()["id"]
    before = world.owner.get("/signature_requests").json()
    for route in sorted(route for route in {*ACTS, *SANDBOX_ACTS} if "{signer_id}" in route):
        mixed = world.path(route, world.ids | {"request_id": another})
        error(world.act(route, world.owner, mixed), 404, "not_found")
    assert world.owner.get("/signature_requests").json() == before


@pytest.mark.parametrize("route", sorted({*ACTS, *SANDBOX_ACTS} - {"DELETE /templates/{template_id}"}))
def test_an_act_that_is_sent_again_is_done_once(world: World, route: str) -> None:
    calls, path = keyed(world.owner, "one"), world.path(route)
    first, entries = world.act(route, calls, path), Entry.objects.count()
    again = world.act(route, calls, path)
    assert first.status_code == again.status_code and first.json() == again.json()
    assert REPLAYED not in first and again[REPLAYED] == "true" and Entry.objects.count() == entries
    if other := OTHER_CONTENT.get(path.rpartition("/")[2]):
        error(calls.post(path, other), 422, "idempotency_key_reused")
    assert IdempotencyKey.objects.count() == 1


def test_lists_hold_nothing_foreign(world: World) -> None:
    for route in sorted(LISTS):
        for query, name in product(QUERIES, STRANGERS):
            assert world.owner.get(world.path(route), **query).json()["pagination"]["count"] == 1, query
            content = world.strangers[name].get(world.path(route), **query).json()
            assert content["data"] == [], (query, name)
            assert (content["pagination"]["count"], content["pagination"]["pages"]) == (0, 0), (query, name)


def test_foreign_acts_are_404(world: World) -> None:
    """The words are those that an unknown id gets; production is told that it has no acts, whatever the id."""
    before = world.owner.get("/signature_requests").json()
    for route in sorted(SANDBOX_ACTS):
        paths = (world.path(route), world.nobodys(route))
        sandbox, *live = (world.strangers[name] for name in STRANGERS)
        assert len({error(sandbox.send("POST", path), 404, "not_found") for path in paths}) == 1
        told = {error(each.send("POST", path), 403, "sandbox_only") for each in live for path in paths}
        assert len(told) == 1
    assert world.owner.get("/signature_requests").json() == before


def test_shared_lists_are_the_organizations(world: World) -> None:
    for stranger, count in (("other organization", 0), ("other environment", 1), ("both", 0)):
        for route in sorted(SHARED_LISTS):
            assert len(world.strangers[stranger].get(world.path(route)).json()["data"]) == count


def test_nobody_builds_on_a_foreign_document(world: World) -> None:
    """The refusal is that of a document that does not exist."""
    for stranger in STRANGERS:
        scope, document = world.strangers[stranger], world.ids["document_id"]
        foreign = invalid(scope.create(payload(document)))
        nobodys = invalid(scope.create(payload(NOBODYS)))
        [seen] = scope.post("/signature_requests/preview", {"signature_request": payload(document)}).json()["problems"]
        assert f"{seen['path']}: {seen['message']}" == foreign
        assert foreign == f"documents[0].id: there is no document {document} in this environment."
        assert foreign.replace(str(document), str(NOBODYS)) == nobodys
        template = {"template": as_template(payload(document))}
        assert invalid(scope.post("/templates", template)) == foreign
        assert SignatureRequest.objects.count() == 1


def test_nobody_applies_a_foreign_profile(world: World) -> None:
    for stranger in ["other organization", "both"]:
        scope, profile = world.strangers[stranger], world.ids["profile_id"]
        content = payload(scope.document(), branding_profile_id=profile)
        message = invalid(scope.create(content))
        assert message == f"branding_profile_id: {profile} is not a branding profile of your organization."


@pytest.mark.parametrize("stranger", STRANGERS)
def test_what_is_made_belongs_to_its_maker_alone(world: World, stranger: str) -> None:
    """This holds whatever the body says of organizations and environments."""
    scope = world.strangers[stranger]
    document = scope.document()
    claimed = {"organization_id": 1, "environment": "sandbox", "application_id": 1}
    request = scope.create(payload(document, **claimed)).json()["id"]
    for row in (Document.objects.get(pk=document), SignatureRequest.objects.get(pk=request)):
        assert row.organization == scope.organization
        assert row.environment == ("sandbox" if stranger == "other organization" else "production")
    error(world.owner.get(f"/documents/{document}"), 404, "not_found")
    error(world.owner.get(f"/signature_requests/{request}"), 404, "not_found")
    for route, made in (("/documents", document), ("/signature_requests", request)):
        mine, theirs = (one.get(route).json() for one in (scope, world.owner))
        assert [entry["id"] for entry in mine["data"]] == [made]
        assert mine["pagination"]["count"] == theirs["pagination"]["count"] == 1
        assert [entry["id"] for entry in theirs["data"]] != [made]


def test_the_numbers_of_paths_are_all_known() -> None:
    names = {name for route in routes() for name in re.findall(r"\{(\w+)\}", route)}
    assert names == {*("document_id", "request_id", "signature_request_id", "signer_id"), *("template_id", "draft_id")}
