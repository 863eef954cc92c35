"""Who has not lately said who they are does so first, and their form is taken then."""

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from paraph.config import urls
from paraph.dashboard.decorators import member_page, reauthenticated, see_other
from paraph.tenants.models import Member, Organization, Role
from paraph.tenants.rights import Right
from tests.dashboard.conftest import PASSWORD, just_logged_in, proved


@member_page(Right.BUILD)
@reauthenticated
def guarded(request: HttpRequest, member: Member) -> HttpResponse:
    if request.method == "POST":
        return see_other(f"/taken/{request.POST['name']}")
    return HttpResponse("the form")


urlpatterns = [path("app/<int:organization_id>/guarded", guarded), *urls.urlpatterns]


@pytest.fixture
def client_of_ada(organization: Organization) -> Client:
    return just_logged_in(organization, Role.OWNER)


@override_settings(ROOT_URLCONF=__name__)
def test_a_fresh_log_in_counts_for_five_minutes(organization: Organization, client_of_ada: Client) -> None:
    address = f"/app/{organization.pk}/guarded"
    proved(client_of_ada, 290)
    assert client_of_ada.get(address).content == b"the form"
    proved(client_of_ada, 301)
    asked = client_of_ada.get(address)["Location"]
    assert asked == f"/account/reauthenticate/?next=%2Fapp%2F{organization.pk}%2Fguarded"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "you won&#x27;t be asked again for five minutes"),
        ("de", "fünf Minuten lang nicht erneut gefragt"),
        ("es", "no se le volverá a preguntar durante cinco minutos"),
        ("fr", "ne vous sera plus posée pendant cinq minutes"),
        ("it", "per cinque minuti non le sarà più chiesto"),
        ("nl", "vijf minuten lang niet opnieuw gevraagd"),
        ("pt", "não voltaremos a perguntar durante cinco minutos"),
    ],
)
def test_the_question_says_for_how_long_it_holds(client_of_ada: Client, language: str, said: str) -> None:
    asked = client_of_ada.get("/account/reauthenticate/", headers={"Accept-Language": language})
    assert said in asked.content.decode().replace("'", "&#x27;")


@override_settings(ROOT_URLCONF=__name__)
def test_a_form_that_came_too_late_is_taken_after_the_password(
    organization: Organization, client_of_ada: Client
) -> None:
    proved(client_of_ada, 301)
    asked = client_of_ada.post(f"/app/{organization.pk}/guarded", {"name": "backend"})
    assert asked.status_code == 303
    assert client_of_ada.post(asked["Location"], {"password": "wrong"}).status_code == 422
    assert client_of_ada.post(asked["Location"], {"password": PASSWORD})["Location"] == "/taken/backend"
