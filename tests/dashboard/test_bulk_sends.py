"""From a CSV to requests, by plain forms alone."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from paraph.flow.sending.templates import send_rows
from paraph.request_templates.csv_file import MOST_BYTES, read_csv
from paraph.request_templates.models import BulkSend
from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Organization, Role
from tests.dashboard.conftest import LogIn, read
from tests.dashboard.test_drafts import alert, options
from tests.dashboard.test_templates import kept
from tests.factories import jobs
from tests.request_templates.kept import csv_of
from tests.tenancy import suspend

pytestmark = pytest.mark.django_db
GOOD = csv_of("Ada Lovelace ada@example.com", "Grace Hopper grace@example.com")


def csv(content: bytes, name: str = "people.csv") -> Any:
    return SimpleUploadedFile(name, content, "text/csv")


def checked(client: Client, organization: Organization, content: bytes = GOOD) -> str:
    """Upload the CSV for a template with one role; return the address of the bulk send."""
    answer = client.post(f"{kept(client, organization)}/bulk", {"file": csv(content)})
    assert answer.status_code == 303, answer.content.decode()
    return str(answer.headers["Location"])


@pytest.fixture
def address(client: Client, organization: Organization) -> str:
    """The address of a bulk send."""
    return checked(client, organization)


def test_rows_are_checked_sent_and_listed(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    address = checked(client, organization)
    shown = read(client.get(address))
    assert "Send 2 requests" in shown and "hx-trigger" not in shown
    assert not jobs() and not SignatureRequest.objects.exists()
    assert client.post(f"{address}/start").headers["Location"] == address
    shown = read(client.get(address))
    assert 'hx-trigger="every 2s"' in shown and 'value="0"' in shown and "<html" in shown
    send_rows(BulkSend.objects.get().pk)
    shown = read(client.get(address, headers={"HX-Request": "true"}))
    assert "2 of 2 requests sent" in shown and "hx-trigger" not in shown and "<html" not in shown
    for request in SignatureRequest.objects.all():
        assert f"/requests/{request.pk}" in shown
    assert "Ada Lovelace" in shown and "Grace Hopper" in shown


def test_nothing_is_sent_until_all_rows_are_right_or_wrong_ones_are_skipped(
    organization: Organization, client: Client
) -> None:
    address = checked(
        client, organization, csv_of("Ada Lovelace ada@example.com", "Eve X nobody", "=1+1 X x@example.com")
    )
    shown = read(client.get(address))
    assert "is not an e-mail address" in shown and "Skip wrong rows" in shown
    assert ">Eve X</td>" in shown and "Ada Lovelace" not in shown, "errors stand beside the names of their row"
    assert "Some rows have errors" in alert(client.post(f"{address}/start"))
    assert not jobs()
    client.post(f"{address}/start", {"skip": "1"})
    send_rows(BulkSend.objects.get().pk)
    assert SignatureRequest.objects.count() == 2
    answer = client.get(f"{address}/errors.csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    table = read_csv(answer.content)
    assert table.columns[-2:] == ["Row", "Error"]
    assert [row.cells[:4] for row in table.rows] == [["Eve", "X", "nobody", "3"]]


def test_what_is_wrong_with_the_file_is_said(organization: Organization, client: Client) -> None:
    address = f"{kept(client, organization)}/bulk"
    assert "Choose a CSV file" in alert(client.post(address))
    wrong = {b"Name\nAda": "is missing these columns", b"x" * (MOST_BYTES + 200_000): "larger than 1 MiB"}
    for content, said in wrong.items():
        assert said in alert(client.post(address, {"file": csv(content)})), said
    assert not BulkSend.objects.exists()
    sample = client.get(address.replace("/bulk", "/sample.csv")).content
    assert client.post(address, {"file": csv(sample)}).status_code == 303
    answer = client.post(address, {"file": csv(b"First name,Last name,E-mail,Flat\nA,B,a@example.com,3")})
    assert "Ignored column: Flat." in read(client.get(answer.headers["Location"]))


def test_the_quota_is_told_before_and_after(log_in: LogIn, organization: Organization, settings: Any) -> None:
    settings.PARAPH = settings.PARAPH.model_copy(update={"web_sends_pro": 1})
    _, client = log_in()
    address = checked(client, organization)
    assert "1 request left this month" in read(client.get(address))
    client.post(f"{address}/start")
    send_rows(BulkSend.objects.get().pk)
    shown = read(client.get(address))
    assert "used all 1 requests" in shown and "1 of 2 requests sent" in shown and "Retry the refused rows" in shown
    assert SignatureRequest.objects.count() == 1


def test_a_suspended_organization_begins_none(organization: Organization, client: Client, address: str) -> None:
    template = f"/app/{organization.pk}/templates/{BulkSend.objects.get().template_id}"
    suspend(organization.pk)
    assert "suspended" in alert(client.post(f"{address}/start"))
    assert "suspended" in alert(client.post(f"{template}/bulk", {"file": csv(GOOD)}))


def test_names_of_wrong_rows_are_told_in_the_language_of_the_file(organization: Organization, client: Client) -> None:
    """Where no row can be sent, the page offers neither to send nor to skip rows."""
    file = csv(csv_of("Eve X nobody").replace(b"First name", b"Vorname").replace(b"Last name", b"Nachname"))
    german = {"Accept-Language": "de"}
    answer = client.post(f"{kept(client, organization)}/bulk", {"file": file}, headers=german)
    shown = read(client.get(answer.headers["Location"], headers={"Accept-Language": "en"}))
    assert ">Eve X</td>" in shown
    assert "No row can be sent yet" in shown and "Fix the file and upload it again." in shown
    assert "or skip" not in shown and "Skip wrong" not in shown and "0 row" not in shown


def test_the_mail_is_shown_before_anything_is_sent(organization: Organization, client: Client, address: str) -> None:
    template = f"/app/{organization.pk}/templates/{BulkSend.objects.get().template_id}"
    for shown in (read(client.get(address)), read(client.get(f"{template}/bulk"))):
        assert f'src="{template}/mail"' in shown and f"{organization.name} asks you to sign" in shown
    client.post(f"{address}/start")
    assert "/mail" not in read(client.get(address))


def test_rows_that_were_checked_before_the_template_changed_are_not_sent(
    organization: Organization, client: Client, address: str
) -> None:
    """While rows of it are sent, a template does not change, unless the bulk send is cancelled."""
    template = f"/app/{organization.pk}/templates/{BulkSend.objects.get().template_id}"
    assert client.post(f"{template}/options", options(message="Changed")).status_code == 303
    assert "Upload the file again" in alert(client.post(f"{address}/start"))
    again = client.post(f"{template}/bulk", {"file": csv(GOOD)}).headers["Location"]
    assert client.post(f"{again}/start").status_code == 303
    for rest, entered in (("roles", {"name": "x", "role-0": "y"}), ("options", options())):
        assert "Cancel it first" in alert(client.post(f"{template}/{rest}", entered))
    assert client.post(f"{again}/cancel").headers["Location"] == again
    send_rows(BulkSend.objects.latest("pk").pk)
    assert "Cancelled" in read(client.get(again)) and not SignatureRequest.objects.exists()
    assert client.post(f"{template}/options", options()).status_code == 303
