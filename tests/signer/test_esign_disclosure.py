"""The disclosure of the US ESIGN Act (15 U.S.C. 7001(c)), which an organization can have shown before consent."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from paraph.audit_trail.models import Entry
from paraph.flow.sealing.proof_content import proof_content
from paraph.flow.signing.sign import sandbox_sign
from paraph.kernel import clock
from paraph.kernel.errors import DomainError
from paraph.signature_requests.localized import consent_notice
from paraph.signature_requests.models import SignatureRequest, Signer
from paraph.tenants.models import Organization
from paraph.words import of
from tests.factories import VISITOR, Scene, scene
from tests.signer.calls import sign, text
from tests.tenancy import update_organization

pytestmark = pytest.mark.django_db

VERSION = of("esign", "en")["version"]
TEMPLATE = Path(__file__).parents[2] / "src/paraph/signer/templates/signer/esign_disclosure.html"


def disclosing(**more: Any) -> Scene:
    made = scene(**more)
    update_organization(made.request.organization_id, contact_email="desk@example.com", esign_disclosure=True)
    return made


def accepted() -> str:
    return str(Entry.objects.get(event_type="signer.signed").stated["consent_notice"])


def test_it_is_shown_before_the_consent_as_a_whole(client: Client) -> None:
    page = text(client.get(f"{disclosing().url()}?lang=fr"))
    begins, consents = page.index('id="esign-heading"'), page.index('id="consent"')
    shown = page[begins:consents]
    for part in ("paper", "withdraw your consent", "no fee", "this transaction alone", "desk@example.com", "browser"):
        assert part in shown
    assert 'lang="en" dir="ltr" aria-labelledby="esign-heading"' in page and "<details" not in shown
    assert f"version {VERSION}). I was able to open and read it" in page[consents:]


def test_nothing_is_shown_or_accepted_where_it_is_off(client: Client, made: Scene) -> None:
    page = client.get(made.url()).content.decode()
    assert "ESIGN" not in page and "esign_disclosure" not in page and "esign-heading" not in page
    assert sign(client, made, esign_disclosure=VERSION).status_code == 422
    assert sign(client, made).status_code == 200
    assert accepted() == consent_notice("en", 1)


def test_nobody_signs_without_the_version_that_is_shown_and_the_journal_has_it(client: Client) -> None:
    made, wrong = disclosing(), list[dict[str, Any]]([{}, {"esign_disclosure": ""}, {"esign_disclosure": "0"}])
    for given in wrong:
        refused = sign(client, made, **given)
        assert refused.status_code == 422 and "esign_disclosure" in refused.json()["error"]["message"]
    assert Signer.objects.get().signed_at is None
    assert sign(client, made, esign_disclosure=VERSION, locale="de").status_code == 200
    assert accepted() == consent_notice("de", 1, disclosure=VERSION)
    assert f"US ESIGN Act, version {VERSION}" in accepted()


def test_a_form_without_scripts_carries_it(client: Client) -> None:
    made = disclosing()
    assert f'<input type="hidden" name="esign_disclosure" value="{VERSION}">' in client.get(made.url()).content.decode()
    form = {"do": "sign", "code": made.code(0), "consent": "on"}
    assert client.post(made.url(), form).status_code == 422
    assert client.post(made.url(), form | {"esign_disclosure": VERSION}).status_code == 303
    assert VERSION in accepted()


def test_a_sandbox_act_accepts_what_the_page_shows_and_the_proof_states_it() -> None:
    disclosing(environment="sandbox")
    sandbox_sign(Signer.objects.get(), {"type": "typed"}, VISITOR)
    assert accepted() == consent_notice("en", 1, disclosure=VERSION)
    journal = proof_content(SignatureRequest.objects.get(), clock.now()).journal
    [stated] = [line.metadata["consent_notice"] for line in journal if line.event_type == "signer.signed"]
    assert f"US ESIGN Act, version {VERSION}" in stated


def test_it_needs_a_contact_address() -> None:
    organization_id = scene().request.organization_id
    with pytest.raises(DomainError, match="contact address"):
        update_organization(organization_id, esign_disclosure=True, contact_email="")
    update_organization(organization_id, esign_disclosure=True, contact_email="desk@example.com")
    with pytest.raises(DomainError, match="contact address"):
        update_organization(organization_id, contact_email="")
    assert Organization.objects.get().contact_email


def test_another_text_has_another_version() -> None:
    """Whoever changes the text raises the version in ``words/esign/en.json``, and then updates the digest here."""
    shown = TEMPLATE.read_text() + of("esign", "en")["affirmation"]
    assert (VERSION, hashlib.sha256(shown.encode()).hexdigest()[:16]) == ("1", "f52c6da8f9a02893")
