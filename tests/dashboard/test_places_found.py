"""Signatures that land by themselves on lines of a document, and how that is told and undone."""

import pytest
from django.test import Client

from paraph.drafts.models import Draft
from paraph.tenants.models import Organization, Role, User
from tests.dashboard.conftest import LogIn, pdf
from tests.dashboard.test_drafts import begun, person, signers
from tests.drafts import stored
from tests.pdf.pdf_factory import paper, text

pytestmark = pytest.mark.django_db
SAID = "1 signature was placed where the document asks for it."
LAST_PAGE = text("Signature: ____________________", 72, 300)


def opened(client: Client, organization: Organization, page: str, *people: str) -> str:
    """The address of the places of a draft: of these signers, or of who is logged in."""
    address = begun(client, organization)
    client.post(f"{address}/documents", {"file": pdf(paper(*[""] * 11, page)), "action": "upload"})
    rows = [person(each) for each in people] or [person("", last_name="", email="")]
    client.post(f"{address}/signers", signers(*rows, action="next" if people else "only-me"))
    return f"{address}/places"


def test_who_signs_alone_finds_the_line_on_the_last_page_taken(log_in: LogIn, organization: Organization) -> None:
    member, client = log_in(Role.MEMBER)
    User.objects.filter(pk=member.user_id).update(name="Ada Byron")
    address = opened(client, organization, LAST_PAGE)
    page = client.get(address).content.decode()
    assert SAID in page and 'value="take-back"' in page
    [stamp] = stored.stamps()
    assert (stamp.page_number, round(stamp.x), stamp.height) == (12, 130, 56)
    assert SAID not in client.get(address).content.decode(), "told once"
    assert client.post(address, {"action": "take-back"}).headers["Location"] == address
    assert stored.stamps() == [] and SAID not in client.get(address).content.decode()


def test_of_two_signers_none_is_guessed_but_both_are_offered(log_in: LogIn, organization: Organization) -> None:
    _, client = log_in(Role.MEMBER)
    page = text("Landlord: ____________________", 72, 300) + text("Tenant: ____________________", 72, 200)
    address = opened(client, organization, page, "Ada", "Grace")
    shown = client.get(address).content.decode()
    assert "signature was placed" not in shown and stored.stamps() == []
    first, second = (signer.ref for signer in stored.signers(Draft.objects.get()))
    assert shown.index(f"{first}&quot;, &quot;type") < shown.index(f"{second}&quot;, &quot;type")
