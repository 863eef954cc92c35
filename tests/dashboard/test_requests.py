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
from paraph.documents.models import Document
from paraph.signature_requests.fields.entry import write
from paraph.signature_requests.models import Field, SignatureRequest, Signer
from paraph.tenants.models import Activity, Organization, Role, User
from tests.dashboard.conftest import LogIn, just_logged_in, read, scene
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
    """Create another request of the same organization."""
    other = scene(**fields)
    other.request.organization = made.request.organization
    SignatureRequest.objects.filter(pk=other.request.pk).update(organization=made.request.organization)
    numbers = [row.document_id for row in other.request_documents]
    Document.objects.filter(pk__in=numbers).update(organization=made.request.organization)
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


def test_a_filter_that_cannot_be_read_is_named(made: Scene, client: Client) -> None:
    for query in ({"status": "odd"}, {"created_after": "soon"}, {"q": "x" * 201}):
        assert 'role="alert"' in read(client.get(address(made), query_params=query), 422), query


def test_words_and_numbers_are_searched(made: Scene, client: Client) -> None:
    assert listed(client, made, q="lovelace") == listed(client, made, q="ada1@example.com") == [made.request.pk]
    assert listed(client, made, q=str(made.request.pk)) == listed(client, made, q=f"#{made.request.pk}")
    assert listed(client, made, q="lovelace", status="expired") == listed(client, made, q="hopper") == []
    assert "No requests match" in read(client.get(address(made), query_params={"q": "hopper"}))


@pytest.mark.parametrize("query", [{}, {"q": "lovelace"}, {"order": "asc"}, {"order": "asc", "q": "lovelace"}])
def test_pages_go_forwards_and_back(
    made: Scene, client: Client, query: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "AT_ONCE", 2)
    same = timezone.now().replace(microsecond=0)
    rows = [made.request.pk] + [copy(made, same) for _number in range(1, 7)]
    response = client.get(address(made), query_params=query)
    seen = [ids_of(response)]
    while following := link(response, "next"):
        response = client.get(address(made) + following)
        seen.append(ids_of(response))
    assert [pk for page in seen for pk in page] == (rows if "order" in query else rows[::-1])
    assert [len(page) for page in seen] == [2, 2, 2, 1]
    back = [seen[-1]]
    while previous := link(response, "prev"):
        response = client.get(address(made) + previous)
        back.append(ids_of(response))
    assert back[::-1][-4:] == seen


def test_counts_stand_on_the_tabs(made: Scene, client: Client) -> None:
    beside(made, status="completed")
    tabs = re.findall(r'status=(\w*)"[^>]*>\w+ <span class="quiet">(\d+)<', read(client.get(address(made))))
    assert dict(tabs) == {"": "1", "pending": "1", "completed": "0", "expired": "0"}


def test_what_was_declined_or_withdrawn_is_not_called_expired(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(status="expired", ended_early_at=timezone.now())
    page = read(client.get(address(made)))
    assert ">Ended <span" in page and ">Withdrawn</span>" in page and ">Expired" not in page
    assert "Ended (expired, declined or withdrawn)</option>" in page


def test_each_row_shows_the_first_page_of_its_first_document_while_there_is_a_file(client: Client, made: Scene) -> None:
    document = made.request_documents[0].document
    picture = f'<img class="thumbnail" src="/app/{made.request.organization_id}/documents/{document.pk}/thumbnail.webp"'
    for page in (address(made), f"/app/{made.request.organization_id}/"):
        content = read(client.get(page))
        assert picture in content and 'loading="lazy" alt=""' in content
    Document.objects.filter(pk=document.pk).update(file_deleted_at=timezone.now())
    content = read(client.get(address(made)))
    assert "thumbnail.webp" not in content and '<span class="thumbnail"></span>' in content


def test_an_empty_list_says_what_will_be_there(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    page = read(client.get(f"/app/{organization.pk}/requests"))
    assert "No requests yet" in page and page.count("New request") == 1


def exported(made: Scene, **chosen: str) -> list[dict[str, str]]:
    client = just_logged_in(made.request.organization, Role.OBSERVER, f"{User.objects.count()}@example.com")
    response: Any = client.post(address(made, "/export"), chosen)
    assert response.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(response.getvalue().decode())))


def test_the_export_has_every_chosen_request_and_no_formula(made: Scene, client: Client) -> None:
    SignatureRequest.objects.update(title="Lease of the pier")
    risky = beside(made, signer={"first_name": "=cmd()", "last_name": "x"}, environment="production")
    first, second = exported(made)
    assert [int(line["id"]) for line in (first, second)] == [risky.request.pk, made.request.pk]
    assert (first["signers"], second["signers"]) == ("'=cmd() x", "Ada Lovelace; Émile Zola")
    assert second["signed"] == "0 of 2" and second["documents"] == "contract-1.pdf"
    assert [line["title"] for line in (first, second)] == ["", "Lease of the pier"]
    assert Activity.objects.latest("pk").action == "requests.exported"
    assert exported(made, q="zola") == [second]
    assert "Export CSV" in read(client.get(address(made, "?q=nobody")))


def test_the_export_has_roles_copies_fields_own_data_and_who_declined(made: Scene) -> None:
    fields = [{"name": "iban", "label": "Your IBAN"}, {"name": "pets", "type": "checkbox"}]
    full = beside(made, signers=2, approvers=[1], copies=2, fields=fields)
    given = {"external_id": "=4711", "metadata": {"street": "Lime"}, "declined_by": full.signers[1]}
    SignatureRequest.objects.filter(pk=full.request.pk).update(**given)
    signer = Signer.objects.get(pk=full.signers[0].pk)
    numbers = Field.objects.order_by("position").values_list("pk", flat=True)
    write(signer, dict(zip(numbers, ["DE89", True], strict=True)))
    signer.status, signer.signed_at = "signed", timezone.now()
    signer.save()
    line, bare = exported(made)
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
    request = SignatureRequest.objects.get(pk=made.request.pk)
    request.pk, request.created_at = None, moment + timedelta(seconds=3)
    request.save(force_insert=True)
    signer = Signer.objects.get(pk=made.signers[0].pk)
    signer.pk, signer.request = None, request
    signer.save(force_insert=True)
    return request.pk


def test_whose_turn_it_is_and_until_when(made: Scene, client: Client) -> None:
    """The list names all pending signers, or only the first of them where they sign one after the other."""

    def row() -> str:
        return read(client.get(address(made))).split("<tbody>")[1]

    request, ada = SignatureRequest.objects.filter(pk=made.request.pk), Signer.objects.filter(pk=made.signers[0].pk)
    names = [signer.full_name for signer in made.signers]
    assert f"Waiting for {names[0]}, {names[1]}<" in row() and "status late" not in row()
    ada.update(status="signed")
    assert "1 of 2" in row() and f"Waiting for {names[1]}<" in row()
    ada.update(status="pending")
    end = timezone.now() + timedelta(days=2)
    request.update(mode="sequential", expires_at=end)
    assert f"Waiting for {names[0]}<" in row() and "status late" in row()
    request.update(status="completed", completed_at=timezone.now())
    assert "Waiting for" not in row() and f"{end:%Y-%m-%d %H:%M}" not in row()
