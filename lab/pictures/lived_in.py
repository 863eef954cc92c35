"""An organization of the dashboard in which much has happened."""

from typing import Any

import httpx

from tests.browser.contract import contract
from tests.browser.world import World
from tests.dashboard.served_pages import ServedPages
from tests.scenarios.people import Backend, at, sign, signer


def lived_in(world: World, pages: ServedPages) -> None:
    """Requests of every state in the sandbox and some in production, with long names, from the API; members of every
    role."""
    backend = Backend(world.base_url, world.first_key())
    named = ["--organization", "1", "--environment", "production", "--name", "Rent office"]
    production = Backend(world.base_url, world.command("application", "create", *named)["api_key"])
    long = signer("wolfeschlegelsteinhausenbergerdorff", "Hubert Blaine", "Wolfeschlegelsteinhausenbergerdorff")
    name = "Framework agreement on the maintenance of all lifts, escalators and moving walkways 2026-2031 (final).pdf"
    sealed = asked(backend, contract(2), "Lease Harbour Street 4.pdf", [signer("zoe")])
    signed(backend, sealed)
    for each in (backend, production):
        asked(each, contract(1), name, [signer("ada", "Ada", "King"), long, signer("grace", "Grace", "Hopper")])
        world.expire(int(asked(each, contract(1), "Offer.pdf", [signer("eve", "Eve", "Ode")])["id"]))
    people = [signer("li", "小龍", "李"), signer("deniz", "Deniz", "Öztürk")]
    half = asked(backend, contract(2), "Lease Lindenstraße 12.pdf", people)
    assert sign(half["signers"][0]["signing_url"]).status_code == 200
    refused = asked(backend, contract(2), "Offer Pier 7.pdf", people, decline_allowed=True)
    answer = httpx.post(f"{refused['signers'][0]['signing_url']}/decline", json={"reason": "The rent is wrong."})
    assert answer.status_code == 200
    pages.addresses["request_half"] = f"{pages.base_url}/app/1/requests/{half['id']}"
    pages.addresses["request_declined"] = f"{pages.base_url}/app/1/requests/{refused['id']}"
    pages.addresses["request_sealed"] = f"{pages.base_url}/app/1/requests/{sealed['id']}"
    pages.addresses["verify_sealed"] = f"{pages.base_url}/app/1/requests/{sealed['id']}/verify"
    pages.addresses["requests_found-nothing"] = f"{pages.base_url}/app/1/requests?q=nobody+like+this"
    pages.addresses["requests_wrong-filter"] = f"{pages.base_url}/app/1/requests?created_after=yesterday"
    pages.addresses["not-found"] = f"{pages.base_url}/app/1/requests/999999"
    pages.addresses["organizations_new"] = f"{pages.base_url}/app/new"
    for role in ("admin", "member", "observer"):
        address = f"{role}.with-a-rather-long-name@subsidiary.harbour-homes.example"
        world.command("member", "create", "--organization", "1", "--email", address, "--role", role)


def prepared(world: World, pages: ServedPages) -> None:
    """Drafts that an application prepared: one that lacks much, one that lacks nothing."""
    named = ["--organization", "1", "--environment", "production", "--name", "Rent office assistant"]
    made = world.command("application", "create", *named)
    backend = Backend(world.base_url, made["api_key"])
    whole = asked_for(backend, contract(1), "Lease Harbour Street 6.pdf", [signer("zoe") | {"language": "pt"}])
    set_by_program = {
        "external_id": "harbour/6/2026-117",
        "metadata": {"property": "Harbour Street 6, second floor on the left", "agent": "Desk 4"},
        "redirect_url": "https://harb\u00f6ur-homes.example/leases/117?step=signed",
        "callback_url": "https://hooks.harbour-homes.example/leases/117/of-a-rather-long-address/that-wraps",
        "reminders": {"every_days": 3, "at_most": 4},
        "send_email": True,
    }
    unfinished = whole | {"send_email": False, "signers": [{"ref": "zoe", "first_name": "Zoë"}, {"order": 2}]}
    for name, request in (("draft_prepared", whole | set_by_program), ("draft_prepared-unfinished", unfinished)):
        answer = backend.call("POST", "drafts", json={"signature_request": request}).json()
        pages.addresses[name] = f"{pages.base_url}/app/1/drafts/{answer['id']}/review"


def asked(backend: Backend, pdf: bytes, name: str, people: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return backend.create(**asked_for(backend, pdf, name, people), identity_declaration_accepted=True, **more)


def asked_for(backend: Backend, pdf: bytes, name: str, people: list[dict[str, Any]]) -> dict[str, Any]:
    people = [person | {"order": order} for order, person in enumerate(people, 1)]
    stamps = [{"signer_ref": person["ref"], "stamps": [at(1, 72, 60 + 90 * n)]} for n, person in enumerate(people)]
    document = {"id": backend.upload(pdf, name), "signers": stamps}
    return {"mode": "sequential", "validity_days": 30, "signers": people, "documents": [document]}


def signed(backend: Backend, made: dict[str, Any]) -> None:
    for person in made["signers"]:
        assert sign(person["signing_url"]).status_code == 200
    backend.finalized(int(made["id"]))
