"""The list of requests: searched, filtered, paged both ways, exported; and only the organization's own."""

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from paraph.dashboard.requests import listing
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.models import Field
from paraph.tenants.models import Activity, Organization, Role
from tests.dashboard.conftest import LogIn, just_logged_in, scene
from tests.factories import Scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def made() -> Scene:
    return scene(signers=2)


@pytest.fixture
def client(made: Scene, log_in: LogIn) -> Client:
    return log_in(Role.OBSERVER, at=made.request.organization)[1]


def listed(client: Client, made: Scene, **query: Any) -> list[int]:
    return ids_of(client.get(address(made), query_params=query))


def address(made: Scene, rest: str = "") -> str:
    return f"/app/{made.request.organization_id}/requests{rest}"


def ids_of(response: Any) -> list[int]:
    assert response.status_code == 200
    return [int(found) for found in re.findall(r'data-id="(\d+)"', response.content.decode())]


def beside(made: Scene, **fields: Any) -> Scene:
    """Another request of the same organization."""
    other = scene(signer=fields.pop("signer", None), **fields)
    other.request.organization = made.request.organization
    type(other.request).objects.filter(pk=other.request.pk).update(organization=made.request.organization)
    for row in other.request_documents:
        type(row.document).objects.filter(pk=row.document_id).update(organization=made.request.organization)
    return other


def test_requests_are_listed_newest_first_and_nobody_elses(made: Scene, client: Client) -> None:
    scene()
    beside(made, environment="sandbox")
    newer = beside(made, environment="production")
    assert listed(client, made) == [newer.request.pk, made.request.pk]
    assert listed(client, made, order="asc") == [made.request.pk, newer.request.pk]


def test_filters_are_those_of_the_api(made: Scene, client: Client) -> None:
    old = beside(made, status="completed", created_at=timezone.now() - timedelta(days=40))
    day = f"{old.request.created_at:%Y-%m-%d}"
    assert listed(client, made, status="completed") == [old.request.pk]
    assert listed(client, made, created_before=day) == [old.request.pk] == listed(client, made, created_after=day)[1:]
    assert listed(client, made, status="completed", created_after=f"{timezone.now():%Y-%m-%d}") == []


@pytest.mark.parametrize("query", [{"status": "odd"}, {"created_after": "soon"}, {"q": "x" * 201}])
def test_a_filter_that_cannot_be_read_is_named(made: Scene, client: Client, query: dict[str, str]) -> None:
    response = client.get(address(made), query_params=query)
    assert response.status_code == 422 and 'role="alert"' in response.content.decode()


def test_words_and_numbers_are_searched(made: Scene, client: Client) -> None:
    assert listed(client, made, q="lovelace") == listed(client, made, q="ada1@example.com") == [made.request.pk]
    assert listed(client, made, q=str(made.request.pk)) == listed(client, made, q=f"#{made.request.pk}")
    assert listed(client, made, q="lovelace", status="expired") == listed(client, made, q="hopper") == []
    assert "No requests match" in client.get(address(made), query_params={"q": "hopper"}).content.decode()


@pytest.mark.parametrize("query", [{}, {"q": "lovelace"}, {"order": "asc"}, {"order": "asc", "q": "lovelace"}])
def test_pages_go_forwards_and_back(
    made: Scene, client: Client, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "AT_ONCE", 2)
    same = timezone.now().replace(microsecond=0)
    rows = [made.request.pk] + [copy(made, same) for _number in range(1, 7)]
    expected = rows if "order" in query else rows[::-1]
    seen, path = list[list[int]](), address(made) + "?" + "&".join(f"{key}={value}" for key, value in query.items())
    response = client.get(path)
    seen.append(ids_of(response))
    while following := link(response, "next"):
        response = client.get(address(made) + following)
        seen.append(ids_of(response))
    assert [pk for page in seen for pk in page] == expected and [len(page) for page in seen] == [2, 2, 2, 1]
    back = [seen[-1]]
    while previous := link(response, "prev"):
        response = client.get(address(made) + previous)
        back.append(ids_of(response))
    assert back[::-1][-4:] == seen


def test_counts_stand_on_the_tabs(made: Scene, client: Client) -> None:
    beside(made, status="completed")
    tabs = re.findall(r'status=(\w*)"[^>]*>\w+ <span class="quiet">(\d+)<', client.get(address(made)).content.decode())
    assert dict(tabs) == {"": "1", "pending": "1", "completed": "0", "expired": "0"}


def test_what_was_declined_or_withdrawn_is_not_called_expired(made: Scene, client: Client) -> None:
    type(made.request).objects.update(status="expired", ended_early_at=timezone.now())
    page = client.get(address(made)).content.decode()
    assert ">Ended <span" in page and ">Withdrawn</span>" in page and ">Expired" not in page
    assert "Ended (expired, declined or withdrawn)</option>" in page


def test_each_row_shows_the_first_page_of_its_first_document_while_there_is_a_file(client: Client, made: Scene) -> None:
    document = made.request_documents[0].document
    picture = f'<img class="thumbnail" src="/app/{made.request.organization_id}/documents/{document.pk}/thumbnail.webp"'
    for page in (address(made), f"/app/{made.request.organization_id}/"):
        content = client.get(page).content.decode()
        assert picture in content and 'loading="lazy" alt=""' in content
    type(document).objects.filter(pk=document.pk).update(file_deleted_at=timezone.now())
    content = client.get(address(made)).content.decode()
    assert "thumbnail.webp" not in content and '<span class="thumbnail"></span>' in content


def test_an_empty_list_says_what_will_be_there(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    page = client.get(f"/app/{organization.pk}/requests").content.decode()
    assert "No requests yet" in page and page.count("New request") == 1


def test_the_export_has_every_chosen_request_and_no_formula(made: Scene) -> None:
    client = just_logged_in(made.request.organization, Role.OBSERVER)
    risky = beside(made, signer={"first_name": "=cmd()", "last_name": "x"}, environment="production")
    response: Any = client.post(address(made, "/export"))
    assert response.headers["Content-Type"].startswith("text/csv")
    lines = list(csv.DictReader(io.StringIO(response.getvalue().decode())))
    assert [int(line["id"]) for line in lines] == [risky.request.pk, made.request.pk]
    assert lines[0]["signers"] == "'=cmd() x" and lines[1]["signers"] == "Ada Lovelace; Émile Zola"
    assert lines[1]["signed"] == "0 of 2" and lines[1]["documents"] == "contract-1.pdf"
    assert Activity.objects.latest("pk").action == "requests.exported"
    chosen: Any = client.post(address(made, "/export"), {"q": "zola"})
    assert chosen.getvalue().decode().count("\n") == 2
    assert "Export CSV" in client.get(address(made, "?q=nobody")).content.decode()
    type(made.request).objects.update(title="Lease of the pier")
    titled: Any = client.post(address(made, "/export"))
    assert {line["title"] for line in csv.DictReader(io.StringIO(titled.getvalue().decode()))} == {"Lease of the pier"}


def test_the_export_has_roles_copies_fields_own_data_and_who_declined(made: Scene) -> None:
    client = just_logged_in(made.request.organization, Role.OBSERVER)
    fields = [{"name": "iban", "label": "Your IBAN"}, {"name": "pets", "type": "checkbox"}]
    full = beside(made, signers=2, approvers=[1], copies=2, fields=fields)
    type(made.request).objects.filter(pk=full.request.pk).update(external_id="=4711", metadata={"street": "Lime"})
    signer = type(made.signers[0]).objects.get(pk=full.signers[0].pk)
    numbers = Field.objects.order_by("position").values_list("pk", flat=True)
    write(signer, dict(zip(numbers, ["DE89", True], strict=True)))
    signer.status, signer.signed_at = "signed", timezone.now()
    signer.save()
    type(made.request).objects.filter(pk=full.request.pk).update(declined_by=full.signers[1])
    response: Any = client.post(address(made, "/export"))
    line, bare = csv.DictReader(io.StringIO(response.getvalue().decode()))
    assert (line["approvers"], line["copies"]) == ("émile2@example.com", "copy0@example.com; copy1@example.com")
    assert line["declined_by"] == "émile2@example.com"
    assert (line["external_id"], line["metadata"]) == ("'=4711", '{"street": "Lime"}')
    document_id = full.request_documents[0].document_id
    iban = {"signer": "ada1@example.com", "document_id": document_id, "name": "iban", "type": "text"}
    [first, second] = json.loads(line["fields"])
    assert first == {**iban, "label": "Your IBAN", "value": "DE89"} and second["value"] is True
    assert (bare["approvers"], bare["copies"], bare["declined_by"], bare["fields"]) == ("", "", "", "")


def link(response: Any, kind: str) -> str:
    found = re.search(rf'href="([^"]+)" rel="{kind}"', response.content.decode())
    return found[1].replace("&amp;", "&") if found else ""


def copy(made: Scene, moment: Any) -> int:
    request = type(made.request).objects.get(pk=made.request.pk)
    request.pk, request.created_at = None, moment + timedelta(seconds=3)
    request.save(force_insert=True)
    signer = type(made.signers[0]).objects.get(pk=made.signers[0].pk)
    signer.pk, signer.request = None, request
    signer.save(force_insert=True)
    return request.pk


def test_whose_turn_it_is_and_until_when(made: Scene, client: Client) -> None:
    """Of those that are pending; the first signer where they sign one after the other."""

    def row() -> str:
        return client.get(address(made)).content.decode().split("<tbody>")[1]

    names = [signer.full_name for signer in made.signers]
    assert f"Waiting for {names[0]}, {names[1]}<" in row() and "status late" not in row()
    made.signers[0].status = "signed"
    made.signers[0].save()
    assert "1 of 2" in row() and f"Waiting for {names[1]}<" in row()
    made.signers[0].status = "pending"
    made.signers[0].save()
    made.request.mode, made.request.expires_at = "sequential", timezone.now() + timedelta(days=2)
    made.request.save()
    assert f"Waiting for {names[0]}<" in row() and "status late" in row()
    made.request.status = "completed"
    made.request.completed_at = timezone.now()
    made.request.save()
    assert "Waiting for" not in row() and made.request.expires_at.strftime("%Y-%m-%d %H:%M") not in row()
