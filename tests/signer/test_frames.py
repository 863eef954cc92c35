"""Which sites may frame the signing pages of requests that were sent from the dashboard."""

import pytest
from django.test import Client

from paraph.signature_requests.models import SignatureRequest
from paraph.tenants.models import Application
from tests.factories import Scene, scene
from tests.tenancy import update_organization

pytestmark = pytest.mark.django_db


def sent_by_hand(*origins: str, named: bool = True) -> Scene:
    made = scene(environment="production")
    application = made.request.application
    assert application
    Application.objects.update(frame_origins=" ".join(origins))
    SignatureRequest.objects.update(application=None)
    if named:
        update_organization(made.request.organization_id, web_application_id=application.pk)
    return made


def policy(made: Scene) -> str:
    policies = Client().get(made.url())["Content-Security-Policy"].split("; ")
    return next((each for each in policies if each.startswith("frame-ancestors")), "")


def test_those_of_the_application_that_hears_of_them() -> None:
    made = sent_by_hand("https://a.example", "https://b.example:8443")
    assert policy(made) == "frame-ancestors https://a.example https://b.example:8443"
    assert b'data-frame-origins="https://a.example https://b.example:8443"' in Client().get(made.url()).content


def test_none_where_no_application_is_named_or_it_names_no_site() -> None:
    assert policy(sent_by_hand("https://a.example", named=False)) == "frame-ancestors 'none'"
    assert policy(sent_by_hand()) == "frame-ancestors 'none'"
