"""A signer who is there signs on a member's device, in a page that shows nothing else of the dashboard."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from paraph.kernel import clock
from paraph.signature_requests.links import in_person_ticket
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.members import Right, may
from paraph.tenants.models import Activity, Member, Organization, Role, User
from tests.dashboard.conftest import just_logged_in, scene
from tests.factories import Scene
from tests.tenancy import create_organization

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Scene:
    return scene(signers=2, mode="sequential")


@pytest.fixture
def client(made: Scene) -> Client:
    return just_logged_in(made.request.organization, Role.MEMBER)


def text(response: Any) -> str:
    return unescape(response.content.decode())


def here(client: Client, made: Scene, position: int = 0) -> Any:
    page = f"/app/{made.request.organization_id}/requests/{made.request.pk}"
    return client.post(f"{page}/signers/{made.signers[position].pk}/here")


def opened(client: Client, made: Scene) -> str:
    """The address of the page on the member's device."""
    answer = here(client, made)
    assert answer.status_code == 303
    return str(answer["Location"])


def test_the_request_offers_it_to_whose_turn_it_is(made: Scene, client: Client) -> None:
    page = text(client.get(f"/app/{made.request.organization_id}/requests/{made.request.pk}"))
    assert (
        f'id="here-{made.signers[0].pk}">Let them sign on this device' in page
        and f'id="here-{made.signers[1].pk}"' not in page
    )
    observer = just_logged_in(made.request.organization, Role.OBSERVER)
    assert "on this device" not in text(observer.get(f"/app/{made.request.organization_id}/requests/{made.request.pk}"))


def test_the_page_says_whose_turn_it_is_and_nothing_of_the_dashboard(made: Scene, client: Client) -> None:
    address = opened(client, made)
    assert address.startswith(made.url())
    page = text(client.get(address))
    assert "It’s Ada Lovelace’s turn" in page and "/app/" not in page
    assert Activity.objects.latest("pk").action == "signing_link.shown"
    assert "Please hand over this device" not in text(client.get(made.url()))
    assert "Please hand over this device" in text(client.post(address, {"lang": "en"}))


def test_a_signature_without_scripts_is_journaled_and_ends_by_giving_the_device_back(
    made: Scene, client: Client
) -> None:
    address = opened(client, made)
    form = re.search(r'<form id="form" method="post" action="([^"#]+)#', text(client.get(address)))
    assert form
    answer = Client().post(form.group(1), {"do": "sign", "code": made.code(), "consent": "on"})
    assert answer.status_code == 303
    facts = made.entries()[-1].metadata
    assert (facts["in_person"], facts["member_id"]) == (True, Member.objects.get().pk)
    last = text(Client().get(answer["Location"]))
    assert "Please give this device back to Acme Ltd" in last and "You have signed" in last
    main = last.split("<main")[1].split("</main>")[0]
    assert "<a" not in main and "<form" not in main and "/app/" not in last and "progress.js" not in last


def test_who_declines_there_gives_the_device_back_too(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(decline_allowed=True)
    Organization.objects.update(contact_email="questions@acme.example")
    asks = f'href="{made.url(rest="/ask")}'
    assert asks in text(client.get(made.url()))
    for address in (opened(client, made), f"{opened(client, made)}&lang=de"):
        page = text(client.get(address))
        link = re.search(r'href="([^"]+/decline)"', page)
        assert link and asks not in page
    assert link
    form = re.search(r'method="post" action="([^"]+)"', text(Client().get(link.group(1))))
    assert form and "in_person=" in form.group(1)
    answer = Client().post(f"{made.url(rest='/decline')}{form.group(1)}", {"reason": "Too high."})
    last = text(Client().get(answer["Location"]))
    main = last.split("<main")[1].split("</main>")[0]
    assert "Bitte geben Sie dieses Gerät" in main and "<a" not in main


def signed(made: Scene, in_person: str) -> Any:
    body = {"code": made.code(), "consent": True, "in_person": in_person}
    return Client().post(made.url(rest="/signature"), json.dumps(body), "application/json")


def test_the_page_sends_its_ticket_with_the_signature(made: Scene, client: Client) -> None:
    page = text(client.get(opened(client, made)))
    found = re.search(r'data-in-person="([^"]+)"', page)
    assert found and signed(made, found.group(1)).status_code == 200
    assert made.entries()[-1].metadata["in_person"] is True


def test_a_ticket_is_of_one_signer_for_a_time_and_of_a_member_who_is_there(
    made: Scene, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    member = Member.objects.get()
    signer = Signer.objects.select_related("request").get(pk=made.signers[0].pk)
    good = in_person_ticket(signer, member.pk)
    number, until, proof = good.split(".")
    others = in_person_ticket(Signer.objects.get(pk=made.signers[1].pk), member.pk)
    for wrong in ("x", others, f"{int(number) + 1}.{until}.{proof}", f"{number}.{int(until) + 1}.{proof}"):
        answer = signed(made, wrong)
        assert answer.status_code == 422 and "in_person" in answer.json()["error"]["message"]
        assert "Please hand over this device" not in text(client.get(made.url(rest=f"?in_person={wrong}")))
    now = clock.now()
    with monkeypatch.context() as late:
        late.setattr(clock, "now", lambda: now + timedelta(hours=12, minutes=1))
        assert signed(made, good).status_code == 422
    for change, back in (({"role": Role.OBSERVER}, {"role": Role.MEMBER}), ({"organization_id": _other()}, {})):
        Member.objects.filter(pk=member.pk).update(**change)
        assert signed(made, good).status_code == 422, change
        assert "Please hand over this device" not in text(client.get(made.url(rest=f"?in_person={good}")))
        Member.objects.filter(pk=member.pk).update(organization_id=made.request.organization_id, **back)
    User.objects.filter(pk=member.user_id).update(is_active=False)
    assert signed(made, good).status_code == 422
    User.objects.filter(pk=member.user_id).update(is_active=True)
    member.delete()
    assert signed(made, good).status_code == 422


@pytest.mark.parametrize("role", Role.values)
def test_a_ticket_holds_as_long_as_the_right_that_it_came_of(made: Scene, client: Client, role: str) -> None:
    page = opened(client, made)
    Member.objects.update(role=role)
    assert ("Please hand over this device" in text(client.get(page))) is may(role, Right.SEND)


def _other() -> int:
    return create_organization("Elsewhere", "pro").pk


def test_who_has_signed_is_refused_as_for_the_link(made: Scene, client: Client) -> None:
    Signer.objects.filter(pk=made.signers[0].pk).update(status="signed")
    assert here(client, made).status_code == 422
