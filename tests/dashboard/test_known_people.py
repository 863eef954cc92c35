"""Known people complete themselves while their address is entered, in Chromium."""

from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import sync_playwright

from paraph import dashboard
from paraph.signature_requests.models import Signer
from paraph.tenants.models import Organization
from tests.chromium import launch
from tests.dashboard.test_drafts import begun, options, ready

SCRIPT = Path(dashboard.__file__).parent / "static/dashboard/signers.js"


@pytest.mark.django_db
def test_what_is_known_is_filled_in_and_what_was_typed_stays(organization: Organization, client: Client) -> None:
    for name in ("Ada", "Grace"):
        address, _ = ready(client, organization)
        client.post(f"{address}/review", options())
        known = {"first_name": name, "email": f"{name.lower()}@example.com", "phone": "+331"}
        Signer.objects.filter(pk=Signer.objects.latest("pk").pk).update(**known)
    html = client.get(f"{begun(client, organization)}/signers").content.decode()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page()
        page.set_content(html)
        page.add_script_tag(path=SCRIPT)
        email, first, last, phone = (
            page.locator(f"[name=signer-0-{name}]") for name in ("email", "first_name", "last_name", "phone")
        )
        email.fill("ADA@example.com")
        values = [first.input_value(), last.input_value(), phone.input_value()]
        email.fill("grace@example.com")
        values.append(first.input_value())
        first.fill("Amazing")
        email.fill("ada@example.com")
        values.append(first.input_value())
        browser.close()
    assert values == ["Ada", "Byron", "+331", "Grace", "Amazing"]
