"""The page of operators: members, owners and strangers reach for it, and operators for more than it gives."""

import pytest

from tests.attacks.at_the_dashboard import PASSWORD, Person
from tests.attacks.conftest import Target
from tests.attacks.two_organizations import World, target, world
from tests.dashboard.html_rules import broken_rules
from tests.dashboard.matrix import operators_addresses

pytestmark = pytest.mark.thorough

__all__ = ["target", "world"]  # fixtures


def reached(person: Person, token: str) -> set[int]:
    """What everything there answers them, to looks and to forms."""
    sent = {"csrfmiddlewaretoken": token, "to": "suspend"}
    found = set()
    for path in operators_addresses():
        found |= {person.browser.get(path).status_code, person.browser.post(path, data=sent).status_code}
    return found


def test_nobody_but_who_was_added_finds_it_and_that_with_a_second_factor(target: Target, world: World) -> None:
    token = world.ada.token("/account/")
    stranger = Person(target)
    everybody = (world.ada, world.bob, world.cleo, world.eve)
    assert [reached(person, token if person is world.ada else person.token("/account/")) for person in everybody] == [
        {404}
    ] * 4
    assert {stranger.browser.get(path).status_code for path in operators_addresses()} == {404}
    target.command("operator", "add", "eve@ink.example")
    assert reached(world.ada, token) == {404}
    assert reached(world.eve, world.eve.token("/account/")) == {403}, "by a password alone, a stolen one too"
    answers = [stranger.browser.get(path) for path in operators_addresses()]
    assert {answer.headers["Location"].partition("?")[0] for answer in answers} == {"/account/login/"}
    page = world.eve.browser.get("/operator")
    assert broken_rules(page.text) == [] and "Harbour" not in page.text
    again = Person(target, "eve@ink.example")
    assert again.log_in(PASSWORD).status_code == 303
    assert again.browser.get("/operator").status_code == 403
    assert world.eve.browser.get(f"/app/{world.own}/").status_code == 404, "no more of other organizations than before"
    [listed] = [row for row in target.command("organization", "list") if row["id"] == world.own]
    assert listed["suspended_at"] is None
    target.command("operator", "remove", "eve@ink.example")
    assert reached(world.eve, world.eve.token("/account/")) == {404}


def test_no_form_there_is_taken_from_elsewhere(world: World) -> None:
    for path in operators_addresses():
        for headers in ({}, {"Origin": "https://evil.example"}, {"Origin": "null"}):
            assert world.ada.browser.post(path, data={"to": "suspend"}, headers=headers).status_code == 403, path
